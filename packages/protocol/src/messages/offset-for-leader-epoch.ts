// OffsetForLeaderEpoch: where an epoch ended, so that a follower or consumer sees a cut (KIP-101, KIP-320).

import { array, int16, int32, offset, string } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

export const OffsetForLeaderEpochRequest = message(
  'OffsetForLeaderEpochRequest',
  { key: 23, versions: '0-4', flexible: '4+' },
  {
    replicaId: int32('3+', { default: -2, ignorable: true }), // -1 consumer, -2 debugging
    topics: array('0+', {
      topic: string('0+', { mapKey: true }),
      partitions: array('0+', {
        partition: int32('0+'),
        currentLeaderEpoch: int32('2+', { default: -1, ignorable: true }), // checked against the leader
        leaderEpoch: int32('0+'), // whose end is asked for
      }),
    }),
  },
)
export type OffsetForLeaderEpochRequest = Body<typeof OffsetForLeaderEpochRequest>

export const OffsetForLeaderEpochResponse = message(
  'OffsetForLeaderEpochResponse',
  { key: 23, versions: '0-4', flexible: '4+' },
  {
    throttleTimeMs: int32('2+', { ignorable: true }),
    topics: array('0+', {
      topic: string('0+', { mapKey: true }),
      partitions: array('0+', {
        errorCode: int16('0+'),
        partition: int32('0+'),
        leaderEpoch: int32('1+', { default: -1, ignorable: true }), // the largest known that is not above the one asked for
        endOffset: offset('0+', { default: -1 }), // where it ends; -1 unknown
      }),
    }),
  },
)
export type OffsetForLeaderEpochResponse = Body<typeof OffsetForLeaderEpochResponse>
