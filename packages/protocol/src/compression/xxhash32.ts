/** xxHash, 32 bits, seed 0: the checksum inside lz4 frames. */

const P1 = 0x9e3779b1 | 0
const P2 = 0x85ebca77 | 0
const P3 = 0xc2b2ae3d | 0
const P4 = 0x27d4eb2f
const P5 = 0x165667b1

const rotate = (value: number, bits: number): number => (value << bits) | (value >>> (32 - bits))
const round = (lane: number, word: number): number => Math.imul(rotate((lane + Math.imul(word, P2)) | 0, 13), P1)

/** Of bytes[from, to), unsigned. */
export function xxhash32(bytes: Buffer, from = 0, to = bytes.length): number {
  let at = from
  let hash: number
  if (to - from >= 16) {
    let a = (P1 + P2) | 0
    let b = P2
    let c = 0
    let d = -P1 | 0
    for (; at <= to - 16; at += 16) {
      a = round(a, bytes.readInt32LE(at))
      b = round(b, bytes.readInt32LE(at + 4))
      c = round(c, bytes.readInt32LE(at + 8))
      d = round(d, bytes.readInt32LE(at + 12))
    }
    hash = (rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18)) | 0
  } else {
    hash = P5
  }
  hash = (hash + (to - from)) | 0
  for (; at <= to - 4; at += 4) hash = Math.imul(rotate((hash + Math.imul(bytes.readInt32LE(at), P3)) | 0, 17), P4)
  for (; at < to; at++) hash = Math.imul(rotate((hash + Math.imul(bytes[at]!, P5)) | 0, 11), P1)
  hash = Math.imul(hash ^ (hash >>> 15), P2)
  hash = Math.imul(hash ^ (hash >>> 13), P3)
  return (hash ^ (hash >>> 16)) >>> 0
}
