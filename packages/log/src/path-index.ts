/** Paths and what is there, with the names of each folder at hand: a list of one folder must not cost a look at all files. */
import { posix } from 'node:path'

export class PathIndex<V> {
  readonly #values = new Map<string, V>()
  readonly #names = new Map<string, Set<string>>()

  static of<V>(entries: Iterable<readonly [string, V]>): PathIndex<V> {
    const index = new PathIndex<V>()
    for (const [path, value] of entries) index.set(path, value)
    return index
  }

  get(path: string): V | undefined {
    return this.#values.get(path)
  }

  has(path: string): boolean {
    return this.#values.has(path)
  }

  set(path: string, value: V): void {
    this.#values.set(path, value)
    const folder = posix.dirname(path)
    if (folder === path) return // the root is in no folder
    const names = this.#names.get(folder)
    if (names === undefined) this.#names.set(folder, new Set([posix.basename(path)]))
    else names.add(posix.basename(path))
  }

  delete(path: string): void {
    if (!this.#values.delete(path)) return
    const folder = posix.dirname(path)
    const names = this.#names.get(folder)
    names?.delete(posix.basename(path))
    if (names?.size === 0) this.#names.delete(folder)
  }

  values(): Iterable<V> {
    return this.#values.values()
  }

  entries(): Iterable<[string, V]> {
    return this.#values.entries()
  }

  /** Names of what lies directly in the folder, in no order. */
  namesIn(folder: string): Iterable<string> {
    return this.#names.get(folder) ?? []
  }

  /** Full paths of what lies directly in the folder. */
  pathsIn(folder: string): string[] {
    const prefix = folder === '/' ? '/' : `${folder}/`
    return Array.from(this.namesIn(folder), (name) => prefix + name)
  }
}
