// Share groups (KIP-932): membership and description.

import {
  array,
  bool,
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

export const ShareGroupHeartbeatRequest = message(
  'ShareGroupHeartbeatRequest',
  { key: 76, versions: '0-1', flexible: '0+' },
  {
    groupId: string('0+'),
    memberId: string('0+'),
    memberEpoch: int32('0+'),
    rackId: nullableString('0+', { default: null }),
    subscribedTopicNames: nullableArray('0+', 'string', { default: null }),
  },
)
export type ShareGroupHeartbeatRequest = Body<typeof ShareGroupHeartbeatRequest>

const topicPartitionsOfShareGroupHeartbeatResponse = {
  topicId: uuid('0+'),
  partitions: array('0+', 'int32'),
} as const

export const ShareGroupHeartbeatResponse = message(
  'ShareGroupHeartbeatResponse',
  { key: 76, versions: '0-1', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: int16('0+'),
    errorMessage: nullableString('0+', { default: null }),
    memberId: nullableString('0+', { default: null }),
    memberEpoch: int32('0+'),
    heartbeatIntervalMs: int32('0+'),
    assignment: nullableStruct(
      '0+',
      {
        topicPartitions: array('0+', topicPartitionsOfShareGroupHeartbeatResponse),
      },
      { default: null },
    ),
  },
)
export type ShareGroupHeartbeatResponse = Body<typeof ShareGroupHeartbeatResponse>

export const ShareGroupDescribeRequest = message(
  'ShareGroupDescribeRequest',
  { key: 77, versions: '0-1', flexible: '0+' },
  {
    groupIds: array('0+', 'string'),
    includeAuthorizedOperations: bool('0+'),
  },
)
export type ShareGroupDescribeRequest = Body<typeof ShareGroupDescribeRequest>

const topicPartitionsOfShareGroupDescribeResponse = {
  topicId: uuid('0+'),
  topicName: string('0+'),
  partitions: array('0+', 'int32'),
} as const

const assignment = {
  topicPartitions: array('0+', topicPartitionsOfShareGroupDescribeResponse),
} as const

export const ShareGroupDescribeResponse = message(
  'ShareGroupDescribeResponse',
  { key: 77, versions: '0-1', flexible: '0+' },
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
        rackId: nullableString('0+', { default: null }),
        memberEpoch: int32('0+'),
        clientId: string('0+'),
        clientHost: string('0+'),
        subscribedTopicNames: array('0+', 'string'),
        assignment: struct('0+', assignment),
      }),
      authorizedOperations: int32('0+', { default: -2147483648 }),
    }),
  },
)
export type ShareGroupDescribeResponse = Body<typeof ShareGroupDescribeResponse>
