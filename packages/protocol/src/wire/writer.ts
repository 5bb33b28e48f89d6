// A growing cursor that writes a frame as a list of slices: its own bytes, and between them buffers of the caller that are not
// copied (record batches). Writers fill a common slab one after the other; what they give away is never written again.

import { putUtf8 } from './buffer-slices.js'
import { EncodeError } from './failures.js'
import { EMPTY_BYTES, MAX_STRING_BYTES } from './primitives.js'

/** Small enough that a frame somebody keeps does not hold much of others' memory, large enough for dozens of answers. */
const SLAB_SIZE = 16 << 10
/** A writer does not begin in less than this. */
const LEAST_ROOM = 1 << 10

/** The rest of the slab that the last finished writer left, when no writer is at work in it. */
let rest: { readonly slab: Buffer; readonly view: DataView; readonly at: number } | undefined

/** Where a writer was, so that it can go back there. */
export interface WriterMark {
  readonly chunk: Buffer
  readonly view: DataView
  readonly chunkStart: number
  readonly at: number
  readonly sliceCount: number
}

export class Writer {
  /** The chunk being filled. Bytes before `chunkStart` belong to finished slices. */
  chunk: Buffer
  chunkStart = 0
  /** The chunk again, for numbers. */
  view: DataView
  /** Index in `chunk` of the next byte to write. */
  at = 0
  readonly #finished: Buffer[] = []
  #finishedBytes = 0

  constructor() {
    const { slab, view, at } = rest ?? newSlab()
    rest = undefined
    this.chunk = slab
    this.view = view
    this.chunkStart = at
    this.at = at
  }

  /** Bytes written so far, referenced slices included. */
  get size(): number {
    return this.#finishedBytes + this.at - this.chunkStart
  }

  /** Makes room for `size` more bytes; `chunk` and `at` may be others afterwards. */
  ensure(size: number): void {
    if (this.at + size > this.chunk.length) this.grow(size)
  }

  grow(size: number): Buffer {
    const used = this.at - this.chunkStart
    const bigger = Buffer.allocUnsafe(Math.max(used + size, Math.min(2 * this.chunk.length, this.chunk.length + (1 << 20))))
    this.chunk.copy(bigger, 0, this.chunkStart, this.at)
    this.chunk = bigger
    this.view = viewOver(bigger)
    this.chunkStart = 0
    this.at = used
    return bigger
  }

  mark(): WriterMark {
    return { chunk: this.chunk, view: this.view, chunkStart: this.chunkStart, at: this.at, sliceCount: this.#finished.length }
  }

  reset(mark: WriterMark): void {
    this.chunk = mark.chunk
    this.view = mark.view
    this.chunkStart = mark.chunkStart
    this.at = mark.at
    for (const dropped of this.#finished.splice(mark.sliceCount)) this.#finishedBytes -= dropped.length
  }

  int8(value: number): void {
    this.ensure(1)
    this.chunk[this.at++] = value
  }

  bool(value: boolean): void {
    this.int8(value ? 1 : 0)
  }

  int16(value: number): void {
    this.ensure(2)
    const { chunk, at } = this
    chunk[at] = value >> 8
    chunk[at + 1] = value
    this.at = at + 2
  }

  uint16(value: number): void {
    this.int16(value)
  }

  int32(value: number): void {
    this.ensure(4)
    putInt32(this.chunk, this.at, value)
    this.at += 4
  }

  uint32(value: number): void {
    this.int32(value | 0)
  }

  int64(value: number | bigint): void {
    this.ensure(8)
    putInt64(this.chunk, this.at, value)
    this.at += 8
  }

  float64(value: number): void {
    this.ensure(8)
    this.at = this.chunk.writeDoubleBE(value, this.at)
  }

  unsignedVarint(value: number): void {
    this.ensure(5)
    this.at = putUnsignedVarint(this.chunk, this.at, value)
  }

  /** Zigzag varint, as records use it. */
  varint(value: number): void {
    this.unsignedVarint(((value << 1) ^ (value >> 31)) >>> 0)
  }

  /** Zigzag varint of up to ten bytes. */
  varlong(value: number | bigint): void {
    this.ensure(10)
    const signed = BigInt(value)
    let rest = BigInt.asUintN(64, (signed << 1n) ^ (signed >> 63n))
    while (rest > 0x7fn) {
      this.chunk[this.at++] = Number(rest & 0x7fn) | 0x80
      rest >>= 7n
    }
    this.chunk[this.at++] = Number(rest)
  }

  uuid(value: string): void {
    this.ensure(16)
    if (!putUuid(this.chunk, this.at, value)) throw new EncodeError(`not a uuid of 22 base64url characters: ${value}`)
    this.at += 16
  }

  /** Copies bytes in. */
  raw(bytes: Buffer): void {
    this.ensure(bytes.length)
    this.chunk.set(bytes, this.at)
    this.at += bytes.length
  }

  /** Puts bytes in by reference: the caller must not change them until the frame is sent. */
  reference(bytes: Buffer): void {
    if (bytes.length === 0) return
    this.#finish()
    this.#finished.push(bytes)
    this.#finishedBytes += bytes.length
  }

  #finish(): void {
    if (this.at === this.chunkStart) return
    this.#finished.push(this.chunk.subarray(this.chunkStart, this.at))
    this.#finishedBytes += this.at - this.chunkStart
    this.chunkStart = this.at
  }

  stringLength(size: number, compact: boolean): void {
    if (compact) this.unsignedVarint(size + 1)
    else this.int16(size)
  }

  /** Length of bytes, records or an array; −1 is null. */
  length(size: number, compact: boolean): void {
    if (compact) this.unsignedVarint(size + 1)
    else this.int32(size)
  }

  string(text: string, compact: boolean): void {
    const size = Buffer.byteLength(text)
    if (size > MAX_STRING_BYTES) throw new EncodeError(`string of ${size} bytes, more than ${MAX_STRING_BYTES}`)
    this.stringLength(size, compact)
    this.ensure(size)
    this.at += putUtf8(this.chunk, this.at, text)
  }

  /** Everything written, in order. The writer must not be used afterwards. */
  slices(): Buffer[] {
    this.#finish()
    if (this.chunk.length - this.at >= LEAST_ROOM && this.chunk.length === SLAB_SIZE)
      rest = { slab: this.chunk, view: this.view, at: this.at }
    this.chunk = EMPTY_BYTES // a write after this fails or goes elsewhere, never into what was given away
    this.chunkStart = 0
    this.at = 0
    return this.#finished
  }

  toBuffer(): Buffer {
    const slices = this.slices()
    return slices.length === 1 ? slices[0]! : Buffer.concat(slices)
  }
}

function viewOver(chunk: Buffer): DataView {
  return new DataView(chunk.buffer, chunk.byteOffset, chunk.length)
}

function newSlab(): { slab: Buffer; view: DataView; at: number } {
  const slab = Buffer.allocUnsafe(SLAB_SIZE)
  return { slab, view: viewOver(slab), at: 0 }
}

export function putInt32(bytes: Buffer, at: number, value: number): void {
  bytes[at] = value >> 24
  bytes[at + 1] = value >> 16
  bytes[at + 2] = value >> 8
  bytes[at + 3] = value
}

/** A whole number of the safe range, or a bigint of 64 bits. */
export function putInt64(bytes: Buffer, at: number, value: number | bigint): void {
  if (typeof value === 'bigint') {
    bytes.writeBigInt64BE(value, at)
    return
  }
  putInt32(bytes, at, Math.floor(value / 0x100000000))
  putInt32(bytes, at + 4, value | 0)
}

/** Returns the index behind the varint. */
export function putUnsignedVarint(bytes: Buffer, at: number, value: number): number {
  let rest = value >>> 0
  let next = at
  while (rest > 0x7f) {
    bytes[next++] = (rest & 0x7f) | 0x80
    rest >>>= 7
  }
  bytes[next++] = rest
  return next
}

const BASE64URL = Int8Array.from({ length: 256 }, (_, code) =>
  'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'.indexOf(String.fromCharCode(code)),
)

/** Writes the 16 bytes of a uuid; false when the text is none. */
export function putUuid(bytes: Buffer, at: number, text: string): boolean {
  if (text.length !== 22) return false
  let wrong = 0
  let next = at
  for (let index = 0; index < 20; index += 4) {
    const a = sextet(text, index)
    const b = sextet(text, index + 1)
    const c = sextet(text, index + 2)
    const d = sextet(text, index + 3)
    wrong |= a | b | c | d
    bytes[next++] = (a << 2) | (b >> 4)
    bytes[next++] = (b << 4) | (c >> 2)
    bytes[next++] = (c << 6) | d
  }
  const a = sextet(text, 20)
  const b = sextet(text, 21)
  bytes[next] = (a << 2) | (b >> 4)
  return (wrong | a | b) >= 0 && (b & 0x0f) === 0
}

function sextet(text: string, index: number): number {
  const code = text.charCodeAt(index)
  return code < 256 ? BASE64URL[code]! : -1
}
