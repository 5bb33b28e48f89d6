/** Paths as this package takes them apart: absolute, with slashes. Windows takes both kinds of slash. */
import { posix, resolve, sep } from 'node:path'

export function absolutePath(path: string): string {
  return posix.isAbsolute(path) ? posix.resolve(path) : resolve(path).split(sep).join('/')
}
