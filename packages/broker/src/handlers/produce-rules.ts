/** Pure: what a produce request may carry, told from the headers of its batches alone. What is inside them the log checks. */
import { batchAt, RECORD_BATCH, RecordsError } from '@mq/protocol'

export interface BatchHeaders {
  readonly kind: 'headers'
  /** Whole batches; what is cut off at the end does not count, as in Kafka. */
  readonly count: number
  /** Of the first one. -1 when there is none. */
  readonly magic: number
  readonly codec: number
  /** Any of them belongs to a transaction. */
  readonly isTransactional: boolean
}

export type RecordsRefused = 'CORRUPT_MESSAGE' | 'INVALID_RECORD' | 'UNSUPPORTED_COMPRESSION_TYPE'

const NO_RECORDS: BatchHeaders = { kind: 'headers', count: 0, magic: -1, codec: 0, isTransactional: false }
const CODEC_MASK = 7
const ATTRIBUTES = RECORD_BATCH.attributes.at
const TRANSACTIONAL = 0x10
const ZSTD = 4

/** The headers of one partition's records, or CORRUPT_MESSAGE for a length or magic that no batch can have. */
export function headersOf(records: Buffer | null): BatchHeaders | 'CORRUPT_MESSAGE' {
  if (records === null) return NO_RECORDS
  let at = 0
  let count = 0
  let magic = -1
  let codec = 0
  let isTransactional = false
  try {
    for (;;) {
      const extent = batchAt(records, at)
      if (extent === null || extent.sizeInBytes > records.length - at) break
      const attributes = attributesOf(records, at, extent.magic)
      if (count === 0) {
        magic = extent.magic
        codec = attributes & CODEC_MASK
      }
      if (extent.magic === 2 && (attributes & TRANSACTIONAL) !== 0) isTransactional = true
      count++
      at += extent.sizeInBytes
    }
  } catch (error) {
    if (error instanceof RecordsError) return 'CORRUPT_MESSAGE'
    throw error
  }
  return { kind: 'headers', count, magic, codec, isTransactional }
}

/** Magic 2 has them at byte 21, the older formats at byte 17. */
function attributesOf(records: Buffer, at: number, magic: number): number {
  const place = at + (magic === 2 ? ATTRIBUTES : 17)
  if (magic === 2) return place + 2 <= records.length ? records.readInt16BE(place) : 0
  return place < records.length ? records.readInt8(place) : 0
}

/**
 * What the version of the request allows. From v3 on: one batch of magic 2, and zstd from v7 on only (KIP-110). Older requests
 * carry message sets, which the log checks. Null records are no records (Kafka answers nothing at all to them).
 */
export function allowedByVersion(version: number, records: Buffer | null, headers: BatchHeaders): RecordsRefused | 'allowed' {
  if (records === null) return 'INVALID_RECORD'
  if (version < 3) return 'allowed'
  if (headers.count === 0 || headers.magic !== 2) return 'INVALID_RECORD'
  if (version < 7 && headers.codec === ZSTD) return 'UNSUPPORTED_COMPRESSION_TYPE'
  if (headers.count > 1) return 'INVALID_RECORD'
  return 'allowed'
}
