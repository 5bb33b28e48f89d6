/**
 * How much zstd frames may grow to, told from the headers of their blocks alone, before anything is allocated.
 *
 *   magic 0xFD2FB528 LE | descriptor | window | dictionary id | content size | { block header, 3 bytes LE | block } … | checksum
 *   block header: |2.. size|1..2 raw, run of one byte, compressed|0 last|; a compressed block gives at most 128 KiB
 */
import { damaged } from './errors.js'

const MAGIC = 0xfd2fb528
const SKIPPABLE_MAGIC = 0x184d2a50
const LARGEST_BLOCK = 128 * 1024

/** What the library takes when it reads a stream, as Kafka's clients do: 2^27. */
const LARGEST_WINDOW = 128 * 1024 * 1024

/** Exponent above, three bits of mantissa below. */
function windowSize(descriptor: number): number {
  const base = 2 ** (10 + (descriptor >>> 3))
  return base + (base / 8) * (descriptor & 7)
}

/** The most that the frames can give. Throws CompressionError where the frames are not whole. */
export function zstdOutputBound(bytes: Buffer): number {
  let bound = 0
  let at = 0
  while (at < bytes.length) {
    if (bytes.length - at < 5) throw damaged('zstd', 'frame without a whole header')
    const magic = bytes.readUInt32LE(at)
    at += 4
    if ((magic & 0xfffffff0) === SKIPPABLE_MAGIC) {
      if (bytes.length - at < 4) throw damaged('zstd', 'frame without a whole header')
      at += 4 + bytes.readUInt32LE(at)
      if (at > bytes.length) throw damaged('zstd', 'frame without its end')
      continue
    }
    if (magic !== MAGIC) throw damaged('zstd', 'no frame: wrong magic')
    const descriptor = bytes[at]!
    const singleSegment = (descriptor >>> 5) & 1
    const dictionaryIdSize = [0, 1, 2, 4][descriptor & 3]!
    const contentSizeCode = descriptor >>> 6
    const contentSizeSize = contentSizeCode === 0 ? singleSegment : 1 << contentSizeCode
    if (!singleSegment && (at + 1 >= bytes.length || windowSize(bytes[at + 1]!) > LARGEST_WINDOW))
      throw damaged('zstd', 'window too large')
    at += 1 + (singleSegment ? 0 : 1) + dictionaryIdSize + contentSizeSize
    for (let last = false; !last; ) {
      if (bytes.length - at < 3) throw damaged('zstd', 'frame without its end')
      const header = bytes.readUIntLE(at, 3)
      at += 3
      last = (header & 1) !== 0
      const size = header >>> 3
      const type = (header >>> 1) & 3
      if (type === 3 || size > LARGEST_BLOCK) throw damaged('zstd', 'unknown block')
      at += type === 1 ? 1 : size
      bound += type === 2 ? LARGEST_BLOCK : size
    }
    at += descriptor & 4
    if (at > bytes.length) throw damaged('zstd', 'frame without its end')
  }
  return bound
}
