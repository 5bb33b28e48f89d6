// Records of __consumer_offsets: streams groups (KIP-1071). The leading int16 of a key is its record type, here its version.

import {
  array,
  int8,
  int16,
  int32,
  int64,
  nullableArray,
  nullableString,
  nullableStruct,
  string,
  timestamp,
  uint16,
} from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

export const StreamsGroupMetadataKey = message(
  'StreamsGroupMetadataKey',
  { versions: '17' },
  {
    groupId: string('17'),
  },
)
export type StreamsGroupMetadataKey = Body<typeof StreamsGroupMetadataKey>

const lastAssignmentConfig = {
  key: string('0+'),
  value: string('0+'),
} as const

export const StreamsGroupMetadataValue = message(
  'StreamsGroupMetadataValue',
  { versions: '0', flexible: '0+' },
  {
    epoch: int32('0+'),
    metadataHash: int64('0+'),
    validatedTopologyEpoch: int32('0+', { default: -1, tag: 0 }),
    lastAssignmentConfigs: nullableArray('0+', lastAssignmentConfig, { tag: 1 }),
    storedDescriptionTopologyEpoch: int32('0+', { default: -1, tag: 2 }),
    failedDescriptionTopologyEpoch: int32('0+', { default: -1, tag: 3 }),
  },
)
export type StreamsGroupMetadataValue = Body<typeof StreamsGroupMetadataValue>

export const StreamsGroupMemberMetadataKey = message(
  'StreamsGroupMemberMetadataKey',
  { versions: '19' },
  {
    groupId: string('19'),
    memberId: string('19'),
  },
)
export type StreamsGroupMemberMetadataKey = Body<typeof StreamsGroupMemberMetadataKey>

const endpoint = {
  host: string('0+'),
  port: uint16('0+'),
} as const

const keyValue = {
  key: string('0+'),
  value: string('0+'),
} as const

export const StreamsGroupMemberMetadataValue = message(
  'StreamsGroupMemberMetadataValue',
  { versions: '0', flexible: '0+' },
  {
    instanceId: nullableString('0+'),
    rackId: nullableString('0+'),
    clientId: string('0+'),
    clientHost: string('0+'),
    rebalanceTimeoutMs: int32('0+', { default: -1 }),
    topologyEpoch: int32('0+'),
    processId: string('0+'),
    userEndpoint: nullableStruct('0+', endpoint, { default: null }),
    clientTags: array('0+', keyValue),
  },
)
export type StreamsGroupMemberMetadataValue = Body<typeof StreamsGroupMemberMetadataValue>

export const StreamsGroupTargetAssignmentMetadataKey = message(
  'StreamsGroupTargetAssignmentMetadataKey',
  { versions: '20' },
  {
    groupId: string('20'),
  },
)
export type StreamsGroupTargetAssignmentMetadataKey = Body<typeof StreamsGroupTargetAssignmentMetadataKey>

export const StreamsGroupTargetAssignmentMetadataValue = message(
  'StreamsGroupTargetAssignmentMetadataValue',
  { versions: '0', flexible: '0+' },
  {
    assignmentEpoch: int32('0+'),
    assignmentTimestamp: timestamp('0+', { ignorable: true, tag: 0 }),
  },
)
export type StreamsGroupTargetAssignmentMetadataValue = Body<typeof StreamsGroupTargetAssignmentMetadataValue>

export const StreamsGroupTargetAssignmentMemberKey = message(
  'StreamsGroupTargetAssignmentMemberKey',
  { versions: '21' },
  {
    groupId: string('21'),
    memberId: string('21'),
  },
)
export type StreamsGroupTargetAssignmentMemberKey = Body<typeof StreamsGroupTargetAssignmentMemberKey>

const taskIdsOfStreamsGroupTargetAssignmentMemberValue = {
  subtopologyId: string('0+'),
  partitions: array('0+', 'int32'),
} as const

export const StreamsGroupTargetAssignmentMemberValue = message(
  'StreamsGroupTargetAssignmentMemberValue',
  { versions: '0', flexible: '0+' },
  {
    activeTasks: array('0+', taskIdsOfStreamsGroupTargetAssignmentMemberValue),
    standbyTasks: array('0+', taskIdsOfStreamsGroupTargetAssignmentMemberValue),
    warmupTasks: array('0+', taskIdsOfStreamsGroupTargetAssignmentMemberValue),
  },
)
export type StreamsGroupTargetAssignmentMemberValue = Body<typeof StreamsGroupTargetAssignmentMemberValue>

export const StreamsGroupCurrentMemberAssignmentKey = message(
  'StreamsGroupCurrentMemberAssignmentKey',
  { versions: '22' },
  {
    groupId: string('22'),
    memberId: string('22'),
  },
)
export type StreamsGroupCurrentMemberAssignmentKey = Body<typeof StreamsGroupCurrentMemberAssignmentKey>

const taskIdsOfStreamsGroupCurrentMemberAssignmentValue = {
  subtopologyId: string('0+'),
  partitions: array('0+', 'int32'),
  assignmentEpochs: nullableArray('0+', 'int32', { tag: 0 }),
} as const

export const StreamsGroupCurrentMemberAssignmentValue = message(
  'StreamsGroupCurrentMemberAssignmentValue',
  { versions: '0', flexible: '0+' },
  {
    memberEpoch: int32('0+'),
    previousMemberEpoch: int32('0+'),
    state: int8('0+'),
    activeTasks: array('0+', taskIdsOfStreamsGroupCurrentMemberAssignmentValue),
    standbyTasks: array('0+', taskIdsOfStreamsGroupCurrentMemberAssignmentValue),
    warmupTasks: array('0+', taskIdsOfStreamsGroupCurrentMemberAssignmentValue),
    activeTasksPendingRevocation: array('0+', taskIdsOfStreamsGroupCurrentMemberAssignmentValue),
    standbyTasksPendingRevocation: array('0+', taskIdsOfStreamsGroupCurrentMemberAssignmentValue),
    warmupTasksPendingRevocation: array('0+', taskIdsOfStreamsGroupCurrentMemberAssignmentValue),
  },
)
export type StreamsGroupCurrentMemberAssignmentValue = Body<typeof StreamsGroupCurrentMemberAssignmentValue>

export const StreamsGroupTopologyKey = message(
  'StreamsGroupTopologyKey',
  { versions: '23' },
  {
    groupId: string('23'),
  },
)
export type StreamsGroupTopologyKey = Body<typeof StreamsGroupTopologyKey>

const topicConfig = {
  key: string('0+'),
  value: string('0+'),
} as const

const topicInfo = {
  name: string('0+'),
  partitions: int32('0+'),
  replicationFactor: int16('0+'),
  topicConfigs: array('0+', topicConfig),
} as const

export const StreamsGroupTopologyValue = message(
  'StreamsGroupTopologyValue',
  { versions: '0', flexible: '0+' },
  {
    epoch: int32('0+'),
    subtopologies: array('0+', {
      subtopologyId: string('0+'),
      sourceTopics: array('0+', 'string'),
      sourceTopicRegex: array('0+', 'string'),
      stateChangelogTopics: array('0+', topicInfo),
      repartitionSinkTopics: array('0+', 'string'),
      repartitionSourceTopics: array('0+', topicInfo),
      copartitionGroups: array('0+', {
        sourceTopics: array('0+', 'int16'),
        sourceTopicRegex: array('0+', 'int16'),
        repartitionSourceTopics: array('0+', 'int16'),
      }),
    }),
  },
)
export type StreamsGroupTopologyValue = Body<typeof StreamsGroupTopologyValue>
