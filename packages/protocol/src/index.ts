// The public face of @mq/protocol, one section per room.

// --- messages, and the tables of APIs and errors
export * from './apis.js'
// --- configs
export * from './config.js'
// Records, compression and small functions.
export { crc32, crc32c } from './crc.js'
export * from './errors.js'
export { javaStringHash, murmur2, partitionForGroup, partitionForKey } from './functions/partition.js'
export {
  type ScramCredential,
  type ScramMechanism,
  scramCredential,
  scramCredentialText,
  scramSaltedPassword,
} from './functions/scram.js'
export { newUuid, uuidFromString, uuidToString, ZERO_UUID } from './functions/uuid.js'
export { type Field, fixed, type Int64Field, type Layout, layout } from './layout.js'
export * from './messages/index.js'
export { type ReadLimits, RecordBatch } from './records/batch.js'
export { type AppendRecord, BatchBuilder, type BatchOptions } from './records/builder.js'
export {
  type ControlRecord,
  type ControlType,
  type EndTransactionMarker,
  endTransactionMarker,
  readControlRecord,
} from './records/control.js'
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
export {
  sizeOfUnsignedVarint,
  sizeOfVarint,
  sizeOfVarlong,
  writeUnsignedVarint,
  writeVarint,
  writeVarlong,
} from './records/varint.js'
// --- schema: the language of messages, and codecs
export { type Codec, codecOf, decodeBody, decodeVersioned, encodeBody, encodeVersioned } from './schema/codec.js'
export type { ArrayField, Field as SchemaField, Fields, PrimitiveField, StructField } from './schema/fields.js'
export type { Body, Input, Message, UnknownTaggedField } from './schema/message.js'
export type { Versions } from './schema/versions.js'
export { type BrokerId, formatTopicPartition, type LeaderEpoch, type TopicPartition } from './topic-partition.js'
// --- wire: primitives, frames, headers, failures
export * from './wire/failures.js'
export { FrameReader, FrameSizeError, FrameTooLarge } from './wire/frame.js'
export {
  decodeResponse,
  encodeRequest,
  encodeResponse,
  type ReadRequestHeader,
  type RequestFrame,
  type ResponseFrame,
  readRequestHeader,
  requestHeaderVersion,
  responseHeaderVersion,
} from './wire/header.js'
export type { Int64Reading } from './wire/primitives.js'
export { Reader } from './wire/reader.js'
export { Writer } from './wire/writer.js'
