/**
 * Writes records into one batch of magic 2, straight into the bytes that are sent or stored.
 * The header's room is left in front and filled in by build().
 */
import { CODECS, type CodecName, compress } from '../compression/index.js'
import { crc32c } from '../crc.js'
import {
  CONTROL_FLAG,
  DELETE_HORIZON_FLAG,
  LOG_APPEND_TIME_FLAG,
  LOG_OVERHEAD,
  NO_LEADER_EPOCH,
  NO_PRODUCER_EPOCH,
  NO_PRODUCER_ID,
  NO_SEQUENCE,
  NO_TIMESTAMP,
  RECORD_BATCH,
  type TimestampType,
  TRANSACTIONAL_FLAG,
} from './layout.js'
import { sizeOfVarint, sizeOfVarlong, writeVarint, writeVarlong } from './varint.js'

export interface BatchOptions {
  /** Default none. */
  readonly codec?: CodecName
  /** Of the codec; default is the codec's own. */
  readonly level?: number
  readonly timestampType?: TimestampType
  /** With LogAppendTime: the time of all records, written as the batch's largest timestamp. */
  readonly logAppendTime?: number
  readonly producerId?: number
  readonly producerEpoch?: number
  readonly baseSequence?: number
  readonly transactional?: boolean
  readonly control?: boolean
  /** Set by the cleaner (KIP-534): takes the place of the base timestamp. */
  readonly deleteHorizonMs?: number
  /** Most bytes of the batch before compression. The first record is always taken. Default: no limit but 2^31−1. */
  readonly maxBytes?: number
  /** Bytes that the batch will probably have: spares growing step by step. Default: small. */
  readonly expectedBytes?: number
  readonly baseOffset?: number
  /** Set by the cleaner: where the batch ends although its last records are gone. Default: the offset of the last record. */
  readonly lastOffset?: number
  readonly leaderEpoch?: number
}

export interface AppendRecord {
  /** Milliseconds since 1970. */
  readonly timestamp: number | bigint
  /** Strings are written as UTF-8. */
  readonly key: Buffer | string | null
  readonly value: Buffer | string | null
  readonly headers?: readonly { readonly key: string; readonly value: Buffer | string | null }[]
  /** Default: one after the last record. Must not go back. */
  readonly offset?: number
}

const FIRST_SIZE = 512
const LARGEST_SIZE = 0x7fffffff

export class BatchBuilder {
  private bytes: Buffer
  private end: number = RECORD_BATCH.size
  private count = 0
  private lastOffsetDelta = -1
  private baseTimestamp: number | bigint
  private maxTimestamp: number | bigint = NO_TIMESTAMP
  private readonly maxBytes: number
  private readonly baseOffset: number
  private built = false
  /** No long text has had other characters so far. */
  private isAscii = true

  constructor(private readonly options: BatchOptions = {}) {
    this.maxBytes = options.maxBytes ?? LARGEST_SIZE
    this.baseOffset = options.baseOffset ?? 0
    this.baseTimestamp = options.deleteHorizonMs ?? NO_TIMESTAMP
    this.bytes = Buffer.allocUnsafe(Math.max(FIRST_SIZE, Math.min(options.expectedBytes ?? 0, this.maxBytes)))
  }

  get recordCount(): number {
    return this.count
  }

  /** Bytes of the batch so far, before compression. */
  get sizeInBytes(): number {
    return this.end
  }

  /**
   * False, and nothing is written, if the record does not fit any more; the first one always fits.
   * @throws TypeError for parts that are neither bytes nor text nor null; RangeError for offsets that go back and batches beyond 2^31−1 bytes
   */
  tryAppend(record: AppendRecord): boolean {
    if (this.built) throw new TypeError('the batch is built')
    const { key, value, headers } = record
    const offsetDelta = record.offset === undefined ? this.lastOffsetDelta + 1 : record.offset - this.baseOffset
    if (offsetDelta <= this.lastOffsetDelta || offsetDelta > LARGEST_SIZE)
      throw new RangeError(`offset ${record.offset} after delta ${this.lastOffsetDelta}`)
    const first = this.count === 0
    const baseTimestamp = first && this.options.deleteHorizonMs === undefined ? record.timestamp : this.baseTimestamp
    const timestampDelta = difference(record.timestamp, baseTimestamp)
    const keyLength = lengthOf(key)
    const isGuessed = this.mayBeAscii(value, keyLength)
    const valueLength = isGuessed ? value.length : lengthOf(value)

    let bodySize =
      1 + sizeOfVarlong(timestampDelta) + sizeOfVarint(offsetDelta) + sizeOfVarint(keyLength) + sizeOfVarint(valueLength)
    if (keyLength > 0) bodySize += keyLength
    if (valueLength > 0) bodySize += valueLength
    const headerCount = headers === undefined ? 0 : headers.length
    bodySize += sizeOfVarint(headerCount)
    for (let i = 0; i < headerCount; i++) bodySize += sizeOfHeader(headers![i]!)

    const size = sizeOfVarint(bodySize) + bodySize
    if (!first && this.end + size > this.maxBytes) return false
    const bytes = this.room(size)

    let at = writeVarint(bytes, this.end, bodySize)
    bytes[at++] = 0 // attributes: none are defined
    at = writeVarlong(bytes, at, timestampDelta)
    at = writeVarint(bytes, at, offsetDelta)
    at = writePart(bytes, at, key, keyLength)
    if (isGuessed) {
      const start = writeVarint(bytes, at, valueLength)
      at = start + (bytes as unknown as Writable).utf8Write(value, start, MOST_BYTES_A_UNIT * valueLength)
      if (at !== start + valueLength) {
        this.isAscii = false
        return this.tryAppend(record)
      }
    } else at = writePart(bytes, at, value, valueLength)
    at = writeVarint(bytes, at, headerCount)
    for (let i = 0; i < headerCount; i++) {
      const header = headers![i]!
      at = writePart(bytes, at, header.key, lengthOf(header.key))
      at = writePart(bytes, at, header.value, lengthOf(header.value))
    }
    this.end = at
    this.count++
    this.lastOffsetDelta = offsetDelta
    this.baseTimestamp = baseTimestamp
    if (first || record.timestamp > this.maxTimestamp) this.maxTimestamp = record.timestamp
    return true
  }

  /** The whole batch. The builder is spent: its bytes are the batch. */
  build(): Buffer {
    if (this.built) throw new TypeError('the batch is built')
    if (this.count === 0) throw new RangeError('a batch needs a record')
    this.built = true
    const codec = this.options.codec ?? 'none'
    let bytes = this.bytes.subarray(0, this.end)
    if (codec !== 'none') {
      const records = compress(codec, bytes.subarray(RECORD_BATCH.size), this.options.level)
      bytes = Buffer.allocUnsafe(RECORD_BATCH.size + records.length)
      records.copy(bytes, RECORD_BATCH.size)
    }
    this.writeHeader(bytes, CODECS[codec].id)
    return bytes
  }

  private writeHeader(bytes: Buffer, codec: number): void {
    const { options } = this
    let attributes = codec
    if (options.timestampType === 'LogAppendTime') attributes |= LOG_APPEND_TIME_FLAG
    if (options.transactional) attributes |= TRANSACTIONAL_FLAG
    if (options.control) attributes |= CONTROL_FLAG
    if (options.deleteHorizonMs !== undefined) attributes |= DELETE_HORIZON_FLAG
    const maxTimestamp =
      options.timestampType === 'LogAppendTime' ? (options.logAppendTime ?? this.maxTimestamp) : this.maxTimestamp
    RECORD_BATCH.baseOffset.set(bytes, 0, this.baseOffset)
    RECORD_BATCH.batchLength.set(bytes, 0, bytes.length - LOG_OVERHEAD)
    RECORD_BATCH.partitionLeaderEpoch.set(bytes, 0, options.leaderEpoch ?? NO_LEADER_EPOCH)
    RECORD_BATCH.magic.set(bytes, 0, 2)
    RECORD_BATCH.attributes.set(bytes, 0, attributes)
    const { lastOffset } = options
    RECORD_BATCH.lastOffsetDelta.set(bytes, 0, lastOffset === undefined ? this.lastOffsetDelta : lastOffset - this.baseOffset)
    RECORD_BATCH.baseTimestamp.set(bytes, 0, this.baseTimestamp)
    RECORD_BATCH.maxTimestamp.set(bytes, 0, maxTimestamp)
    RECORD_BATCH.producerId.set(bytes, 0, options.producerId ?? NO_PRODUCER_ID)
    RECORD_BATCH.producerEpoch.set(bytes, 0, options.producerEpoch ?? NO_PRODUCER_EPOCH)
    RECORD_BATCH.baseSequence.set(bytes, 0, options.baseSequence ?? NO_SEQUENCE)
    RECORD_BATCH.recordCount.set(bytes, 0, this.count)
    RECORD_BATCH.crc.set(bytes, 0, crc32c(bytes, RECORD_BATCH.attributes.at))
  }

  /**
   * A long text is taken for ASCII until one is not, and so written in one pass instead of measured first. The room must do for the worst:
   * there the engine writes without measuring, and a text that is longer than it was taken for is written whole, so that this is seen.
   */
  private mayBeAscii(value: Buffer | string | null, keyLength: number): value is string {
    if (!this.isAscii || typeof value !== 'string' || value.length <= SHORT_STRING) return false
    const most = this.end + MOST_BYTES_BEFORE_VALUE + Math.max(keyLength, 0) + MOST_BYTES_A_UNIT * value.length
    return most <= this.bytes.length
  }

  private room(size: number): Buffer {
    const needed = this.end + size
    if (needed > LARGEST_SIZE) throw new RangeError(`a batch of ${needed} bytes is too large`)
    if (needed > this.bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(needed, Math.min(this.bytes.length * 2, LARGEST_SIZE)))
      this.bytes.copy(larger, 0, 0, this.end)
      this.bytes = larger
    }
    return this.bytes
  }
}

/** Bytes that UTF-8 takes at most for each unit of a string's length. */
const MOST_BYTES_A_UNIT = 3
/** Lengths, attributes, timestamp and offset of a record, each in its longest form. */
const MOST_BYTES_BEFORE_VALUE = 5 + 1 + 10 + 5 + 5 + 5

/** Strings up to this length are measured and written here: calling into the engine costs more. */
const SHORT_STRING = 32

/** In bytes; -1 for null. */
function lengthOf(part: Buffer | string | null): number {
  if (part === null) return -1
  if (typeof part !== 'string') {
    const { length } = part
    // Without a length it would spoil every record behind it as well.
    if (typeof length !== 'number')
      throw new TypeError(`a part of a record is neither bytes nor text nor null but ${typeof part}`)
    return length
  }
  if (part.length > SHORT_STRING) return Buffer.byteLength(part)
  for (let i = 0; i < part.length; i++) if (part.charCodeAt(i) >= 0x80) return Buffer.byteLength(part)
  return part.length
}

function sizeOfHeader(header: { readonly key: string; readonly value: Buffer | string | null }): number {
  const keyLength = lengthOf(header.key)
  const valueLength = lengthOf(header.value)
  return sizeOfVarint(keyLength) + keyLength + sizeOfVarint(valueLength) + Math.max(valueLength, 0)
}

/** What Node has behind Buffer.write, without its checks: the room was measured. */
interface Writable {
  utf8Write(text: string, at: number, length: number): number
  latin1Write(text: string, at: number, length: number): number
}

function writePart(bytes: Buffer, at: number, part: Buffer | string | null, length: number): number {
  const start = writeVarint(bytes, at, length)
  if (length <= 0) return start
  if (typeof part !== 'string') bytes.set(part!, start)
  else if (length <= SHORT_STRING && length === part.length)
    for (let i = 0; i < length; i++) bytes[start + i] = part.charCodeAt(i)
  // A byte for each character is ASCII, which is copied; utf8Write would measure it again.
  else if (length === part.length) (bytes as unknown as Writable).latin1Write(part, start, length)
  else (bytes as unknown as Writable).utf8Write(part, start, length)
  return start + length
}

function difference(a: number | bigint, b: number | bigint): number | bigint {
  if (typeof a === 'number' && typeof b === 'number') {
    const delta = a - b
    if (Number.isSafeInteger(delta)) return delta
  }
  return BigInt.asIntN(64, BigInt(a) - BigInt(b))
}
