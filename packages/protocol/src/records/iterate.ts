/** Walks over batches that follow one another in a buffer: a Produce body, a Fetch answer, a piece of a segment. */
import { RecordBatch } from './batch.js'
import { corrupt } from './errors.js'
import { HEADER_SIZE_UP_TO_MAGIC, LOG_OVERHEAD, RECORD_BATCH, SMALLEST_LENGTH } from './layout.js'

export interface BatchExtent {
  /** Whole size, offset and length included. May be more than what is there. */
  readonly sizeInBytes: number
  readonly magic: number
}

const LARGEST_SIZE = 0x7fffffff

/**
 * What the next batch says of itself; null when too few bytes are left to tell (17: up to the magic).
 * @throws RecordsError CORRUPT_MESSAGE for a length no batch can have, or an unknown magic
 */
export function batchAt(bytes: Buffer, at: number): BatchExtent | null {
  if (bytes.length - at < LOG_OVERHEAD) return null
  const length = RECORD_BATCH.batchLength.get(bytes, at)
  if (length < SMALLEST_LENGTH || length + LOG_OVERHEAD > LARGEST_SIZE) throw corrupt(`batch length ${length}`, at)
  if (bytes.length - at < HEADER_SIZE_UP_TO_MAGIC) return null
  const magic = RECORD_BATCH.magic.get(bytes, at)
  if (magic < 0 || magic > 2) throw corrupt(`magic ${magic}`, at)
  return { sizeInBytes: length + LOG_OVERHEAD, magic }
}

/**
 * The whole batches of magic 2 in `bytes`; ends before one that is cut off, as a Fetch answer may have at its end.
 * @throws RecordsError CORRUPT_MESSAGE, also for magic 0 and 1 (see readMessageSet)
 */
export function* iterateBatches(bytes: Buffer, from = 0): Generator<RecordBatch, void, undefined> {
  let at = from
  for (;;) {
    const extent = batchAt(bytes, at)
    if (extent === null || extent.sizeInBytes > bytes.length - at) return
    const batch = new RecordBatch(bytes, at)
    yield batch
    at += batch.sizeInBytes
  }
}
