/**
 * layout(): a table of fields at fixed offsets, read and written in place.
 * The table is the picture of the bytes; nothing else in the project knows such an offset.
 */

/** A field of a fixed width at a fixed place. `start` is where the structure begins in `bytes`. */
export interface Field<In = number> {
  /** Offset of the field from the start of the structure, in bytes. */
  readonly at: number
  readonly sizeInBytes: number
  get(bytes: Buffer, start: number): number
  set(bytes: Buffer, start: number, value: In): void
}

class Int8Field implements Field {
  readonly sizeInBytes = 1
  constructor(readonly at: number) {}
  get(bytes: Buffer, start: number): number {
    return bytes.readInt8(start + this.at)
  }
  set(bytes: Buffer, start: number, value: number): void {
    bytes.writeInt8(value, start + this.at)
  }
}

class Int16Field implements Field {
  readonly sizeInBytes = 2
  constructor(readonly at: number) {}
  get(bytes: Buffer, start: number): number {
    return bytes.readInt16BE(start + this.at)
  }
  set(bytes: Buffer, start: number, value: number): void {
    bytes.writeInt16BE(value, start + this.at)
  }
}

class Int32Field implements Field {
  readonly sizeInBytes = 4
  constructor(readonly at: number) {}
  get(bytes: Buffer, start: number): number {
    return int32At(bytes, start + this.at)
  }
  set(bytes: Buffer, start: number, value: number): void {
    bytes.writeInt32BE(value, start + this.at)
  }
}

class Uint32Field implements Field {
  readonly sizeInBytes = 4
  constructor(readonly at: number) {}
  get(bytes: Buffer, start: number): number {
    return int32At(bytes, start + this.at) >>> 0
  }
  set(bytes: Buffer, start: number, value: number): void {
    bytes.writeUInt32BE(value, start + this.at)
  }
}

/** `get` gives the nearest number (exact within ±(2^53−1)); `exact` gives a bigint where a number would not do. */
export class Int64Field implements Field<number | bigint> {
  readonly sizeInBytes = 8
  constructor(readonly at: number) {}
  get(bytes: Buffer, start: number): number {
    const at = start + this.at
    return int32At(bytes, at) * 0x1_0000_0000 + (int32At(bytes, at + 4) >>> 0)
  }
  exact(bytes: Buffer, start: number): number | bigint {
    const near = this.get(bytes, start)
    return Number.isSafeInteger(near) ? near : bytes.readBigInt64BE(start + this.at)
  }
  set(bytes: Buffer, start: number, value: number | bigint): void {
    const at = start + this.at
    if (typeof value === 'bigint') {
      bytes.writeBigInt64BE(value, at)
    } else if (Number.isSafeInteger(value)) {
      setInt32At(bytes, at, Math.floor(value / 0x1_0000_0000))
      setInt32At(bytes, at + 4, value)
    } else {
      throw new RangeError(`${value} is not a safe integer: pass a bigint`)
    }
  }
}

// Buffer's own readers and writers take two to four times as long (Node 20), and each append looks at some forty fields.

function int32At(bytes: Buffer, at: number): number {
  requireBytes(bytes, at)
  return (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!
}

/** The low 32 bits of a whole number. */
function setInt32At(bytes: Buffer, at: number, value: number): void {
  requireBytes(bytes, at)
  bytes[at] = value >>> 24
  bytes[at + 1] = value >>> 16
  bytes[at + 2] = value >>> 8
  bytes[at + 3] = value
}

function requireBytes(bytes: Buffer, at: number): void {
  if (at < 0 || at + 4 > bytes.length) throw new RangeError(`4 bytes at ${at} of ${bytes.length}`)
}

type FieldOf<P> = P extends (at: number) => infer F ? F : never

export const int8 = (at: number): Int8Field => new Int8Field(at)
export const int16 = (at: number): Int16Field => new Int16Field(at)
export const int32 = (at: number): Int32Field => new Int32Field(at)
export const uint32 = (at: number): Uint32Field => new Uint32Field(at)
export const int64 = (at: number): Int64Field => new Int64Field(at)

/** The primitives under one name, for packages that describe their own files: `layout({ position: fixed.int32 })`. */
export const fixed = { int8, int16, int32, uint32, int64 } as const

type Primitive = (at: number) => Field | Int64Field

export type Layout<P extends Record<string, Primitive>> = { readonly [K in keyof P]: FieldOf<P[K]> } & {
  /** Bytes of the whole structure. */
  readonly size: number
}

/** Fields in the order in which they lie in the bytes, without gaps, big endian. */
export function layout<P extends Record<string, Primitive>>(primitives: P): Layout<P> {
  const table: Record<string, Field | Int64Field | number> = {}
  let at = 0
  for (const [name, primitive] of Object.entries(primitives)) {
    const field = primitive(at)
    table[name] = field
    at += field.sizeInBytes
  }
  table.size = at
  return table as Layout<P>
}
