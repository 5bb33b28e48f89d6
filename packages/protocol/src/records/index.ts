/** The public face of the room of records: batches, old message sets, compression, checksums, layouts and small functions. */

export {
  CODECS,
  type CodecName,
  CompressionError,
  codecName,
  compress,
  type DecompressLimits,
  decompress,
  type Levels,
  MAX_DECOMPRESSED_BYTES,
  OverLimitError,
  useCodecs,
  type Way,
} from '../compression/index.js'
export { crc32, crc32c } from '../crc.js'
export { javaStringHash, murmur2, partitionForGroup, partitionForKey } from '../functions/partition.js'
export {
  type ScramCredential,
  type ScramMechanism,
  scramCredential,
  scramCredentialText,
  scramSaltedPassword,
} from '../functions/scram.js'
export { newUuid, uuidFromString, uuidToString, ZERO_UUID } from '../functions/uuid.js'
export { type Field, fixed, type Int64Field, type Layout, layout } from '../layout.js'
export { type BrokerId, formatTopicPartition, type LeaderEpoch, type TopicPartition } from '../topic-partition.js'
export { type AbortedTransaction, AbortedTransactions } from './aborted.js'
export { type AnyBatch, iterateAnyBatches } from './any.js'
export { type ReadLimits, RecordBatch } from './batch.js'
export { type AppendRecord, BatchBuilder, type BatchOptions } from './builder.js'
export {
  type ControlRecord,
  type ControlType,
  type EndTransactionMarker,
  endTransactionMarker,
  readControlRecord,
} from './control.js'
export { downConvert, type UpConvertOptions, upConvert } from './convert.js'
export { RecordCursor } from './cursor.js'
export { RecordsError, type RecordsErrorName } from './errors.js'
export { type BatchExtent, batchAt, iterateBatches } from './iterate.js'
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
} from './layout.js'
export { LegacyBatch, readMessageSet } from './legacy.js'
export { type AppendMessage, MessageSetBuilder, type MessageSetOptions } from './legacy-builder.js'
export type { LegacyMagic } from './legacy-layout.js'
export { type Record, type RecordHeader, RecordView } from './record.js'
export { emptied, rewritten, rewrittenMessages } from './rewrite.js'
export {
  sizeOfUnsignedVarint,
  sizeOfVarint,
  sizeOfVarlong,
  writeUnsignedVarint,
  writeVarint,
  writeVarlong,
} from './varint.js'
