// Strings and varints for generated code. Short ASCII text goes through JavaScript, which is cheaper than a call into the runtime.

import { putUtf8, utf8At } from '../wire/buffer-slices.js'
import { EncodeError } from '../wire/failures.js'
import { MAX_STRING_BYTES } from '../wire/primitives.js'
import type { Reader } from '../wire/reader.js'
import { putUnsignedVarint, type Writer } from '../wire/writer.js'

const SHORT_WRITE = 40

const chars = String.fromCharCode

/** Up to eight ASCII characters are made in JavaScript; beyond that the runtime's call is as fast. */
export function readText(bytes: Buffer, p: number, size: number): string {
  if (size > 8) return utf8At(bytes, p, p + size)
  let all = 0
  for (let index = p; index < p + size; index++) all |= bytes[index]!
  if (all > 0x7f) return utf8At(bytes, p, p + size)
  const at = (index: number) => bytes[p + index]!
  switch (size) {
    case 0:
      return ''
    case 1:
      return chars(at(0))
    case 2:
      return chars(at(0), at(1))
    case 3:
      return chars(at(0), at(1), at(2))
    case 4:
      return chars(at(0), at(1), at(2), at(3))
    case 5:
      return chars(at(0), at(1), at(2), at(3), at(4))
    case 6:
      return chars(at(0), at(1), at(2), at(3), at(4), at(5))
    case 7:
      return chars(at(0), at(1), at(2), at(3), at(4), at(5), at(6))
    default:
      return chars(at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7))
  }
}

/** A varint of more than one byte; leaves the index behind it in `reader.at`. Throws `failed`. */
export function readLongVarint(reader: Reader, bytes: Buffer, from: number, end: number, failed: Error): number {
  let value = 0
  let weight = 1
  for (let index = 0; index < 5; index++, weight *= 128) {
    if (from + index >= end) throw failed
    const byte = bytes[from + index]!
    value += (byte & 0x7f) * weight
    if (byte < 0x80) {
      if (value > 0xffffffff) throw failed
      reader.at = from + index + 1
      return value
    }
  }
  throw failed
}

/** Length and text, null as −1. */
export function writeText(writer: Writer, text: string | null, compact: boolean): void {
  if (text === null) {
    writer.stringLength(-1, compact)
    return
  }
  const length = text.length
  if (length <= SHORT_WRITE) {
    writer.ensure(3 * length + 2)
    const { chunk, at } = writer
    const start = at + (compact ? 1 : 2)
    let index = 0
    for (; index < length; index++) {
      const code = text.charCodeAt(index)
      if (code > 0x7f) break
      chunk[start + index] = code
    }
    const size = index === length ? length : putUtf8(chunk, start, text)
    // Up to 40 characters are at most 120 bytes: one byte of varint.
    if (compact) chunk[at] = size + 1
    else {
      chunk[at] = 0
      chunk[at + 1] = size
    }
    writer.at = start + size
    return
  }
  const size = Buffer.byteLength(text)
  if (size > MAX_STRING_BYTES) throw new EncodeError('string too long')
  writer.stringLength(size, compact)
  writer.ensure(size)
  writer.at += putUtf8(writer.chunk, writer.at, text)
}

/** Puts the size of a tagged field into the byte kept for it at `start` (from the chunk's start), shifting when one is too few. */
export function closeTaggedField(writer: Writer, start: number): void {
  const size = writer.at - writer.chunkStart - start - 1
  if (size < 0x80) {
    writer.chunk[writer.chunkStart + start] = size
    return
  }
  writer.ensure(4)
  const { chunk, at } = writer
  const begin = writer.chunkStart + start
  const extra = size < 1 << 14 ? 1 : size < 1 << 21 ? 2 : size < 1 << 28 ? 3 : 4
  chunk.copyWithin(begin + 1 + extra, begin + 1, at)
  putUnsignedVarint(chunk, begin, size)
  writer.at = at + extra
}
