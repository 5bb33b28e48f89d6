/**
 * Walks the records of a batch of magic 2 in place, without making an object per record.
 *
 *   length varint | attributes int8 | timestamp delta varlong | offset delta varint
 *   | key length varint, key | value length varint, value | header count varint, headers: key length, key, value length, value
 *
 * Every length is checked against the record's own end before it is used, so a lazy reader may trust the places found here.
 */
import { invalid } from './errors.js'
import { type RecordHeader, readHeaders } from './record.js'

const TWO_28 = 2 ** 28

/** After each `next()` that returned true, the fields tell of the record it stepped on. */
export class RecordCursor {
  /** Where the record begins (its length varint) and what it takes with it. */
  at = 0
  sizeInBytes = 0
  attributes = 0
  /** Exact within ±(2^53−1); see `exactTimestampDelta`. */
  timestampDelta = 0
  offsetDelta = 0
  keyAt = 0
  /** -1 for null. */
  keyLength = -1
  valueAt = 0
  /** -1 for null. */
  valueLength = -1
  headersAt = 0
  headerCount = 0
  /** How many records were read. */
  index = 0

  private timestampDeltaAt = 0
  /** Index of the next byte to read. */
  private position: number
  /** Where the record at hand ends. */
  private limit = 0

  /**
   * @param bytes holds the records, decompressed, at [start, end)
   * @param count how many records the batch says it has
   */
  constructor(
    readonly bytes: Buffer,
    start: number,
    private readonly end: number,
    readonly count: number,
  ) {
    this.position = start
    if (count < 0) throw invalid(`record count ${count}`, start)
    if (end > bytes.length) throw invalid(`records end at ${end} of ${bytes.length} bytes`, start)
  }

  /** How many bytes follow the record that was read last. */
  get remaining(): number {
    return this.end - this.position
  }

  /**
   * Steps to the next record; false after the last one. A cursor that has thrown must not be used again.
   * After the last record nothing may follow; with a count of zero Kafka does not look, and neither do we.
   * @throws RecordsError INVALID_RECORD
   */
  next(): boolean {
    if (this.index >= this.count) return false
    const start = this.position
    this.at = start
    if (!this.stepShort()) this.step()
    const end = this.position
    this.sizeInBytes = end - start
    if (++this.index === this.count && end !== this.end) {
      throw invalid(`${this.end - end} bytes after the last of ${this.count} records`, end)
    }
    return true
  }

  /**
   * What nearly every record is: no field but key and value takes more than two bytes, and there are no headers. Nothing is changed
   * and the answer is false for any other, sound or not. Costs a third of `step`.
   */
  private stepShort(): boolean {
    const { bytes, position: start } = this
    const size = shortVarint(bytes, start)
    const body = start + (size & 3)
    const end = body + unzigzagged(size)
    if (end <= body || end > this.end) return false
    const timestampDelta = shortVarint(bytes, body + 1)
    const offsetDeltaAt = body + 1 + (timestampDelta & 3)
    const offsetDelta = shortVarint(bytes, offsetDeltaAt)
    const keySizeAt = offsetDeltaAt + (offsetDelta & 3)
    const keySize = shortVarint(bytes, keySizeAt)
    const keyAt = keySizeAt + (keySize & 3)
    const keyLength = unzigzagged(keySize)
    const valueSizeAt = keyLength > 0 ? keyAt + keyLength : keyAt
    if (valueSizeAt >= end) return false
    const valueSize = shortVarint(bytes, valueSizeAt)
    const valueAt = valueSizeAt + (valueSize & 3)
    const valueLength = unzigzagged(valueSize)
    const headersAt = (valueLength > 0 ? valueAt + valueLength : valueAt) + 1
    const isWhole = timestampDelta !== LONG && offsetDelta !== LONG && keySize !== LONG && valueSize !== LONG
    if (!isWhole || headersAt !== end || bytes[end - 1] !== 0) return false
    this.attributes = bytes[body]!
    this.timestampDeltaAt = body + 1
    this.timestampDelta = unzigzagged(timestampDelta)
    this.offsetDelta = unzigzagged(offsetDelta)
    this.keyAt = keyAt
    this.keyLength = keyLength < 0 ? -1 : keyLength
    this.valueAt = valueAt
    this.valueLength = valueLength < 0 ? -1 : valueLength
    this.headersAt = headersAt
    this.headerCount = 0
    this.position = end
    return true
  }

  /** @throws RecordsError INVALID_RECORD */
  private step(): void {
    const { bytes, end: batchEnd, position: start } = this
    this.limit = batchEnd
    const length = this.varint()
    const body = this.position
    const end = body + length
    if (length < 0 || end > batchEnd) throw invalid(`record length ${length} with ${batchEnd - body} bytes left`, start)
    this.limit = end
    if (length === 0) throw invalid('record without fields', start)
    this.attributes = bytes[this.position++]!
    this.timestampDeltaAt = this.position
    this.timestampDelta = this.varlong()
    this.offsetDelta = this.varint()
    this.keyLength = this.length()
    this.keyAt = this.position
    if (this.keyLength > 0) this.position += this.keyLength
    this.valueLength = this.length()
    this.valueAt = this.position
    if (this.valueLength > 0) this.position += this.valueLength
    const headerCount = this.varint()
    this.headersAt = this.position
    this.headerCount = headerCount
    if (headerCount !== 0) this.skipHeaders(headerCount)
    if (this.position !== end) throw invalid(`record length ${length} but its fields take ${this.position - body} bytes`, start)
  }

  private skipHeaders(count: number): void {
    if (count < 0 || count > this.limit - this.position) throw invalid(`header count ${count}`, this.position)
    for (let i = 0; i < count; i++) {
      const keyLength = this.length()
      if (keyLength < 0) throw invalid(`header key length ${keyLength}`, this.position)
      this.position += keyLength
      const valueLength = this.length()
      if (valueLength > 0) this.position += valueLength
    }
  }

  /** The current record's headers: views into its bytes. */
  headers(): readonly RecordHeader[] {
    return readHeaders(this.bytes, this.headersAt, this.headerCount)
  }

  /** The timestamp delta of the current record as it stands: a bigint beyond ±(2^53−1). */
  exactTimestampDelta(): number | bigint {
    if (Number.isSafeInteger(this.timestampDelta)) return this.timestampDelta
    return varlong64(this.bytes, this.timestampDeltaAt)
  }

  /** A length whose bytes are there; -1 for null. */
  private length(): number {
    const length = this.varint()
    if (length > this.limit - this.position)
      throw invalid(`length ${length} with ${this.limit - this.position} bytes left`, this.position)
    return length < 0 ? -1 : length
  }

  private varint(): number {
    const at = this.position
    if (at < this.limit) {
      const raw = this.bytes[at]!
      if (raw < 0x80) {
        this.position = at + 1
        return (raw >>> 1) ^ -(raw & 1)
      }
    }
    return this.longVarint()
  }

  private longVarint(): number {
    const { bytes, limit } = this
    let at = this.position
    if (at >= limit) throw invalid('record ends within a field', at)
    let byte = bytes[at++]!
    let raw = byte & 0x7f
    let shift = 7
    while (byte >= 0x80) {
      if (at >= limit) throw invalid('varint without its last byte', at)
      if (shift > 28) throw invalid('varint of more than 5 bytes', at)
      byte = bytes[at++]!
      raw |= (byte & 0x7f) << shift
      shift += 7
    }
    this.position = at
    return (raw >>> 1) ^ -(raw & 1)
  }

  private varlong(): number {
    const { bytes, limit: end } = this
    const start = this.position
    let at = start
    let low = 0
    let shift = 0
    let byte = 0x80
    while (byte >= 0x80 && shift < 28) {
      if (at >= end) throw invalid('varlong without its last byte', at)
      byte = bytes[at++]!
      low |= (byte & 0x7f) << shift
      shift += 7
    }
    if (byte < 0x80) {
      this.position = at
      return (low >>> 1) ^ -(low & 1)
    }
    let high = 0
    let scale = 1
    while (byte >= 0x80) {
      if (at >= end) throw invalid('varlong without its last byte', at)
      if (at - start >= 10) throw invalid('varlong of more than 10 bytes', at)
      byte = bytes[at++]!
      high += (byte & 0x7f) * scale
      scale *= 0x80
    }
    this.position = at
    if (at - start <= 7) {
      const raw = high * TWO_28 + low
      return low & 1 ? -(raw + 1) / 2 : raw / 2
    }
    return Number(varlong64(bytes, start))
  }
}

const LONG = 0

/** A varint of one or two bytes: its bits, then two bits that say how many bytes it takes; `LONG` when it takes more, or they are not there. */
function shortVarint(bytes: Buffer, at: number): number {
  const first = bytes[at]!
  if (first < 0x80) return (first << 2) | 1
  const second = bytes[at + 1]!
  return second < 0x80 ? ((first & 0x7f) << 2) | (second << 9) | 2 : LONG
}

/** Undoes the zigzag. */
const unzigzagged = (short: number): number => (short >>> 3) ^ -((short >>> 2) & 1)

function varlong64(bytes: Buffer, start: number): bigint {
  let raw = 0n
  for (let at = start, shift = 0n; ; at++, shift += 7n) {
    const byte = bytes[at]!
    raw |= BigInt(byte & 0x7f) << shift
    if (byte < 0x80) break
  }
  raw = BigInt.asUintN(64, raw)
  return BigInt.asIntN(64, (raw >> 1n) ^ -(raw & 1n))
}
