/** Loads the WebAssembly file of a dependency: code, as `require` loads code, at first use and never again. */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The memory of an instance. */
export interface WasmMemory {
  readonly buffer: ArrayBuffer
  /** By pages of 64 KiB; throws when there is no more. */
  grow(pages: number): number
}

type Imports = { readonly [module: string]: { readonly [name: string]: (...args: number[]) => number } }

/** What is used of the global, whose types come with the browser's library only. */
const { WebAssembly } = globalThis as unknown as {
  WebAssembly: {
    Module: new (code: Uint8Array) => object
    Instance: new (module: object, imports: Imports) => { readonly exports: object }
    RuntimeError: new (message: string) => Error
  }
}

/** The library stopped itself; its instance must not be used again. */
export const WasmStopped = WebAssembly.RuntimeError

/**
 * A function that makes instances.
 * @param entry what `require` would resolve
 * @param file the .wasm beside it
 */
export function loadWasm<Exports extends object>(entry: string, file: string): (imports: Imports) => Exports {
  const module = new WebAssembly.Module(readFileSync(join(dirname(require.resolve(entry)), file)))
  return (imports) => new WebAssembly.Instance(module, imports).exports as Exports
}
