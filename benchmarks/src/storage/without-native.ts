/** Loaded before a contestant (`node --require`): hides the optional native packages, so that it runs as where they are not installed. */

import Module from 'node:module'

const NATIVE = ['@node-rs/crc32']

type Load = (request: string, ...rest: unknown[]) => unknown
const loader = Module as unknown as { _load: Load }
const load = loader._load
loader._load = function (this: unknown, request, ...rest) {
  if (NATIVE.includes(request)) throw new Error(`${request} is hidden`)
  return load.call(this, request, ...rest)
}
