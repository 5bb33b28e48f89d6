/**
 * One block of raw snappy: a varint of the output's size, then literals and copies.
 * Decoded here rather than by snappyjs, which neither notices output that is too long or too short nor moves more than a byte at a time.
 */
import { damaged } from './errors.js'
import { optional } from './optional.js'
import type { Ways } from './ways.js'

// The package has no types.
const { compress: compressJs } = require('snappyjs') as { compress(bytes: Buffer): Buffer }

export interface BlockCodec {
  compress(bytes: Buffer): Uint8Array
  /** Writes what the block gives, which is `size` bytes by its own word, to `out` at `start`. Throws CompressionError. */
  decompressInto(bytes: Buffer, out: Buffer, start: number, size: number): void
}

/** The best a copy can do is 64 bytes out of 3: a block that claims more lies. */
const LARGEST_EXPANSION = 22

/**
 * The output size that the block declares, if its bytes can give so much.
 * @throws CompressionError
 */
export function snappyBlockSize(bytes: Buffer): number {
  let size = 0
  for (let at = 0, scale = 1; ; at++, scale *= 0x80) {
    if (at >= bytes.length || at > 4) throw damaged('snappy', 'no size in front of the block')
    size += (bytes[at]! & 0x7f) * scale
    if (bytes[at]! < 0x80) break
  }
  if (size > bytes.length * LARGEST_EXPANSION) throw damaged('snappy', `a block of ${bytes.length} bytes cannot hold ${size}`)
  return size
}

export function decompressSnappyBlockInto(bytes: Buffer, out: Buffer, start: number, size: number): void {
  const end = bytes.length
  const stop = start + size
  let at = 0
  while (bytes[at++]! >= 0x80); // the size, known by now
  let to = start
  while (at < end) {
    const tag = bytes[at++]!
    let length: number
    let distance: number
    const kind = tag & 3
    if (kind === 0) {
      length = (tag >>> 2) + 1
      if (length > 60) {
        const sizeBytes = length - 60
        if (at + sizeBytes > end) throw damaged('snappy', 'literal without its length')
        length = bytes.readUIntLE(at, sizeBytes) + 1
        at += sizeBytes
      }
      if (length > end - at || length > stop - to) throw damaged('snappy', 'literal beyond the end')
      if (length <= 16) for (let i = 0; i < length; i++) out[to + i] = bytes[at + i]!
      else bytes.copy(out, to, at, at + length)
      at += length
      to += length
      continue
    }
    if (kind === 1) {
      if (at >= end) throw damaged('snappy', 'copy without its offset')
      length = ((tag >>> 2) & 7) + 4
      distance = ((tag >>> 5) << 8) | bytes[at++]!
    } else {
      const sizeBytes = kind === 2 ? 2 : 4
      if (at + sizeBytes > end) throw damaged('snappy', 'copy without its offset')
      length = (tag >>> 2) + 1
      distance = bytes.readUIntLE(at, sizeBytes)
      at += sizeBytes
    }
    if (distance === 0 || distance > to - start || length > stop - to) throw damaged('snappy', 'copy from outside the block')
    const from = to - distance
    if (distance >= length && length > 16) out.copyWithin(to, from, from + length)
    else for (let i = 0; i < length; i++) out[to + i] = out[from + i]!
    to += length
  }
  if (to !== stop) throw damaged('snappy', `${to - start} bytes where ${size} were declared`)
}

interface NativeSnappy {
  compressSync(bytes: Buffer, options: typeof COPIED): Buffer
  uncompressSync(bytes: Buffer, options: typeof COPIED): Buffer
}

/** For blocks of 32 KiB a copy is five times cheaper than a Buffer over foreign memory. */
const COPIED = { asBuffer: true, copyOutputData: true } as const

const native = optional<NativeSnappy>('snappy')

export const SNAPPY_BLOCK: Ways<BlockCodec> = {
  portable: { compress: (bytes) => compressJs(bytes), decompressInto: decompressSnappyBlockInto },
  native: native && {
    compress: (bytes) => native.compressSync(bytes, COPIED),
    decompressInto(bytes, out, start, size) {
      let block: Buffer
      try {
        block = native.uncompressSync(bytes, COPIED)
      } catch (error) {
        throw damaged('snappy', (error as Error).message)
      }
      if (block.length !== size) throw damaged('snappy', `${block.length} bytes where ${size} were declared`)
      block.copy(out, start)
    },
  },
}
