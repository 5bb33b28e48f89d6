/** What the producer state needs of a record batch: its header, and the marker of a control batch that ends a transaction. */
import { type RecordBatch, RecordsError, readControlRecord } from '@mq/protocol'
import { exactly, type ProducerBatch, type TransactionMarker } from './producer-entry.js'

/** Null for a batch without a producer id. */
export function producerBatch(batch: RecordBatch): ProducerBatch | null {
  if (!batch.hasProducerId) return null
  return {
    producerId: batch.producerId,
    producerEpoch: batch.producerEpoch,
    baseSequence: batch.baseSequence,
    lastSequence: batch.lastSequence,
    baseOffset: batch.baseOffset,
    lastOffset: batch.lastOffset,
    maxTimestamp: exactly(batch.maxTimestamp),
    isTransactional: batch.isTransactional,
    isControl: batch.isControl,
    marker: batch.isControl ? markerOf(batch) : null,
  }
}

/** A control batch has one record that counts; an empty one (compacted away) and other kinds end nothing. */
function markerOf(batch: RecordBatch): TransactionMarker | null {
  try {
    for (const record of batch.records()) {
      const { type, coordinatorEpoch } = readControlRecord(record)
      if (coordinatorEpoch === null) return null
      return { commit: type === 'COMMIT', coordinatorEpoch, timestamp: exactly(record.timestamp) }
    }
    return null
  } catch (error) {
    if (error instanceof RecordsError) return null
    throw error
  }
}
