/**
 * One block of raw snappy: a varint of the output's size, then literals and copies.
 * Decoded here rather than by snappyjs, which neither notices output that is too long or too short nor moves more than a byte at a time.
 */
import { damaged, overLimit } from './errors.js'
import { optional } from './optional.js'
import type { Ways } from './ways.js'

// The package has no types.
const { compress: compressJs } = require('snappyjs') as { compress(bytes: Buffer): Buffer }

export interface BlockCodec {
  compress(bytes: Buffer): Uint8Array
  /** Throws CompressionError; `maxOutputBytes` bounds both the output and what is allocated for it. */
  decompress(bytes: Buffer, maxOutputBytes: number): Buffer
}

/** The best a copy can do is 64 bytes out of 3: a block that claims more lies. */
const LARGEST_EXPANSION = 22

/** The output size that the block declares, checked against the limit and against what its bytes can give. */
function declaredSize(bytes: Buffer, maxOutputBytes: number): { size: number; at: number } {
  let size = 0
  let at = 0
  for (let scale = 1; ; scale *= 0x80) {
    if (at >= bytes.length || at > 4) throw damaged('snappy', 'no size in front of the block')
    const byte = bytes[at++]!
    size += (byte & 0x7f) * scale
    if (byte < 0x80) break
  }
  if (size > maxOutputBytes) throw overLimit('snappy', maxOutputBytes)
  if (size > bytes.length * LARGEST_EXPANSION) throw damaged('snappy', `a block of ${bytes.length} bytes cannot hold ${size}`)
  return { size, at }
}

export function decompressSnappyBlock(bytes: Buffer, maxOutputBytes: number): Buffer {
  const { size, at: start } = declaredSize(bytes, maxOutputBytes)
  const out = Buffer.allocUnsafe(size)
  const end = bytes.length
  let at = start
  let to = 0
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
      if (length > end - at || length > size - to) throw damaged('snappy', 'literal beyond the end')
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
    if (distance === 0 || distance > to || length > size - to) throw damaged('snappy', 'copy from outside the block')
    const from = to - distance
    if (distance >= length && length > 16) out.copyWithin(to, from, from + length)
    else for (let i = 0; i < length; i++) out[to + i] = out[from + i]!
    to += length
  }
  if (to !== size) throw damaged('snappy', `${to} bytes where ${size} were declared`)
  return out
}

interface NativeSnappy {
  compressSync(bytes: Buffer): Buffer
  uncompressSync(bytes: Buffer, options: { asBuffer: true }): Buffer
}

const native = optional<NativeSnappy>('snappy')

export const SNAPPY_BLOCK: Ways<BlockCodec> = {
  portable: { compress: (bytes) => compressJs(bytes), decompress: decompressSnappyBlock },
  native: native && {
    compress: (bytes) => native.compressSync(bytes),
    decompress(bytes, maxOutputBytes) {
      const { size } = declaredSize(bytes, maxOutputBytes)
      let out: Buffer
      try {
        out = native.uncompressSync(bytes, { asBuffer: true })
      } catch (error) {
        throw damaged('snappy', (error as Error).message)
      }
      if (out.length !== size) throw damaged('snappy', `${out.length} bytes where ${size} were declared`)
      return out
    },
  },
}
