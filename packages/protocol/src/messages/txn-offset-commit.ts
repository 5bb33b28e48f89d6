// TxnOffsetCommit: positions that count once the transaction commits.

import { array, int16, int32, int64, nullableString, offset, string, uuid } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

export const TxnOffsetCommitRequest = message(
  'TxnOffsetCommitRequest',
  { key: 28, versions: '0-6', flexible: '3+' },
  {
    transactionalId: string('0+'),
    groupId: string('0+'),
    producerId: int64('0+'),
    producerEpoch: int16('0+'),
    generationId: int32('3+', { default: -1 }), // KIP-447; 4.x calls it generationIdOrMemberEpoch
    memberId: string('3+'),
    groupInstanceId: nullableString('3+', { default: null }), // KIP-345
    topics: array('0+', {
      name: string('0-5', { ignorable: true }),
      topicId: uuid('6+', { ignorable: true }),
      partitions: array('0+', {
        partitionIndex: int32('0+'),
        committedOffset: offset('0+'),
        committedLeaderEpoch: int32('2+', { default: -1, ignorable: true }),
        committedMetadata: nullableString('0+'),
      }),
    }),
  },
)
export type TxnOffsetCommitRequest = Body<typeof TxnOffsetCommitRequest>

export const TxnOffsetCommitResponse = message(
  'TxnOffsetCommitResponse',
  { key: 28, versions: '0-6', flexible: '3+' },
  {
    throttleTimeMs: int32('0+'),
    topics: array('0+', {
      name: string('0-5', { ignorable: true }),
      topicId: uuid('6+', { ignorable: true }),
      partitions: array('0+', {
        partitionIndex: int32('0+'),
        errorCode: int16('0+'),
      }),
    }),
  },
)
export type TxnOffsetCommitResponse = Body<typeof TxnOffsetCommitResponse>
