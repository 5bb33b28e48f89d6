// Records of __consumer_offsets: consumer groups (KIP-848). The leading int16 of a key is its record type, here its version.

import {
  array,
  bytes,
  int8,
  int32,
  int64,
  nullableArray,
  nullableString,
  nullableStruct,
  string,
  timestamp,
  uuid,
} from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

export const ConsumerGroupMetadataKey = message(
  'ConsumerGroupMetadataKey',
  { versions: '3' },
  {
    groupId: string('3'),
  },
)
export type ConsumerGroupMetadataKey = Body<typeof ConsumerGroupMetadataKey>

export const ConsumerGroupMetadataValue = message(
  'ConsumerGroupMetadataValue',
  { versions: '0', flexible: '0+' },
  {
    epoch: int32('0+'),
    metadataHash: int64('0+', { tag: 0 }),
  },
)
export type ConsumerGroupMetadataValue = Body<typeof ConsumerGroupMetadataValue>

export const ConsumerGroupPartitionMetadataKey = message(
  'ConsumerGroupPartitionMetadataKey',
  { versions: '4' },
  {
    groupId: string('4'),
  },
)
export type ConsumerGroupPartitionMetadataKey = Body<typeof ConsumerGroupPartitionMetadataKey>

export const ConsumerGroupPartitionMetadataValue = message(
  'ConsumerGroupPartitionMetadataValue',
  { versions: '0', flexible: '0+' },
  {
    topics: array('0+', {
      topicId: uuid('0+'),
      topicName: string('0+'),
      numPartitions: int32('0+'),
      partitionMetadata: array('0+', {
        partition: int32('0+'),
        racks: array('0+', 'string'),
      }),
    }),
  },
)
export type ConsumerGroupPartitionMetadataValue = Body<typeof ConsumerGroupPartitionMetadataValue>

export const ConsumerGroupMemberMetadataKey = message(
  'ConsumerGroupMemberMetadataKey',
  { versions: '5' },
  {
    groupId: string('5'),
    memberId: string('5'),
  },
)
export type ConsumerGroupMemberMetadataKey = Body<typeof ConsumerGroupMemberMetadataKey>

export const ConsumerGroupMemberMetadataValue = message(
  'ConsumerGroupMemberMetadataValue',
  { versions: '0', flexible: '0+' },
  {
    instanceId: nullableString('0+'),
    rackId: nullableString('0+'),
    clientId: string('0+'),
    clientHost: string('0+'),
    subscribedTopicNames: array('0+', 'string'),
    subscribedTopicRegex: nullableString('0+'),
    rebalanceTimeoutMs: int32('0+', { default: -1 }),
    serverAssignor: nullableString('0+'),
    classicMemberMetadata: nullableStruct(
      '0+',
      {
        sessionTimeoutMs: int32('0+'),
        supportedProtocols: array('0+', {
          name: string('0+'),
          metadata: bytes('0+'),
        }),
      },
      { tag: 0 },
    ),
  },
)
export type ConsumerGroupMemberMetadataValue = Body<typeof ConsumerGroupMemberMetadataValue>

export const ConsumerGroupTargetAssignmentMetadataKey = message(
  'ConsumerGroupTargetAssignmentMetadataKey',
  { versions: '6' },
  {
    groupId: string('6'),
  },
)
export type ConsumerGroupTargetAssignmentMetadataKey = Body<typeof ConsumerGroupTargetAssignmentMetadataKey>

export const ConsumerGroupTargetAssignmentMetadataValue = message(
  'ConsumerGroupTargetAssignmentMetadataValue',
  { versions: '0', flexible: '0+' },
  {
    assignmentEpoch: int32('0+'),
    assignmentTimestamp: timestamp('0+', { ignorable: true, tag: 0 }),
  },
)
export type ConsumerGroupTargetAssignmentMetadataValue = Body<typeof ConsumerGroupTargetAssignmentMetadataValue>

export const ConsumerGroupTargetAssignmentMemberKey = message(
  'ConsumerGroupTargetAssignmentMemberKey',
  { versions: '7' },
  {
    groupId: string('7'),
    memberId: string('7'),
  },
)
export type ConsumerGroupTargetAssignmentMemberKey = Body<typeof ConsumerGroupTargetAssignmentMemberKey>

export const ConsumerGroupTargetAssignmentMemberValue = message(
  'ConsumerGroupTargetAssignmentMemberValue',
  { versions: '0', flexible: '0+' },
  {
    topicPartitions: array('0+', {
      topicId: uuid('0+'),
      partitions: array('0+', 'int32'),
    }),
  },
)
export type ConsumerGroupTargetAssignmentMemberValue = Body<typeof ConsumerGroupTargetAssignmentMemberValue>

export const ConsumerGroupCurrentMemberAssignmentKey = message(
  'ConsumerGroupCurrentMemberAssignmentKey',
  { versions: '8' },
  {
    groupId: string('8'),
    memberId: string('8'),
  },
)
export type ConsumerGroupCurrentMemberAssignmentKey = Body<typeof ConsumerGroupCurrentMemberAssignmentKey>

const topicPartitions = {
  topicId: uuid('0+'),
  partitions: array('0+', 'int32'),
  assignmentEpochs: nullableArray('0+', 'int32', { tag: 0 }),
} as const

export const ConsumerGroupCurrentMemberAssignmentValue = message(
  'ConsumerGroupCurrentMemberAssignmentValue',
  { versions: '0', flexible: '0+' },
  {
    memberEpoch: int32('0+'),
    previousMemberEpoch: int32('0+'),
    state: int8('0+'),
    assignedPartitions: array('0+', topicPartitions),
    partitionsPendingRevocation: array('0+', topicPartitions),
  },
)
export type ConsumerGroupCurrentMemberAssignmentValue = Body<typeof ConsumerGroupCurrentMemberAssignmentValue>

export const ConsumerGroupRegularExpressionKey = message(
  'ConsumerGroupRegularExpressionKey',
  { versions: '16' },
  {
    groupId: string('16'),
    regularExpression: string('16'),
  },
)
export type ConsumerGroupRegularExpressionKey = Body<typeof ConsumerGroupRegularExpressionKey>

export const ConsumerGroupRegularExpressionValue = message(
  'ConsumerGroupRegularExpressionValue',
  { versions: '0', flexible: '0+' },
  {
    topics: array('0+', 'string'),
    version: int64('0+'),
    timestamp: timestamp('0+'),
  },
)
export type ConsumerGroupRegularExpressionValue = Body<typeof ConsumerGroupRegularExpressionValue>
