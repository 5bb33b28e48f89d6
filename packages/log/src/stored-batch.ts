/**
 * The header of a batch as it lies in a data file, whichever format it has: enough to walk a segment, find an offset or a time,
 * and tell whether the bytes are whole. Magic 2 is a record batch; 0 and 1 are single messages, perhaps wrappers of others.
 *
 *   magic 0, 1:  | offset int64 | size int32 | CRC-32 uint32 | magic int8 | attributes int8 | timestamp int64 (magic 1) | key, value
 *
 * A wrapper's offset is that of its last message, its timestamp the largest.
 */
import {
  batchAt,
  crc32,
  crc32c,
  fixed,
  LegacyBatch,
  layout,
  NO_TIMESTAMP,
  RECORD_BATCH,
  RecordBatch,
  RecordsError,
} from '@mq/protocol'

const OLD_MESSAGE = layout({
  offset: fixed.int64, //      0
  size: fixed.int32, //        8
  crc: fixed.uint32, //       12  over all that follows it
  magic: fixed.int8, //       16
  attributes: fixed.int8, //  17  |3 time type (magic 1)|2..0 codec|
  timestamp: fixed.int64, //  18  magic 1 only
}) //                         26

/** Whole bytes of the batch that begins at `at`; null when its header is not all there or says nonsense. */
export function storedSizeAt(bytes: Buffer, at: number): number | null {
  try {
    return batchAt(bytes, at)?.sizeInBytes ?? null
  } catch (error) {
    if (error instanceof RecordsError) return null
    throw error
  }
}

export function lastOffsetAt(bytes: Buffer, at: number): number {
  const base = RECORD_BATCH.baseOffset.get(bytes, at)
  return RECORD_BATCH.magic.get(bytes, at) === 2 ? base + RECORD_BATCH.lastOffsetDelta.get(bytes, at) : base
}

/** For magic 0 and 1 the only offset that the header has: the last. */
export function baseOffsetAt(bytes: Buffer, at: number): number {
  return RECORD_BATCH.baseOffset.get(bytes, at)
}

export function maxTimestampAt(bytes: Buffer, at: number): number {
  const magic = RECORD_BATCH.magic.get(bytes, at)
  if (magic === 2) return RECORD_BATCH.maxTimestamp.get(bytes, at)
  return magic === 1 ? OLD_MESSAGE.timestamp.get(bytes, at) : NO_TIMESTAMP
}

/** One whole batch at a place in a segment. */
export interface StoredBatch {
  /** In the segment file. */
  readonly position: number
  /** The buffer it was read into, and where it begins there. */
  readonly bytes: Buffer
  readonly at: number
  readonly sizeInBytes: number
  readonly magic: number
  readonly baseOffset: number
  readonly lastOffset: number
  readonly maxTimestamp: number
}

export function storedBatch(bytes: Buffer, at: number, sizeInBytes: number, position: number): StoredBatch {
  return {
    position,
    bytes,
    at,
    sizeInBytes,
    magic: RECORD_BATCH.magic.get(bytes, at),
    baseOffset: baseOffsetAt(bytes, at),
    lastOffset: lastOffsetAt(bytes, at),
    maxTimestamp: maxTimestampAt(bytes, at),
  }
}

/** The checksum in a header, how it is reckoned, and from which byte of the batch on. */
export interface StoredChecksum {
  readonly crc: number
  readonly sum: typeof crc32c
  readonly from: number
}

export function storedChecksumAt(bytes: Buffer, at: number): StoredChecksum {
  return RECORD_BATCH.magic.get(bytes, at) === 2
    ? { crc: RECORD_BATCH.crc.get(bytes, at), sum: crc32c, from: RECORD_BATCH.attributes.at }
    : { crc: OLD_MESSAGE.crc.get(bytes, at), sum: crc32, from: OLD_MESSAGE.magic.at }
}

/** Whether the bytes are what was written: sizes, offsets and checksum. Null if so. */
export function storedBatchProblem({ bytes, at, magic }: StoredBatch): string | null {
  try {
    return magic === 2 ? recordBatchProblem(new RecordBatch(bytes, at)) : messageProblem(new LegacyBatch(bytes, at))
  } catch (error) {
    if (error instanceof RecordsError) return error.message
    throw error
  }
}

function recordBatchProblem(batch: RecordBatch): string | null {
  if (batch.lastOffsetDelta < 0) return `last offset delta ${batch.lastOffsetDelta}`
  return batch.crcIsValid() ? null : 'the CRC does not match'
}

const messageProblem = (message: LegacyBatch): string | null => (message.crcIsValid() ? null : 'the CRC does not match')

/**
 * Whether a batch may stand where it does: offsets only rise, and fit the four bytes that an index has for them. Null if so.
 * `nextOffset` is one after the last offset before it, the segment's base offset at its start.
 */
export function placeProblem(
  { magic, baseOffset, lastOffset }: StoredBatch,
  nextOffset: number,
  segmentBase: number,
): string | null {
  const first = magic === 2 ? baseOffset : lastOffset
  if (first < nextOffset) return `offset ${first} where ${nextOffset} or more must come`
  return lastOffset - segmentBase <= 0x7fff_ffff ? null : `offset ${lastOffset} is too far from the base`
}

/** What is wrong with the bytes after the last whole batch of a file: `header` are the first of them, `sizeInBytes` counts all. */
export function remainderProblem(header: Buffer, sizeInBytes: number): string {
  const size = storedSizeAt(header, 0)
  if (size !== null) return `a batch of ${size} bytes, of which ${sizeInBytes} are there`
  return `${sizeInBytes} bytes that are no batch${header.every((byte) => byte === 0) ? ': zeros' : ''}`
}

/** Whether a batch of this size has room for its own header. */
export function headerIsWhole(bytes: Buffer, at: number, sizeInBytes: number): boolean {
  const magic = RECORD_BATCH.magic.get(bytes, at)
  return sizeInBytes >= (magic === 2 ? RECORD_BATCH.size : magic === 1 ? OLD_MESSAGE.size : OLD_MESSAGE.timestamp.at)
}
