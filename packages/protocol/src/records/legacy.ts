/** Reads message sets: messages of magic 0 and 1, and the messages inside compressed ones. */
import { codecName, decompress } from '../compression/index.js'
import { crc32 } from '../crc.js'
import { InvariantError } from '../wire/failures.js'
import type { ReadLimits } from './batch.js'
import { corrupt, invalid } from './errors.js'
import { batchAt } from './iterate.js'
import {
  CODEC_MASK,
  LOG_APPEND_TIME_FLAG,
  LOG_OVERHEAD,
  NO_SEQUENCE,
  NO_TIMESTAMP,
  SMALLEST_LENGTH,
  type TimestampType,
} from './layout.js'
import { headerSize, MESSAGE, MESSAGE_V1, smallestMessage } from './legacy-layout.js'
import { RecordView } from './record.js'

/** One outer message: a record, or the wrapper of several. A read-only view, nothing is copied. */
export class LegacyBatch {
  readonly sizeInBytes: number

  /** @throws RecordsError CORRUPT_MESSAGE if it is not whole, not magic 0 or 1, or its offset is beyond 2^53−1 */
  constructor(
    readonly bytes: Buffer,
    readonly at: number = 0,
  ) {
    const available = bytes.length - at
    if (available < MESSAGE.size) throw corrupt(`message header needs ${MESSAGE.size} bytes, ${available} are there`, at)
    this.sizeInBytes = MESSAGE.messageSize.get(bytes, at) + LOG_OVERHEAD
    if (this.sizeInBytes > available) throw corrupt(`message of ${this.sizeInBytes} bytes, ${available} are there`, at)
    if (this.magic !== 0 && this.magic !== 1) throw corrupt(`magic ${this.magic} where a message of magic 0 or 1 is expected`, at)
    if (this.sizeInBytes < smallestMessage(this.magic)) throw corrupt(`message of ${this.sizeInBytes} bytes`, at)
    if (!Number.isSafeInteger(this.lastOffset)) throw corrupt(`offset ${MESSAGE.offset.exact(bytes, at)}`, at)
  }

  get magic(): number {
    return MESSAGE.magic.get(this.bytes, this.at)
  }
  /** The offset field: of the record, or of the last record in a wrapper. */
  get lastOffset(): number {
    return MESSAGE.offset.get(this.bytes, this.at)
  }
  get nextOffset(): number {
    return this.lastOffset + 1
  }
  get crc(): number {
    return MESSAGE.crc.get(this.bytes, this.at)
  }
  get attributes(): number {
    return MESSAGE.attributes.get(this.bytes, this.at)
  }
  get codec(): number {
    return this.attributes & CODEC_MASK
  }
  /** -1 in magic 0. */
  get maxTimestamp(): number {
    return this.magic === 0 ? NO_TIMESTAMP : MESSAGE_V1.timestamp.get(this.bytes, this.at)
  }
  /** The same, a bigint where a number would not be exact. */
  get exactMaxTimestamp(): number | bigint {
    return this.magic === 0 ? NO_TIMESTAMP : MESSAGE_V1.timestamp.exact(this.bytes, this.at)
  }
  get timestampType(): TimestampType | 'NoTimestampType' {
    if (this.magic === 0) return 'NoTimestampType'
    return this.attributes & LOG_APPEND_TIME_FLAG ? 'LogAppendTime' : 'CreateTime'
  }

  crcIsValid(): boolean {
    return this.crc === crc32(this.bytes, this.at + MESSAGE.magic.at, this.at + this.sizeInBytes)
  }

  /** The bytes of this message alone, not copied. */
  slice(): Buffer {
    return this.bytes.subarray(this.at, this.at + this.sizeInBytes)
  }

  /** Offset of the first record: a wrapper has to be opened for it. */
  baseOffset(limits: ReadLimits = {}): number {
    if (this.codec === 0) return this.lastOffset
    for (const { offset } of this.records(limits)) return offset
    throw new InvariantError('a wrapper without messages was not refused')
  }

  /**
   * The record, or all those in the wrapper, one by one. The CRC of each record is checked, that of a wrapper is not (see crcIsValid).
   * Iterating throws RecordsError CORRUPT_MESSAGE, INVALID_RECORD, UNSUPPORTED_COMPRESSION_TYPE.
   */
  *records(limits: ReadLimits = {}): Generator<RecordView, void, undefined> {
    if (this.codec === 0) yield this.record(this.lastOffset, null)
    else yield* this.inner(limits)
  }

  private *inner(limits: ReadLimits): Generator<RecordView, void, undefined> {
    const { at, magic } = this
    if (codecName(this.codec) === 'zstd') throw invalid('zstd in a message set', at)
    const value = this.parts().value
    if (value === null) throw invalid('compressed message without a value', at)
    const lz4Framing = magic === 0 ? 'kafka-0.8' : 'standard'
    const messages = decompress(this.codec, value, { ...limits, lz4Framing })

    // The offsets inside count from the last one, which has to be found first. Messages are not kept: there may be millions.
    let last: LegacyBatch | undefined
    for (const message of innerMessages(messages)) {
      if (message.codec !== 0) throw invalid('compressed message in a compressed message', message.at)
      last = message
    }
    if (last === undefined) throw invalid('compressed message without messages', at)
    let base = 0
    // Some librdkafka versions left the offset of a wrapper at 0 and the offsets inside relative: then the base is 0.
    if (magic === 1 && this.lastOffset !== 0) {
      base = this.lastOffset - last.lastOffset
      if (base < 0) throw invalid(`wrapper with offset ${this.lastOffset} around offset ${last.lastOffset}`, at)
    }
    const appendTime = this.timestampType === 'LogAppendTime' ? this.exactMaxTimestamp : null
    for (const message of innerMessages(messages)) {
      yield message.record(message.lastOffset + base, message.magic === 1 ? appendTime : null)
    }
  }

  /** @param appendTime time of the wrapper, if it counts instead of the record's own */
  private record(offset: number, appendTime: number | bigint | null): RecordView {
    if (!this.crcIsValid()) throw corrupt('message with a wrong CRC', this.at)
    if (!Number.isSafeInteger(offset)) throw corrupt(`offset ${offset}`, this.at)
    const { keyAt, keyLength, valueAt, valueLength } = this.parts()
    const exact = appendTime ?? this.exactMaxTimestamp
    const size = this.sizeInBytes
    return new RecordView(
      this.bytes,
      offset,
      Number(exact),
      exact,
      NO_SEQUENCE,
      size,
      keyAt,
      keyLength,
      valueAt,
      valueLength,
      0,
      0,
    )
  }

  private parts(): { keyAt: number; keyLength: number; valueAt: number; valueLength: number; value: Buffer | null } {
    const { bytes } = this
    const end = this.at + this.sizeInBytes
    const keyAt = this.at + headerSize(this.magic) + 4
    const keyLength = bytes.readInt32BE(keyAt - 4)
    const valueAt = keyAt + Math.max(keyLength, 0) + 4
    if (valueAt > end) throw invalid(`key length ${keyLength}`, keyAt - 4)
    const valueLength = bytes.readInt32BE(valueAt - 4)
    if (valueLength > end - valueAt) throw invalid(`value length ${valueLength}`, valueAt - 4)
    const value = valueLength < 0 ? null : bytes.subarray(valueAt, valueAt + valueLength)
    return { keyAt, keyLength: Math.max(keyLength, -1), valueAt, valueLength: Math.max(valueLength, -1), value }
  }
}

/** What lies in a wrapper; ends before a message that is cut off, as Kafka does, whatever its magic. */
function* innerMessages(bytes: Buffer): Generator<LegacyBatch, void, undefined> {
  let at = 0
  while (bytes.length - at >= LOG_OVERHEAD) {
    const size = MESSAGE.messageSize.get(bytes, at)
    if (size < SMALLEST_LENGTH) throw corrupt(`message size ${size}`, at)
    if (size > bytes.length - at - LOG_OVERHEAD) return
    const magic = MESSAGE.magic.get(bytes, at)
    if (magic !== 0 && magic !== 1) throw invalid(`message of magic ${magic} in a message set`, at)
    yield new LegacyBatch(bytes, at)
    at += LOG_OVERHEAD + size
  }
}

/**
 * The whole outer messages of a message set; ends before one that is cut off.
 * @throws RecordsError CORRUPT_MESSAGE, also for a batch of magic 2 (see iterateAnyBatches)
 */
export function* readMessageSet(bytes: Buffer, from = 0): Generator<LegacyBatch, void, undefined> {
  let at = from
  for (;;) {
    const extent = batchAt(bytes, at)
    if (extent === null || extent.sizeInBytes > bytes.length - at) return
    yield new LegacyBatch(bytes, at)
    at += extent.sizeInBytes
  }
}
