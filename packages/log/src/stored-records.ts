/** The records of a batch of any format. */
import { LegacyBatch, type Record, RecordBatch } from '@mq/protocol'
import type { StoredBatch } from './stored-batch.js'

export function recordsOfStoredBatch({ bytes, at, magic }: StoredBatch): Iterable<Record> {
  return magic === 2 ? new RecordBatch(bytes, at).records() : new LegacyBatch(bytes, at).records()
}
