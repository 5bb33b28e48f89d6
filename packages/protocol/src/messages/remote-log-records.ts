// Records of __remote_log_metadata (KIP-405), as schemas only.

import { array, bool, int8, int32, nullableBytes, offset, string, struct, timestamp, uuid } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

export const RemoteLogSegmentMetadataRecord = message(
  'RemoteLogSegmentMetadataRecord',
  { key: 0, versions: '0', flexible: '0+' },
  {
    remoteLogSegmentId: struct('0+', {
      topicIdPartition: struct('0+', {
        name: string('0+'),
        id: uuid('0+'),
        partition: int32('0+'),
      }),
      id: uuid('0+'),
    }),
    startOffset: offset('0+'),
    endOffset: offset('0+'),
    brokerId: int32('0+'),
    maxTimestampMs: timestamp('0+'),
    eventTimestampMs: timestamp('0+'),
    segmentLeaderEpochs: array('0+', {
      leaderEpoch: int32('0+'),
      offset: offset('0+'),
    }),
    segmentSizeInBytes: int32('0+'),
    customMetadata: nullableBytes('0+', { default: null }),
    remoteLogSegmentState: int8('0+'),
    txnIndexEmpty: bool('0+', { tag: 0 }),
  },
)
export type RemoteLogSegmentMetadataRecord = Body<typeof RemoteLogSegmentMetadataRecord>

export const RemoteLogSegmentMetadataUpdateRecord = message(
  'RemoteLogSegmentMetadataUpdateRecord',
  { key: 1, versions: '0', flexible: '0+' },
  {
    remoteLogSegmentId: struct('0+', {
      topicIdPartition: struct('0+', {
        name: string('0+'),
        id: uuid('0+'),
        partition: int32('0+'),
      }),
      id: uuid('0+'),
    }),
    brokerId: int32('0+'),
    eventTimestampMs: timestamp('0+'),
    customMetadata: nullableBytes('0+', { default: null }),
    remoteLogSegmentState: int8('0+'),
  },
)
export type RemoteLogSegmentMetadataUpdateRecord = Body<typeof RemoteLogSegmentMetadataUpdateRecord>

export const RemoteLogSegmentMetadataSnapshotRecord = message(
  'RemoteLogSegmentMetadataSnapshotRecord',
  { key: 3, versions: '0', flexible: '0+' },
  {
    segmentId: uuid('0+'),
    startOffset: offset('0+'),
    endOffset: offset('0+'),
    brokerId: int32('0+'),
    maxTimestampMs: timestamp('0+'),
    eventTimestampMs: timestamp('0+'),
    segmentLeaderEpochs: array('0+', {
      leaderEpoch: int32('0+'),
      offset: offset('0+'),
    }),
    segmentSizeInBytes: int32('0+'),
    customMetadata: nullableBytes('0+', { default: null }),
    remoteLogSegmentState: int8('0+'),
    txnIndexEmpty: bool('0+', { tag: 0 }),
  },
)
export type RemoteLogSegmentMetadataSnapshotRecord = Body<typeof RemoteLogSegmentMetadataSnapshotRecord>

export const RemotePartitionDeleteMetadataRecord = message(
  'RemotePartitionDeleteMetadataRecord',
  { key: 2, versions: '0', flexible: '0+' },
  {
    topicIdPartition: struct('0+', {
      name: string('0+'),
      id: uuid('0+'),
      partition: int32('0+'),
    }),
    brokerId: int32('0+'),
    eventTimestampMs: timestamp('0+'),
    remotePartitionDeleteState: int8('0+'),
  },
)
export type RemotePartitionDeleteMetadataRecord = Body<typeof RemotePartitionDeleteMetadataRecord>
