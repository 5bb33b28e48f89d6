// Records of __consumer_offsets: share groups (KIP-932). The leading int16 of a key is its record type, here its version.

import { array, int8, int32, int64, nullableString, string, timestamp, uuid } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

export const ShareGroupMetadataKey = message(
  'ShareGroupMetadataKey',
  { versions: '11' },
  {
    groupId: string('11'),
  },
)
export type ShareGroupMetadataKey = Body<typeof ShareGroupMetadataKey>

export const ShareGroupMetadataValue = message(
  'ShareGroupMetadataValue',
  { versions: '0', flexible: '0+' },
  {
    epoch: int32('0+'),
    metadataHash: int64('0+'),
  },
)
export type ShareGroupMetadataValue = Body<typeof ShareGroupMetadataValue>

// v0 as 3.9.1 has it, where it was not stable yet: without the hash.
export const ShareGroupMetadataValue39 = message(
  'ShareGroupMetadataValue39',
  { versions: '0', flexible: '0+' },
  {
    epoch: int32('0+'),
  },
)
export type ShareGroupMetadataValue39 = Body<typeof ShareGroupMetadataValue39>

export const ShareGroupPartitionMetadataKey = message(
  'ShareGroupPartitionMetadataKey',
  { versions: '9' },
  {
    groupId: string('9'),
  },
)
export type ShareGroupPartitionMetadataKey = Body<typeof ShareGroupPartitionMetadataKey>

const topicPartitionsInfoOfShareGroupPartitionMetadataValue = {
  topicId: uuid('0+'),
  topicName: string('0+'),
  partitions: array('0+', 'int32'),
} as const

const topicInfoOfShareGroupPartitionMetadataValue = {
  topicId: uuid('0+'),
  topicName: string('0+'),
} as const

export const ShareGroupPartitionMetadataValue = message(
  'ShareGroupPartitionMetadataValue',
  { versions: '0', flexible: '0+' },
  {
    initializedTopics: array('0+', topicPartitionsInfoOfShareGroupPartitionMetadataValue),
    deletingTopics: array('0+', topicInfoOfShareGroupPartitionMetadataValue),
  },
)
export type ShareGroupPartitionMetadataValue = Body<typeof ShareGroupPartitionMetadataValue>

export const ShareGroupMemberMetadataKey = message(
  'ShareGroupMemberMetadataKey',
  { versions: '10' },
  {
    groupId: string('10'),
    memberId: string('10'),
  },
)
export type ShareGroupMemberMetadataKey = Body<typeof ShareGroupMemberMetadataKey>

export const ShareGroupMemberMetadataValue = message(
  'ShareGroupMemberMetadataValue',
  { versions: '0', flexible: '0+' },
  {
    rackId: nullableString('0+'),
    clientId: string('0+'),
    clientHost: string('0+'),
    subscribedTopicNames: array('0+', 'string'),
  },
)
export type ShareGroupMemberMetadataValue = Body<typeof ShareGroupMemberMetadataValue>

export const ShareGroupTargetAssignmentMetadataKey = message(
  'ShareGroupTargetAssignmentMetadataKey',
  { versions: '12' },
  {
    groupId: string('12'),
  },
)
export type ShareGroupTargetAssignmentMetadataKey = Body<typeof ShareGroupTargetAssignmentMetadataKey>

export const ShareGroupTargetAssignmentMetadataValue = message(
  'ShareGroupTargetAssignmentMetadataValue',
  { versions: '0', flexible: '0+' },
  {
    assignmentEpoch: int32('0+'),
    assignmentTimestamp: timestamp('0+', { ignorable: true, tag: 0 }),
  },
)
export type ShareGroupTargetAssignmentMetadataValue = Body<typeof ShareGroupTargetAssignmentMetadataValue>

export const ShareGroupTargetAssignmentMemberKey = message(
  'ShareGroupTargetAssignmentMemberKey',
  { versions: '13' },
  {
    groupId: string('13'),
    memberId: string('13'),
  },
)
export type ShareGroupTargetAssignmentMemberKey = Body<typeof ShareGroupTargetAssignmentMemberKey>

export const ShareGroupTargetAssignmentMemberValue = message(
  'ShareGroupTargetAssignmentMemberValue',
  { versions: '0', flexible: '0+' },
  {
    topicPartitions: array('0+', {
      topicId: uuid('0+'),
      partitions: array('0+', 'int32'),
    }),
  },
)
export type ShareGroupTargetAssignmentMemberValue = Body<typeof ShareGroupTargetAssignmentMemberValue>

export const ShareGroupCurrentMemberAssignmentKey = message(
  'ShareGroupCurrentMemberAssignmentKey',
  { versions: '14' },
  {
    groupId: string('14'),
    memberId: string('14'),
  },
)
export type ShareGroupCurrentMemberAssignmentKey = Body<typeof ShareGroupCurrentMemberAssignmentKey>

const topicPartitions = {
  topicId: uuid('0+'),
  partitions: array('0+', 'int32'),
} as const

export const ShareGroupCurrentMemberAssignmentValue = message(
  'ShareGroupCurrentMemberAssignmentValue',
  { versions: '0', flexible: '0+' },
  {
    memberEpoch: int32('0+'),
    previousMemberEpoch: int32('0+'),
    state: int8('0+'),
    assignedPartitions: array('0+', topicPartitions),
  },
)
export type ShareGroupCurrentMemberAssignmentValue = Body<typeof ShareGroupCurrentMemberAssignmentValue>

export const ShareGroupStatePartitionMetadataKey = message(
  'ShareGroupStatePartitionMetadataKey',
  { versions: '15' },
  {
    groupId: string('15'),
  },
)
export type ShareGroupStatePartitionMetadataKey = Body<typeof ShareGroupStatePartitionMetadataKey>

const topicPartitionsInfoOfShareGroupStatePartitionMetadataValue = {
  topicId: uuid('0+'),
  topicName: string('0+'),
  partitions: array('0+', 'int32'),
} as const

const topicInfoOfShareGroupStatePartitionMetadataValue = {
  topicId: uuid('0+'),
  topicName: string('0+'),
} as const

export const ShareGroupStatePartitionMetadataValue = message(
  'ShareGroupStatePartitionMetadataValue',
  { versions: '0', flexible: '0+' },
  {
    initializingTopics: array('0+', topicPartitionsInfoOfShareGroupStatePartitionMetadataValue),
    initializedTopics: array('0+', topicPartitionsInfoOfShareGroupStatePartitionMetadataValue),
    deletingTopics: array('0+', topicInfoOfShareGroupStatePartitionMetadataValue),
  },
)
export type ShareGroupStatePartitionMetadataValue = Body<typeof ShareGroupStatePartitionMetadataValue>
