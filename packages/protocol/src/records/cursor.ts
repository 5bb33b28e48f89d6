/**
 * Walks the records of a batch of magic 2 in place, without making an object per record.
 *
 *   length varint | attributes int8 | timestamp delta varlong | offset delta varint
 *   | key length varint, key | value length varint, value | header count varint, headers: key length, key, value length, value
 *
 * Every length is checked against the record's own end before it is used, so a lazy reader may trust the places found here.
 */
import { invalid } from './errors.js'

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

  /**
   * @param bytes holds the records, decompressed, at [start, end)
   * @param count how many records the batch says it has
   */
  constructor(
    readonly bytes: Buffer,
    start: number,
    private end: number,
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
   * Steps to the next record; false after the last one.
   * After the last record nothing may follow; with a count of zero Kafka does not look, and neither do we.
   * @throws RecordsError INVALID_RECORD
   */
  next(): boolean {
    if (this.index >= this.count) return false
    const batchEnd = this.end
    this.at = this.position
    const length = this.varint()
    const start = this.position
    const end = start + length
    if (length < 0 || end > batchEnd) throw invalid(`record length ${length} with ${batchEnd - start} bytes left`, this.at)
    this.end = end
    try {
      this.fields(end)
    } finally {
      this.end = batchEnd
    }
    if (this.position !== end)
      throw invalid(`record length ${length} but its fields take ${this.position - start} bytes`, this.at)
    this.index++
    this.sizeInBytes = end - this.at
    if (this.index === this.count && end !== batchEnd) {
      throw invalid(`${batchEnd - end} bytes after the last of ${this.count} records`, end)
    }
    return true
  }

  private fields(end: number): void {
    if (this.position >= end) throw invalid('record without fields', this.at)
    this.attributes = this.bytes[this.position++]!
    this.timestampDeltaAt = this.position
    this.timestampDelta = this.varlong()
    this.offsetDelta = this.varint()
    const keyLength = this.varint()
    this.keyAt = this.position
    this.keyLength = keyLength < 0 ? -1 : keyLength
    this.skip(keyLength)
    const valueLength = this.varint()
    this.valueAt = this.position
    this.valueLength = valueLength < 0 ? -1 : valueLength
    this.skip(valueLength)
    const headerCount = this.varint()
    if (headerCount < 0 || headerCount > end - this.position) throw invalid(`header count ${headerCount}`, this.position)
    this.headersAt = this.position
    this.headerCount = headerCount
    for (let i = 0; i < headerCount; i++) {
      const headerKeyLength = this.varint()
      if (headerKeyLength < 0) throw invalid(`header key length ${headerKeyLength}`, this.position)
      this.skip(headerKeyLength)
      this.skip(this.varint())
    }
  }

  /** The timestamp delta of the current record as it stands: a bigint beyond ±(2^53−1). */
  exactTimestampDelta(): number | bigint {
    if (Number.isSafeInteger(this.timestampDelta)) return this.timestampDelta
    return varlong64(this.bytes, this.timestampDeltaAt)
  }

  private skip(length: number): void {
    if (length <= 0) return
    if (length > this.end - this.position)
      throw invalid(`length ${length} with ${this.end - this.position} bytes left`, this.position)
    this.position += length
  }

  private varint(): number {
    const { bytes, end } = this
    let at = this.position
    if (at >= end) throw invalid('record ends within a field', at)
    let byte = bytes[at++]!
    let raw = byte & 0x7f
    let shift = 7
    while (byte >= 0x80) {
      if (at >= end) throw invalid('varint without its last byte', at)
      if (shift > 28) throw invalid('varint of more than 5 bytes', at)
      byte = bytes[at++]!
      raw |= (byte & 0x7f) << shift
      shift += 7
    }
    this.position = at
    return (raw >>> 1) ^ -(raw & 1)
  }

  private varlong(): number {
    const { bytes, end } = this
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
