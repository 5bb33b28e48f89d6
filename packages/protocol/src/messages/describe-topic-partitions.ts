// DescribeTopicPartitions: metadata of topics in pages (KIP-966).

import { array, bool, int16, int32, nullableArray, nullableString, nullableStruct, string, uuid } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

export const DescribeTopicPartitionsRequest = message(
  'DescribeTopicPartitionsRequest',
  { key: 75, versions: '0', flexible: '0+' },
  {
    topics: array('0+', {
      name: string('0+'),
    }),
    responsePartitionLimit: int32('0+', { default: 2000 }),
    cursor: nullableStruct(
      '0+',
      {
        topicName: string('0+'),
        partitionIndex: int32('0+'),
      },
      { default: null },
    ),
  },
)
export type DescribeTopicPartitionsRequest = Body<typeof DescribeTopicPartitionsRequest>

export const DescribeTopicPartitionsResponse = message(
  'DescribeTopicPartitionsResponse',
  { key: 75, versions: '0', flexible: '0+' },
  {
    throttleTimeMs: int32('0+', { ignorable: true }),
    topics: array('0+', {
      errorCode: int16('0+'),
      name: nullableString('0+', { mapKey: true }),
      topicId: uuid('0+', { ignorable: true }),
      isInternal: bool('0+', { ignorable: true }),
      partitions: array('0+', {
        errorCode: int16('0+'),
        partitionIndex: int32('0+'),
        leaderId: int32('0+'),
        leaderEpoch: int32('0+', { default: -1, ignorable: true }),
        replicaNodes: array('0+', 'int32'),
        isrNodes: array('0+', 'int32'),
        eligibleLeaderReplicas: nullableArray('0+', 'int32', { default: null }),
        lastKnownElr: nullableArray('0+', 'int32', { default: null }),
        offlineReplicas: array('0+', 'int32', { ignorable: true }),
      }),
      topicAuthorizedOperations: int32('0+', { default: -2147483648 }),
    }),
    nextCursor: nullableStruct(
      '0+',
      {
        topicName: string('0+'),
        partitionIndex: int32('0+'),
      },
      { default: null },
    ),
  },
)
export type DescribeTopicPartitionsResponse = Body<typeof DescribeTopicPartitionsResponse>
