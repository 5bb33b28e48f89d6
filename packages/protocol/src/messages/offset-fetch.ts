// OffsetFetch: committed positions of one or several groups.

import { array, bool, int16, int32, nullableArray, nullableString, offset, string, uuid } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

// v0 reads from ZooKeeper. v8 asks for several groups at once (KIP-709).
export const OffsetFetchRequest = message(
  'OffsetFetchRequest',
  { key: 9, versions: '0-10', flexible: '6+' },
  {
    groupId: string('0-7'),
    topics: array(
      '0-7',
      {
        name: string('0-7'),
        partitionIndexes: array('0-7', 'int32'),
      },
      { nullable: '2-7' },
    ),
    groups: array('8+', {
      groupId: string('8+'),
      memberId: nullableString('9+', { default: null, ignorable: true }), // KIP-848
      memberEpoch: int32('9+', { default: -1, ignorable: true }),
      topics: nullableArray('8+', {
        name: string('8-9', { ignorable: true }),
        topicId: uuid('10+', { ignorable: true }),
        partitionIndexes: array('8+', 'int32'),
      }),
    }),
    requireStable: bool('7+'), // no offsets of open transactions: UNSTABLE_OFFSET_COMMIT instead (KIP-447)
  },
)
export type OffsetFetchRequest = Body<typeof OffsetFetchRequest>

export const OffsetFetchResponse = message(
  'OffsetFetchResponse',
  { key: 9, versions: '0-10', flexible: '6+' },
  {
    throttleTimeMs: int32('3+', { ignorable: true }),
    topics: array('0-7', {
      name: string('0-7'),
      partitions: array('0-7', {
        partitionIndex: int32('0-7'),
        committedOffset: offset('0-7'), // -1: none
        committedLeaderEpoch: int32('5-7', { default: -1, ignorable: true }),
        metadata: nullableString('0-7'),
        errorCode: int16('0-7'),
      }),
    }),
    errorCode: int16('2-7', { ignorable: true }),
    groups: array('8+', {
      groupId: string('8+'),
      topics: array('8+', {
        name: string('8-9', { ignorable: true }),
        topicId: uuid('10+', { ignorable: true }),
        partitions: array('8+', {
          partitionIndex: int32('8+'),
          committedOffset: offset('8+'), // -1: none
          committedLeaderEpoch: int32('8+', { default: -1, ignorable: true }),
          metadata: nullableString('8+'),
          errorCode: int16('8+'),
        }),
      }),
      errorCode: int16('8+'),
    }),
  },
)
export type OffsetFetchResponse = Body<typeof OffsetFetchResponse>
