/** Zigzag varints as records use them: sizes and writing. Reading is in cursor.ts, which must not make objects. */

/** Bytes of the zigzag varint of an int32. */
export function sizeOfVarint(value: number): number {
  return sizeOfUnsignedVarint(((value << 1) ^ (value >> 31)) >>> 0)
}

/** Bytes of the plain varint of a uint32. */
export function sizeOfUnsignedVarint(value: number): number {
  return value < 0x80 ? 1 : value < 0x4000 ? 2 : value < 0x20_0000 ? 3 : value < 0x1000_0000 ? 4 : 5
}

/** Writes an int32 as a zigzag varint; returns the index after it. */
export function writeVarint(bytes: Buffer, at: number, value: number): number {
  return writeUnsignedVarint(bytes, at, ((value << 1) ^ (value >> 31)) >>> 0)
}

/** Writes a uint32 as a plain varint; returns the index after it. */
export function writeUnsignedVarint(bytes: Buffer, at: number, value: number): number {
  let rest = value
  while (rest >= 0x80) {
    bytes[at++] = (rest & 0x7f) | 0x80
    rest >>>= 7
  }
  bytes[at++] = rest
  return at
}

/** Beyond it a zigzag value may not be exact as a number. */
const EXACT_ZIGZAG = 2 ** 51

/** Bytes of the zigzag varlong of an int64. */
export function sizeOfVarlong(value: number | bigint): number {
  if (typeof value === 'bigint' || Math.abs(value) > EXACT_ZIGZAG) {
    let rest = zigzag64(value)
    let size = 1
    while (rest >= 0x80n) {
      rest >>= 7n
      size++
    }
    return size
  }
  let rest = value >= 0 ? value * 2 : -value * 2 - 1
  let size = 1
  while (rest >= 0x80) {
    rest = Math.floor(rest / 0x80)
    size++
  }
  return size
}

/** Writes an int64 as a zigzag varlong; returns the index after it. */
export function writeVarlong(bytes: Buffer, at: number, value: number | bigint): number {
  if (typeof value === 'bigint' || Math.abs(value) > EXACT_ZIGZAG) {
    let rest = zigzag64(value)
    while (rest >= 0x80n) {
      bytes[at++] = Number(rest & 0x7fn) | 0x80
      rest >>= 7n
    }
    bytes[at++] = Number(rest)
    return at
  }
  let rest = value >= 0 ? value * 2 : -value * 2 - 1
  while (rest > 0xffff_ffff) {
    bytes[at++] = (rest & 0x7f) | 0x80
    rest = Math.floor(rest / 0x80)
  }
  return writeUnsignedVarint(bytes, at, rest)
}

const zigzag64 = (value: number | bigint): bigint => {
  const big = BigInt.asIntN(64, BigInt(value))
  return BigInt.asUintN(64, (big << 1n) ^ (big >> 63n))
}
