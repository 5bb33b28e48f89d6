// The consumer group protocol of KIP-848: one heartbeat does it all, and its description.

import {
  array,
  bool,
  int8,
  int16,
  int32,
  nullableArray,
  nullableString,
  nullableStruct,
  string,
  struct,
  uuid,
} from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

export const ConsumerGroupHeartbeatRequest = message(
  'ConsumerGroupHeartbeatRequest',
  { key: 68, versions: '0-1', flexible: '0+' },
  {
    groupId: string('0+'),
    memberId: string('0+'),
    memberEpoch: int32('0+'), // 0 joins, -1 leaves, -2 leaves for a while (static members)
    instanceId: nullableString('0+', { default: null }),
    rackId: nullableString('0+', { default: null }),
    rebalanceTimeoutMs: int32('0+', { default: -1 }), // -1: as before; likewise null below
    subscribedTopicNames: nullableArray('0+', 'string', { default: null }),
    subscribedTopicRegex: nullableString('1+', { default: null }), // matched by the broker
    serverAssignor: nullableString('0+', { default: null }),
    // what the member owns
    topicPartitions: nullableArray(
      '0+',
      {
        topicId: uuid('0+'),
        partitions: array('0+', 'int32'),
      },
      { default: null },
    ),
  },
)
export type ConsumerGroupHeartbeatRequest = Body<typeof ConsumerGroupHeartbeatRequest>

const topicPartitionsOfConsumerGroupHeartbeatResponse = {
  topicId: uuid('0+'),
  partitions: array('0+', 'int32'),
} as const

export const ConsumerGroupHeartbeatResponse = message(
  'ConsumerGroupHeartbeatResponse',
  { key: 68, versions: '0-1', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: int16('0+'),
    errorMessage: nullableString('0+', { default: null }),
    memberId: nullableString('0+', { default: null }),
    memberEpoch: int32('0+'),
    heartbeatIntervalMs: int32('0+'),
    // null: as before
    assignment: nullableStruct(
      '0+',
      {
        topicPartitions: array('0+', topicPartitionsOfConsumerGroupHeartbeatResponse),
      },
      { default: null },
    ),
  },
)
export type ConsumerGroupHeartbeatResponse = Body<typeof ConsumerGroupHeartbeatResponse>

export const ConsumerGroupDescribeRequest = message(
  'ConsumerGroupDescribeRequest',
  { key: 69, versions: '0-1', flexible: '0+' },
  {
    groupIds: array('0+', 'string'),
    includeAuthorizedOperations: bool('0+'),
  },
)
export type ConsumerGroupDescribeRequest = Body<typeof ConsumerGroupDescribeRequest>

const topicPartitionsOfConsumerGroupDescribeResponse = {
  topicId: uuid('0+'),
  topicName: string('0+'),
  partitions: array('0+', 'int32'),
} as const

const assignment = {
  topicPartitions: array('0+', topicPartitionsOfConsumerGroupDescribeResponse),
} as const

export const ConsumerGroupDescribeResponse = message(
  'ConsumerGroupDescribeResponse',
  { key: 69, versions: '0-1', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    groups: array('0+', {
      errorCode: int16('0+'),
      errorMessage: nullableString('0+', { default: null }),
      groupId: string('0+'),
      groupState: string('0+'),
      groupEpoch: int32('0+'),
      assignmentEpoch: int32('0+'),
      assignorName: string('0+'),
      members: array('0+', {
        memberId: string('0+'),
        instanceId: nullableString('0+', { default: null }),
        rackId: nullableString('0+', { default: null }),
        memberEpoch: int32('0+'),
        clientId: string('0+'),
        clientHost: string('0+'),
        subscribedTopicNames: array('0+', 'string'),
        subscribedTopicRegex: nullableString('0+', { default: null }),
        assignment: struct('0+', assignment),
        targetAssignment: struct('0+', assignment),
        memberType: int8('1+', { default: -1, ignorable: true }),
      }),
      authorizedOperations: int32('0+', { default: -2147483648 }),
    }),
  },
)
export type ConsumerGroupDescribeResponse = Body<typeof ConsumerGroupDescribeResponse>
