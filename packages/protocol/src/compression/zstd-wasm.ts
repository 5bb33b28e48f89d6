/**
 * zstd by the library itself, compiled to WebAssembly (@bokuweb/zstd-wasm), where Node has none.
 * Called without the package's own loader, which is asynchronous and whose memory never shrinks: an instance whose memory
 * has grown is dropped after the call. (fzstd, in plain JavaScript, was tried: it does not check the size of a block's output,
 * so that a block of 20 bytes can keep it busy for seconds.)
 */
import { damaged, overLimit } from './errors.js'
import { loadWasm, type WasmMemory, WasmStopped } from './node-environment.js'

/** Names of the exports in version 0.0.27, which are shortened by its build. */
interface ZstdExports {
  readonly f: WasmMemory
  /** Constructors. */
  g(): void
  /** ZSTD_isError. */
  h(code: number): number
  /** ZSTD_compressBound. */
  i(size: number): number
  /** ZSTD_compress(to, capacity, from, size, level). */
  m(to: number, capacity: number, from: number, size: number, level: number): number
  /** ZSTD_decompress(to, capacity, from, size). */
  r(to: number, capacity: number, from: number, size: number): number
  /** malloc; 0 where there is no memory. */
  s(size: number): number
  t(pointer: number): void
}

const PAGE_BYTES = 64 * 1024
/** An instance with more memory than this is not kept for the next call. It begins with 16 MiB, most of it never touched. */
const KEPT_BYTES = 32 * 1024 * 1024
/** ZSTD_error_dstSize_tooSmall. */
const OUTPUT_TOO_SMALL = 70

let create: ReturnType<typeof loadWasm<ZstdExports>> | undefined
let kept: ZstdExports | undefined

function instance(): ZstdExports {
  if (kept !== undefined) return kept
  create ??= loadWasm<ZstdExports>('@bokuweb/zstd-wasm', 'zstd.wasm')
  const stop = (): never => {
    throw new WasmStopped('zstd stopped')
  }
  const grow = (requestedBytes = 0): number => {
    const missing = (requestedBytes >>> 0) - exports.f.buffer.byteLength
    try {
      exports.f.grow(Math.ceil(missing / PAGE_BYTES))
      return 1
    } catch {
      return 0
    }
  }
  const imports = { a: { a: stop, b: () => 0, c: stop, d: () => 0, e: grow } }
  const exports = create(imports)
  exports.g()
  kept = exports
  return exports
}

/** @returns what the work wrote to `to`; its size, or an error of the library */
function run(
  bytes: Buffer,
  capacity: number,
  work: (zstd: ZstdExports, to: number, from: number) => number,
): Buffer | ZstdFailure {
  const zstd = instance()
  // If the library stops in the middle, its memory is in an unknown state: the instance is not used again.
  kept = undefined
  const from = zstd.s(bytes.length || 1)
  const to = zstd.s(capacity || 1)
  if (from === 0 || to === 0) throw damaged('zstd', `no memory for ${capacity} bytes`)
  new Uint8Array(zstd.f.buffer).set(bytes, from)
  const size = work(zstd, to, from)
  const result = zstd.h(size) ? { error: -(size | 0) } : Buffer.from(new Uint8Array(zstd.f.buffer, to, size))
  zstd.t(to)
  zstd.t(from)
  if (zstd.f.buffer.byteLength <= KEPT_BYTES) kept = zstd
  return result
}

interface ZstdFailure {
  /** ZSTD_ErrorCode. */
  readonly error: number
}

export function zstdCompressWasm(bytes: Buffer, level: number): Buffer {
  const capacity = instance().i(bytes.length)
  const result = run(bytes, capacity, (zstd, to, from) => zstd.m(to, capacity, from, bytes.length, level))
  if (Buffer.isBuffer(result)) return result
  throw new RangeError(`zstd: compressing failed with error ${result.error}`)
}

/** @param bound what the frames can give at most */
export function zstdDecompressWasm(bytes: Buffer, bound: number, maxOutputBytes: number): Buffer {
  const capacity = Math.min(bound, maxOutputBytes)
  let result: Buffer | ZstdFailure
  try {
    result = run(bytes, capacity, (zstd, to, from) => zstd.r(to, capacity, from, bytes.length))
  } catch (error) {
    if (error instanceof WasmStopped) throw damaged('zstd', error.message)
    throw error
  }
  if (Buffer.isBuffer(result)) return result
  if (result.error === OUTPUT_TOO_SMALL && capacity < bound) throw overLimit('zstd', maxOutputBytes)
  throw damaged('zstd', `error ${result.error}`)
}
