/**
 * A read-only view of one record batch (magic 2) where it lies. Made only over a whole batch with sound lengths;
 * nothing is copied, and records become objects one by one as they are asked for.
 */
import { decompress } from '../compression/index.js'
import { crc32c } from '../crc.js'
import { RecordCursor } from './cursor.js'
import { corrupt, invalid } from './errors.js'
import {
  addToSequence,
  CODEC_MASK,
  CONTROL_FLAG,
  DELETE_HORIZON_FLAG,
  LOG_APPEND_TIME_FLAG,
  LOG_OVERHEAD,
  NO_PRODUCER_ID,
  NO_SEQUENCE,
  RECORD_BATCH,
  type TimestampType,
  TRANSACTIONAL_FLAG,
} from './layout.js'
import { RecordView } from './record.js'
import { type Survey, surveyPlain } from './survey.js'

export interface ReadLimits {
  /** Most bytes that the records may take when decompressed; default 64 MiB. */
  readonly maxOutputBytes?: number
}

export class RecordBatch {
  /** Bytes of the whole batch, offset and length included. */
  readonly sizeInBytes: number

  /**
   * @param bytes holds the batch, and perhaps others
   * @param at where it begins
   * @throws RecordsError CORRUPT_MESSAGE if it is not whole, not magic 2, or has offsets beyond 2^53−1
   */
  constructor(
    readonly bytes: Buffer,
    readonly at: number = 0,
  ) {
    const available = bytes.length - at
    if (available < RECORD_BATCH.size) throw corrupt(`batch header needs ${RECORD_BATCH.size} bytes, ${available} are there`, at)
    this.sizeInBytes = RECORD_BATCH.batchLength.get(bytes, at) + LOG_OVERHEAD
    if (this.sizeInBytes < RECORD_BATCH.size) throw corrupt(`batch of ${this.sizeInBytes} bytes is shorter than its header`, at)
    if (this.sizeInBytes > available) throw corrupt(`batch of ${this.sizeInBytes} bytes, ${available} are there`, at)
    if (this.magic !== 2) throw corrupt(`magic ${this.magic} where a batch of magic 2 is expected`, at)
    if (!Number.isSafeInteger(this.baseOffset) || !Number.isSafeInteger(this.nextOffset)) {
      throw corrupt(`base offset ${RECORD_BATCH.baseOffset.exact(bytes, at)}`, at)
    }
  }

  get baseOffset(): number {
    return RECORD_BATCH.baseOffset.get(this.bytes, this.at)
  }
  get partitionLeaderEpoch(): number {
    return RECORD_BATCH.partitionLeaderEpoch.get(this.bytes, this.at)
  }
  get magic(): number {
    return RECORD_BATCH.magic.get(this.bytes, this.at)
  }
  get crc(): number {
    return RECORD_BATCH.crc.get(this.bytes, this.at)
  }
  get attributes(): number {
    return RECORD_BATCH.attributes.get(this.bytes, this.at)
  }
  /** 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd; 5 to 7 on bad input. */
  get codec(): number {
    return this.attributes & CODEC_MASK
  }
  get lastOffsetDelta(): number {
    return RECORD_BATCH.lastOffsetDelta.get(this.bytes, this.at)
  }
  get lastOffset(): number {
    return this.baseOffset + this.lastOffsetDelta
  }
  get nextOffset(): number {
    return this.lastOffset + 1
  }
  /** The raw field: base of the timestamp deltas, and the delete horizon when that bit is set. */
  get baseTimestamp(): number {
    return RECORD_BATCH.baseTimestamp.get(this.bytes, this.at)
  }
  get maxTimestamp(): number {
    return RECORD_BATCH.maxTimestamp.get(this.bytes, this.at)
  }
  /** The same, a bigint where a number would not be exact. */
  get exactMaxTimestamp(): number | bigint {
    return RECORD_BATCH.maxTimestamp.exact(this.bytes, this.at)
  }
  get timestampType(): TimestampType {
    return this.attributes & LOG_APPEND_TIME_FLAG ? 'LogAppendTime' : 'CreateTime'
  }
  get producerId(): number {
    return RECORD_BATCH.producerId.get(this.bytes, this.at)
  }
  get producerEpoch(): number {
    return RECORD_BATCH.producerEpoch.get(this.bytes, this.at)
  }
  get baseSequence(): number {
    return RECORD_BATCH.baseSequence.get(this.bytes, this.at)
  }
  get lastSequence(): number {
    const base = this.baseSequence
    return base === NO_SEQUENCE ? NO_SEQUENCE : addToSequence(base, this.lastOffsetDelta)
  }
  /** What the header says; the cursor finds out whether it is true. */
  get recordCount(): number {
    return RECORD_BATCH.recordCount.get(this.bytes, this.at)
  }
  get isTransactional(): boolean {
    return (this.attributes & TRANSACTIONAL_FLAG) !== 0
  }
  get isControl(): boolean {
    return (this.attributes & CONTROL_FLAG) !== 0
  }
  get hasProducerId(): boolean {
    return this.producerId > NO_PRODUCER_ID
  }
  /** When the tombstones of this batch may go (KIP-534), null if not yet decided. */
  get deleteHorizonMs(): number | null {
    return this.attributes & DELETE_HORIZON_FLAG ? this.baseTimestamp : null
  }

  crcIsValid(): boolean {
    return this.crc === this.computeCrc()
  }

  /** The CRC that the bytes should carry. */
  computeCrc(): number {
    return crc32c(this.bytes, this.at + RECORD_BATCH.attributes.at, this.at + this.sizeInBytes)
  }

  /** The bytes of this batch alone, not copied. */
  slice(): Buffer {
    const isAll = this.at === 0 && this.sizeInBytes === this.bytes.length
    return isAll ? this.bytes : this.bytes.subarray(this.at, this.at + this.sizeInBytes)
  }

  /**
   * A cursor over the records; a compressed batch is decompressed for it, once per call.
   * @throws RecordsError INVALID_RECORD, UNSUPPORTED_COMPRESSION_TYPE
   */
  cursor(limits: ReadLimits = {}): RecordCursor {
    const start = this.at + RECORD_BATCH.size
    const end = this.at + this.sizeInBytes
    // Like Kafka, nothing is decompressed for a batch that says it has no records (or, and then the cursor throws, fewer).
    if (this.codec === 0 || this.recordCount <= 0) return new RecordCursor(this.bytes, start, end, this.recordCount)
    const records = decompress(this.codec, this.bytes.subarray(start, end), limits)
    return new RecordCursor(records, 0, records.length, this.recordCount)
  }

  /** What the records say together; null unless they are uncompressed and plain (survey.ts): then a cursor finds out. */
  survey(): Survey | null {
    if (this.codec !== 0) return null
    return surveyPlain(this.bytes, this.at + RECORD_BATCH.size, this.at + this.sizeInBytes, this.recordCount)
  }

  /** The records, decoded one by one. Iterating throws RecordsError where the bytes are not sound. */
  records(limits: ReadLimits = {}): Iterable<RecordView> {
    return { [Symbol.iterator]: () => new RecordIterator(this, this.cursor(limits)) }
  }
}

class RecordIterator implements Iterator<RecordView> {
  private readonly baseOffset: number
  private readonly baseTimestamp: number
  private readonly baseSequence: number
  /** Not null: all records have this time. */
  private readonly appendTime: number | null

  constructor(
    private readonly batch: RecordBatch,
    private readonly cursor: RecordCursor,
  ) {
    this.baseOffset = batch.baseOffset
    this.baseTimestamp = batch.baseTimestamp
    this.baseSequence = batch.baseSequence
    this.appendTime = batch.timestampType === 'LogAppendTime' ? batch.maxTimestamp : null
  }

  next(): IteratorResult<RecordView> {
    const cursor = this.cursor
    if (!cursor.next()) return { done: true, value: undefined }
    let timestamp = this.appendTime ?? this.baseTimestamp + cursor.timestampDelta
    let exact: number | bigint = timestamp
    if (!Number.isSafeInteger(timestamp) || !Number.isSafeInteger(cursor.timestampDelta)) {
      exact = this.exactTimestamp()
      timestamp = Number(exact)
    }
    const offset = this.baseOffset + cursor.offsetDelta
    if (!Number.isSafeInteger(offset)) throw invalid(`offset delta ${cursor.offsetDelta} from ${this.baseOffset}`, cursor.at)
    const record = new RecordView(
      cursor.bytes,
      offset,
      timestamp,
      exact,
      this.baseSequence >= 0 ? addToSequence(this.baseSequence, cursor.offsetDelta) : NO_SEQUENCE,
      cursor.sizeInBytes,
      cursor.keyAt,
      cursor.keyLength,
      cursor.valueAt,
      cursor.valueLength,
      cursor.headersAt,
      cursor.headerCount,
    )
    return { done: false, value: record }
  }

  /** Sums of int64 wrap around, as they do in Java. */
  private exactTimestamp(): number | bigint {
    const { bytes, at } = this.batch
    if (this.appendTime !== null) return this.batch.exactMaxTimestamp
    const sum = BigInt(RECORD_BATCH.baseTimestamp.exact(bytes, at)) + BigInt(this.cursor.exactTimestampDelta())
    const wrapped = BigInt.asIntN(64, sum)
    return Number.isSafeInteger(Number(wrapped)) ? Number(wrapped) : wrapped
  }
}
