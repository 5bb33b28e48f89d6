/** Batches of any magic, as old segments and answers to old fetches may mix them. */
import { RecordBatch } from './batch.js'
import { batchAt } from './iterate.js'
import { LegacyBatch } from './legacy.js'

export type AnyBatch = RecordBatch | LegacyBatch

/** The whole batches in `bytes`; ends before one that is cut off. Throws RecordsError CORRUPT_MESSAGE. */
export function* iterateAnyBatches(bytes: Buffer, from = 0): Generator<AnyBatch, void, undefined> {
  let at = from
  for (;;) {
    const extent = batchAt(bytes, at)
    if (extent === null || extent.sizeInBytes > bytes.length - at) return
    yield extent.magic === 2 ? new RecordBatch(bytes, at) : new LegacyBatch(bytes, at)
    at += extent.sizeInBytes
  }
}
