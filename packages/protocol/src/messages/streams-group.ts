// Streams groups (KIP-1071): membership and the topology that comes with it.

import {
  array,
  bool,
  int8,
  int16,
  int32,
  int64,
  nullableArray,
  nullableString,
  nullableStruct,
  offset,
  string,
  struct,
  uint16,
} from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

const keyValue = {
  key: string('0+'),
  value: string('0+'),
} as const

const topicInfo = {
  name: string('0+'),
  partitions: int32('0+'),
  replicationFactor: int16('0+'),
  topicConfigs: array('0+', keyValue),
} as const

const endpointOfStreamsGroupHeartbeatRequest = {
  host: string('0+'),
  port: uint16('0+'),
} as const

const taskOffset = {
  subtopologyId: string('0+'),
  partition: int32('0+'),
  offset: offset('0+'),
} as const

const taskIdsOfStreamsGroupHeartbeatRequest = {
  subtopologyId: string('0+'),
  partitions: array('0+', 'int32'),
} as const

export const StreamsGroupHeartbeatRequest = message(
  'StreamsGroupHeartbeatRequest',
  { key: 88, versions: '0-1', flexible: '0+' },
  {
    groupId: string('0+'),
    memberId: string('0+'),
    memberEpoch: int32('0+'),
    endpointInformationEpoch: int32('0+'),
    instanceId: nullableString('0+', { default: null }),
    rackId: nullableString('0+', { default: null }),
    rebalanceTimeoutMs: int32('0+', { default: -1 }),
    topology: nullableStruct(
      '0+',
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
      { default: null },
    ),
    activeTasks: nullableArray('0+', taskIdsOfStreamsGroupHeartbeatRequest, { default: null }),
    standbyTasks: nullableArray('0+', taskIdsOfStreamsGroupHeartbeatRequest, { default: null }),
    warmupTasks: nullableArray('0+', taskIdsOfStreamsGroupHeartbeatRequest, { default: null }),
    processId: nullableString('0+', { default: null }),
    userEndpoint: nullableStruct('0+', endpointOfStreamsGroupHeartbeatRequest, { default: null }),
    clientTags: nullableArray('0+', keyValue, { default: null }),
    taskOffsets: nullableArray('0+', taskOffset, { default: null }),
    taskEndOffsets: nullableArray('0+', taskOffset, { default: null }),
    shutdownApplication: bool('0+'),
  },
)
export type StreamsGroupHeartbeatRequest = Body<typeof StreamsGroupHeartbeatRequest>

const status = {
  statusCode: int8('0+'),
  statusDetail: string('0+'),
} as const

const topicPartition = {
  topic: string('0+'),
  partitions: array('0+', 'int32'),
} as const

const taskIdsOfStreamsGroupHeartbeatResponse = {
  subtopologyId: string('0+'),
  partitions: array('0+', 'int32'),
} as const

const endpointOfStreamsGroupHeartbeatResponse = {
  host: string('0+'),
  port: uint16('0+'),
} as const

export const StreamsGroupHeartbeatResponse = message(
  'StreamsGroupHeartbeatResponse',
  { key: 88, versions: '0-1', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: int16('0+'),
    errorMessage: nullableString('0+', { default: null }),
    memberId: string('0+'),
    memberEpoch: int32('0+'),
    heartbeatIntervalMs: int32('0+'),
    acceptableRecoveryLagLegacy: int32('0'),
    taskOffsetIntervalMs: int32('0+'),
    acceptableRecoveryLag: int64('1+', { default: -1, ignorable: true }),
    status: nullableArray('0+', status),
    activeTasks: nullableArray('0+', taskIdsOfStreamsGroupHeartbeatResponse, { default: null }),
    standbyTasks: nullableArray('0+', taskIdsOfStreamsGroupHeartbeatResponse, { default: null }),
    warmupTasks: nullableArray('0+', taskIdsOfStreamsGroupHeartbeatResponse, { default: null }),
    topologyDescriptionRequired: bool('1+'),
    endpointInformationEpoch: int32('0+'),
    partitionsByUserEndpoint: nullableArray(
      '0+',
      {
        userEndpoint: struct('0+', endpointOfStreamsGroupHeartbeatResponse),
        activePartitions: array('0+', topicPartition),
        standbyPartitions: array('0+', topicPartition),
      },
      { default: null },
    ),
  },
)
export type StreamsGroupHeartbeatResponse = Body<typeof StreamsGroupHeartbeatResponse>
