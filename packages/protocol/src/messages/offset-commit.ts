// OffsetCommit: positions of a group.

import { array, int16, int32, nullableString, offset, string, timestamp, uuid } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

// v0 keeps offsets in ZooKeeper, later versions in __consumer_offsets. v9 takes members of KIP-848, v10 names topics by id.
export const OffsetCommitRequest = message(
  'OffsetCommitRequest',
  { key: 8, versions: '0-10', flexible: '8+' },
  {
    groupId: string('0+'),
    generationIdOrMemberEpoch: int32('1+', { default: -1, ignorable: true }),
    memberId: string('1+', { ignorable: true }),
    groupInstanceId: nullableString('7+', { default: null }), // KIP-345
    // -1: offsets.retention.minutes of the broker (KIP-211). The largest there is means for ever: clamped as a time is.
    retentionTimeMs: timestamp('2-4', { default: -1, ignorable: true }),
    topics: array('0+', {
      name: string('0-9', { ignorable: true }),
      topicId: uuid('10+', { ignorable: true }),
      partitions: array('0+', {
        partitionIndex: int32('0+'),
        committedOffset: offset('0+'),
        committedLeaderEpoch: int32('6+', { default: -1, ignorable: true }), // KIP-320
        commitTimestamp: timestamp('1', { default: -1 }),
        committedMetadata: nullableString('0+'),
      }),
    }),
  },
)
export type OffsetCommitRequest = Body<typeof OffsetCommitRequest>

export const OffsetCommitResponse = message(
  'OffsetCommitResponse',
  { key: 8, versions: '0-10', flexible: '8+' },
  {
    throttleTimeMs: int32('3+', { ignorable: true }),
    topics: array('0+', {
      name: string('0-9', { ignorable: true }),
      topicId: uuid('10+', { ignorable: true }),
      partitions: array('0+', {
        partitionIndex: int32('0+'),
        errorCode: int16('0+'),
      }),
    }),
  },
)
export type OffsetCommitResponse = Body<typeof OffsetCommitResponse>
