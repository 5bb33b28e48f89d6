/** The records of a batch of any format. */
import { LegacyBatch, RecordBatch, type RecordView } from '@mq/protocol'
import type { StoredBatch } from './stored-batch.js'

export function recordsOfStoredBatch({ bytes, at, magic }: StoredBatch): Iterable<RecordView> {
  return magic === 2 ? new RecordBatch(bytes, at).records() : new LegacyBatch(bytes, at).records()
}
