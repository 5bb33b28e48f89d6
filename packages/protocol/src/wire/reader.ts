// A bounds-checked cursor over bytes. Every read either succeeds inside the bounds or throws a DecodeError with its position.

import { base64urlAt, utf8At } from './buffer-slices.js'

import { DecodeError } from './failures.js'
import { type Int64Reading, MAX_SAFE, MAX_STRING_BYTES, ZERO_UUID } from './primitives.js'

/** No list says that it is longer. */
const ANY_COUNT = 2 ** 31 - 1

export class Reader {
  /** Index in `bytes` of the next byte to read. */
  at: number
  /** Index in `bytes` where reading must stop. */
  readonly end: number
  /** How many more items may be read, of all lists together: each takes far more memory than the one byte that it may be here. */
  itemsLeft: number

  constructor(
    readonly bytes: Buffer,
    at = 0,
    end: number = bytes.length,
    mostItems: number = ANY_COUNT,
  ) {
    this.at = at
    this.end = end
    this.itemsLeft = mostItems
  }

  get remaining(): number {
    return this.end - this.at
  }

  takeItems(count: number, position: number): void {
    if (count > this.itemsLeft) this.fail(`${count} items are more than the ${this.itemsLeft} that may still come`, position)
    this.itemsLeft -= count
  }

  fail(reason: string, position: number = this.at): never {
    throw new DecodeError(reason, position)
  }

  #take(size: number): number {
    const at = this.at
    if (size > this.end - at) this.fail(`needs ${size} bytes, ${this.end - at} are left`)
    this.at = at + size
    return at
  }

  bool(): boolean {
    return this.bytes[this.#take(1)] !== 0
  }

  int8(): number {
    return this.bytes.readInt8(this.#take(1))
  }

  int16(): number {
    return this.bytes.readInt16BE(this.#take(2))
  }

  uint16(): number {
    return this.bytes.readUInt16BE(this.#take(2))
  }

  int32(): number {
    return this.bytes.readInt32BE(this.#take(4))
  }

  uint32(): number {
    return this.bytes.readUInt32BE(this.#take(4))
  }

  float64(): number {
    return this.bytes.readDoubleBE(this.#take(8))
  }

  /** A number; beyond ±(2^53 − 1) it fails. */
  int64(): number {
    const at = this.#take(8)
    const value = safeInt64(this.bytes, at)
    return Number.isSafeInteger(value) ? value : this.fail('int64 beyond the safe range of a number', at)
  }

  /** A number; beyond ±(2^53 − 1) the nearest end of that range. */
  clampedInt64(): number {
    return Math.max(-MAX_SAFE, Math.min(MAX_SAFE, safeInt64(this.bytes, this.#take(8))))
  }

  /** A number when safe, a bigint otherwise. */
  exactInt64(): number | bigint {
    const at = this.#take(8)
    const value = safeInt64(this.bytes, at)
    return Number.isSafeInteger(value) ? value : this.bytes.readBigInt64BE(at)
  }

  int64In(reading: Int64Reading, clamped: boolean): number | bigint {
    return reading === 'exact' ? this.exactInt64() : clamped ? this.clampedInt64() : this.int64()
  }

  /** Unsigned varint of at most five bytes, as lengths and tags of flexible versions use it (KIP-482). */
  unsignedVarint(): number {
    const start = this.at
    let value = 0
    let weight = 1
    for (let index = 0; index < 5; index++, weight *= 128) {
      const byte = this.bytes[this.#take(1)]!
      value += (byte & 0x7f) * weight
      if (byte < 0x80) return value <= 0xffffffff ? value : this.fail('varint beyond 32 bits', start)
    }
    return this.fail('varint longer than 5 bytes', start)
  }

  /** Zigzag varint of at most five bytes, as records use it. */
  varint(): number {
    const value = this.unsignedVarint()
    return (value >>> 1) ^ -(value & 1)
  }

  /** Zigzag varint of at most ten bytes; a bigint beyond the safe range. */
  varlong(): number | bigint {
    const start = this.at
    let value = 0n
    for (let index = 0n; index < 10n; index++) {
      const byte = this.bytes[this.#take(1)]!
      value |= BigInt(byte & 0x7f) << (7n * index)
      if (byte < 0x80) {
        const signed = BigInt.asIntN(64, (value >> 1n) ^ -(value & 1n))
        const small = Number(signed)
        return Number.isSafeInteger(small) ? small : signed
      }
    }
    return this.fail('varint longer than 10 bytes', start)
  }

  uuid(): string {
    const at = this.#take(16)
    return uuidAt(this.bytes, at)
  }

  /** The next `size` bytes as a view, not a copy. */
  view(size: number): Buffer {
    const at = this.#take(size)
    return this.bytes.subarray(at, at + size)
  }

  utf8(size: number): string {
    if (size > MAX_STRING_BYTES) this.fail(`string of ${size} bytes, more than ${MAX_STRING_BYTES}`)
    const at = this.#take(size)
    if (!canBeWrittenAgain(this.bytes, at, size))
      this.fail(`string of ${size} bytes that are no UTF-8, too long to be said again`, at)
    return utf8At(this.bytes, at, at + size)
  }

  /** Length of a nullable string: an int16, or varint − 1 in the compact form. Negative means null. */
  stringLength(compact: boolean): number {
    return compact ? this.unsignedVarint() - 1 : this.int16()
  }

  /** Length of nullable bytes, records or an array: an int32, or varint − 1 in the compact form. Negative means null. */
  length(compact: boolean): number {
    return compact ? this.unsignedVarint() - 1 : this.int32()
  }

  nullableString(compact: boolean): string | null {
    const size = this.stringLength(compact)
    return size < 0 ? null : this.utf8(size)
  }

  nullableBytes(compact: boolean): Buffer | null {
    const size = this.length(compact)
    return size < 0 ? null : this.view(size)
  }
}

/** The eight bytes as a double: exact within the safe range, rounded beyond it. */
function safeInt64(bytes: Buffer, at: number): number {
  return bytes.readInt32BE(at) * 0x100000000 + bytes.readUInt32BE(at + 4)
}

/**
 * Each byte that is no UTF-8 is read as a character of three bytes, so a string of such bytes can grow beyond what a string may have. Nobody
 * could be told of it: no answer that names it, and no list that holds it, could be written.
 */
export function canBeWrittenAgain(bytes: Buffer, at: number, size: number): boolean {
  return size <= MAX_STRING_BYTES / 3 || Buffer.byteLength(utf8At(bytes, at, at + size)) <= MAX_STRING_BYTES
}

/** Sixteen bytes as 22 characters of base64url, as Kafka prints a uuid. */
export function uuidAt(bytes: Buffer, at: number): string {
  if (
    bytes[at] === 0 &&
    bytes.readInt32BE(at) === 0 &&
    bytes.readInt32BE(at + 4) === 0 &&
    bytes.readInt32BE(at + 8) === 0 &&
    bytes.readInt32BE(at + 12) === 0
  )
    return ZERO_UUID
  return base64urlAt(bytes, at, at + 16)
}
