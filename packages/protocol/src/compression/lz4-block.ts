/**
 * One block of lz4, whose size is known from outside. Compressed by WebAssembly or native code, decompressed here or by native code:
 * a decoder in plain JavaScript writes into the output where it belongs, and hostile input cannot leave it in a bad state.
 */
import { compress as compressWasm } from 'lz4-wasm-nodejs'
import { damaged } from './errors.js'
import { optional } from './optional.js'
import type { Ways } from './ways.js'

export interface Lz4BlockCodec {
  compress(bytes: Buffer): Buffer
  /** Writes the block bytes[from, to), which gives `size` bytes, to `out` at `start`. Throws CompressionError. */
  decompressInto(bytes: Buffer, from: number, to: number, out: Buffer, start: number, size: number): void
}

/**
 * How many bytes the block bytes[from, to) gives, found by walking its lengths: so that nothing is allocated for a bomb.
 * @throws CompressionError for lengths that are not whole
 */
export function measureLz4Block(bytes: Buffer, from: number, to: number): number {
  let size = 0
  let at = from
  for (;;) {
    if (at >= to) throw damaged('lz4', 'block does not end with literals')
    const token = bytes[at++]!
    let literals = token >>> 4
    if (literals === 15) {
      let more: number
      do {
        if (at >= to) throw damaged('lz4', 'length without its end')
        more = bytes[at++]!
        literals += more
      } while (more === 255)
    }
    at += literals
    size += literals
    if (at === to) return size
    at += 2
    if (at > to) throw damaged('lz4', 'literals beyond the end')
    let length = token & 15
    if (length === 15) {
      let more: number
      do {
        if (at >= to) throw damaged('lz4', 'length without its end')
        more = bytes[at++]!
        length += more
      } while (more === 255)
    }
    size += length + 4
  }
}

export function decompressLz4BlockInto(bytes: Buffer, from: number, to: number, out: Buffer, start: number, size: number): void {
  const end = start + size
  let at = from
  let write = start
  for (;;) {
    if (at >= to) throw damaged('lz4', 'block does not end with literals')
    const token = bytes[at++]!

    let literals = token >>> 4
    if (literals === 15) {
      let more: number
      do {
        if (at >= to) throw damaged('lz4', 'length without its end')
        more = bytes[at++]!
        literals += more
      } while (more === 255)
    }
    if (literals > to - at || literals > end - write) throw damaged('lz4', 'literals beyond the end')
    if (literals <= 16) for (let i = 0; i < literals; i++) out[write + i] = bytes[at + i]!
    else bytes.copy(out, write, at, at + literals)
    at += literals
    write += literals
    if (at === to) {
      if (write !== end) throw damaged('lz4', `${write - start} bytes where ${size} were measured`)
      return
    }

    if (to - at < 2) throw damaged('lz4', 'match without its offset')
    const distance = bytes[at]! | (bytes[at + 1]! << 8)
    at += 2
    let length = token & 15
    if (length === 15) {
      let more: number
      do {
        if (at >= to) throw damaged('lz4', 'length without its end')
        more = bytes[at++]!
        length += more
      } while (more === 255)
    }
    length += 4
    const source = write - distance
    if (distance === 0 || source < start) throw damaged('lz4', 'match from outside the block')
    if (length > end - write) throw damaged('lz4', 'match beyond the end')
    if (distance >= length && length > 24) out.copyWithin(write, source, source + length)
    else if (distance === 1) out.fill(out[source]!, write, write + length)
    else for (let i = 0; i < length; i++) out[write + i] = out[source + i]!
    write += length
  }
}

interface NativeLz4 {
  /** In front of the block: the size of what was compressed, uint32 little endian. */
  compressSync(bytes: Buffer): Buffer
  uncompressSync(bytes: Buffer): Buffer
}

const SIZE_PREFIX = 4
const native = optional<NativeLz4>('lz4-napi')

export const LZ4_BLOCK: Ways<Lz4BlockCodec> = {
  portable: {
    compress(bytes) {
      const block = compressWasm(bytes)
      return Buffer.from(block.buffer, block.byteOffset + SIZE_PREFIX, block.length - SIZE_PREFIX)
    },
    decompressInto: decompressLz4BlockInto,
  },
  native: native && {
    compress: (bytes) => native.compressSync(bytes).subarray(SIZE_PREFIX),
    decompressInto(bytes, from, to, out, start, size) {
      const prefixed = Buffer.allocUnsafe(SIZE_PREFIX + to - from)
      prefixed.writeUInt32LE(size)
      bytes.copy(prefixed, SIZE_PREFIX, from, to)
      let block: Buffer
      try {
        block = native.uncompressSync(prefixed)
      } catch (error) {
        throw damaged('lz4', (error as Error).message)
      }
      if (block.length !== size) throw damaged('lz4', `${block.length} bytes where ${size} were measured`)
      block.copy(out, start)
    },
  },
}
