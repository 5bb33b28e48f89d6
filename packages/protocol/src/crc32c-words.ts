/**
 * CRC-32C in JavaScript for longer stretches: sixteen bytes a step as crc-32 does it, but read as four words instead of byte by byte,
 * which takes three quarters of the time (Node 20). Only for machines whose words have the low byte first.
 */

/** Castagnoli, reflected. */
const POLYNOMIAL = 0x82f63b78
const STEP_WORDS = 4

/** Whether this machine's words are as `crc32cByWords` needs them. */
export const LOW_BYTE_FIRST = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1

function tableOfOneByte(): Int32Array {
  const table = new Int32Array(256)
  for (let byte = 0; byte < table.length; byte++) {
    let crc = byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1
    table[byte] = crc
  }
  return table
}

/** For a byte that is followed by one more than those of `table` are. */
function tableBefore(table: Int32Array): Int32Array {
  const next = new Int32Array(256)
  for (let byte = 0; byte < next.length; byte++) next[byte] = (table[byte]! >>> 8) ^ T0[table[byte]! & 0xff]!
  return next
}

// What a byte adds with so many bytes of its step behind it. Each a constant of its own: then a look-up needs no check of its bounds.
const T0 = tableOfOneByte()
const T1 = tableBefore(T0)
const T2 = tableBefore(T1)
const T3 = tableBefore(T2)
const T4 = tableBefore(T3)
const T5 = tableBefore(T4)
const T6 = tableBefore(T5)
const T7 = tableBefore(T6)
const T8 = tableBefore(T7)
const T9 = tableBefore(T8)
const T10 = tableBefore(T9)
const T11 = tableBefore(T10)
const T12 = tableBefore(T11)
const T13 = tableBefore(T12)
const T14 = tableBefore(T13)
const T15 = tableBefore(T14)

/** Unsigned; `seed` is the CRC of what came before. */
export function crc32cByWords(bytes: Buffer, seed: number): number {
  const length = bytes.length
  let crc = ~seed
  let at = 0
  for (const head = Math.min(length, -bytes.byteOffset & 3); at < head; at++) crc = (crc >>> 8) ^ T0[(crc ^ bytes[at]!) & 0xff]!
  const wordCount = (length - at) >> 2
  const words = new Int32Array(bytes.buffer, wordCount === 0 ? 0 : bytes.byteOffset + at, wordCount)
  const whole = wordCount - (wordCount % STEP_WORDS)
  for (let word = 0; word < whole; word += STEP_WORDS) {
    const a = words[word]! ^ crc
    const b = words[word + 1]!
    const c = words[word + 2]!
    const d = words[word + 3]!
    crc =
      T15[a & 0xff]! ^
      T14[(a >>> 8) & 0xff]! ^
      T13[(a >>> 16) & 0xff]! ^
      T12[a >>> 24]! ^
      T11[b & 0xff]! ^
      T10[(b >>> 8) & 0xff]! ^
      T9[(b >>> 16) & 0xff]! ^
      T8[b >>> 24]! ^
      T7[c & 0xff]! ^
      T6[(c >>> 8) & 0xff]! ^
      T5[(c >>> 16) & 0xff]! ^
      T4[c >>> 24]! ^
      T3[d & 0xff]! ^
      T2[(d >>> 8) & 0xff]! ^
      T1[(d >>> 16) & 0xff]! ^
      T0[d >>> 24]!
  }
  for (at += whole * 4; at < length; at++) crc = (crc >>> 8) ^ T0[(crc ^ bytes[at]!) & 0xff]!
  return ~crc >>> 0
}
