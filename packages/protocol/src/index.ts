export * from './config.js'

// Records, compression and small functions.
export { crc32, crc32c } from './crc.js'
export { type Field, fixed, type Int64Field, type Layout, layout } from './layout.js'
export { type ReadLimits, RecordBatch } from './records/batch.js'
export { type AppendRecord, BatchBuilder, type BatchOptions } from './records/builder.js'
export { RecordCursor } from './records/cursor.js'
export { RecordsError, type RecordsErrorName } from './records/errors.js'
export { type BatchExtent, batchAt, iterateBatches } from './records/iterate.js'
export {
  addToSequence,
  HEADER_SIZE_UP_TO_MAGIC,
  LOG_OVERHEAD,
  NO_LEADER_EPOCH,
  NO_PRODUCER_EPOCH,
  NO_PRODUCER_ID,
  NO_SEQUENCE,
  NO_TIMESTAMP,
  RECORD_BATCH,
  type TimestampType,
} from './records/layout.js'
export { type Record, type RecordHeader, RecordView } from './records/record.js'
