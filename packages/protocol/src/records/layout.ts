/**
 * The header of a record batch (magic 2) as a table, and the meaning of its attributes.
 * Source: Kafka's protocol guide, "Record Batch" (KIP-98; delete horizon KIP-534).
 */
import { int8, int16, int32, int64, layout, uint32 } from '../layout.js'

export const RECORD_BATCH = layout({
  baseOffset: int64, //            0
  batchLength: int32, //           8  bytes that follow this field
  partitionLeaderEpoch: int32, // 12  outside the CRC, so that a leader can write it without a new checksum
  magic: int8, //                 16
  crc: uint32, //                 17  CRC-32C from `attributes` to the end of the batch
  attributes: int16, //           21  |15..7 unused|6 delete horizon|5 control|4 transactional|3 time type|2..0 codec|
  lastOffsetDelta: int32, //      23
  baseTimestamp: int64, //        27  base of the records' timestamp deltas; with bit 6 it is the delete horizon as well
  maxTimestamp: int64, //         35
  producerId: int64, //           43
  producerEpoch: int16, //        51
  baseSequence: int32, //         53
  recordCount: int32, //          57
}) //                             61 bytes, then the records

/** Offset and length come first in every magic; the length does not count them. */
export const LOG_OVERHEAD = RECORD_BATCH.partitionLeaderEpoch.at
/** How much must be there to tell the magic: it lies at the same place in all of them. */
export const HEADER_SIZE_UP_TO_MAGIC = RECORD_BATCH.crc.at
/** The smallest length field that any magic allows: CRC, magic, attributes, key length, value length of magic 0. */
export const SMALLEST_LENGTH = 14

export const CODEC_MASK = 0x07
export const LOG_APPEND_TIME_FLAG = 0x08
export const TRANSACTIONAL_FLAG = 0x10
export const CONTROL_FLAG = 0x20
export const DELETE_HORIZON_FLAG = 0x40

export const NO_TIMESTAMP = -1
export const NO_PRODUCER_ID = -1
export const NO_PRODUCER_EPOCH = -1
export const NO_SEQUENCE = -1
export const NO_LEADER_EPOCH = -1

export type TimestampType = 'CreateTime' | 'LogAppendTime'

/** Sequence numbers go from 0 to 2^31−1 and start again at 0. */
export function addToSequence(sequence: number, increment: number): number {
  const sum = sequence + increment
  return sum > 0x7fffffff ? sum - 0x80000000 : sum
}
