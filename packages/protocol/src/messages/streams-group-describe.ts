// Streams groups (KIP-1071): description of groups and of their topologies.

import {
  array,
  bool,
  int8,
  int16,
  int32,
  nullableArray,
  nullableString,
  nullableStruct,
  offset,
  string,
  struct,
  uint16,
} from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

export const StreamsGroupDescribeRequest = message(
  'StreamsGroupDescribeRequest',
  { key: 89, versions: '0-1', flexible: '0+' },
  {
    groupIds: array('0+', 'string'),
    includeAuthorizedOperations: bool('0+'),
    includeTopologyDescription: bool('1+'),
  },
)
export type StreamsGroupDescribeRequest = Body<typeof StreamsGroupDescribeRequest>

const endpoint = {
  host: string('0+'),
  port: uint16('0+'),
} as const

const taskOffset = {
  subtopologyId: string('0+'),
  partition: int32('0+'),
  offset: offset('0+'),
} as const

const taskIds = {
  subtopologyId: string('0+'),
  partitions: array('0+', 'int32'),
} as const

const assignment = {
  activeTasks: array('0+', taskIds),
  standbyTasks: array('0+', taskIds),
  warmupTasks: array('0+', taskIds),
} as const

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

const topologyDescriptionNodeOfStreamsGroupDescribeResponse = {
  name: string('1+'),
  nodeType: int8('1+'),
  sourceTopics: array('1+', 'string'),
  sinkTopic: nullableString('1+', { default: null }),
  stores: array('1+', 'string'),
  successors: array('1+', 'string'),
} as const

const topologyDescriptionSubtopologyOfStreamsGroupDescribeResponse = {
  subtopologyId: string('1+'),
  nodes: array('1+', topologyDescriptionNodeOfStreamsGroupDescribeResponse),
} as const

const topologyDescriptionGlobalStoreOfStreamsGroupDescribeResponse = {
  source: struct('1+', topologyDescriptionNodeOfStreamsGroupDescribeResponse),
  processor: struct('1+', topologyDescriptionNodeOfStreamsGroupDescribeResponse),
} as const

const topologyDescriptionOfStreamsGroupDescribeResponse = {
  subtopologies: array('1+', topologyDescriptionSubtopologyOfStreamsGroupDescribeResponse),
  globalStores: array('1+', topologyDescriptionGlobalStoreOfStreamsGroupDescribeResponse),
} as const

export const StreamsGroupDescribeResponse = message(
  'StreamsGroupDescribeResponse',
  { key: 89, versions: '0-1', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    groups: array('0+', {
      errorCode: int16('0+'),
      errorMessage: nullableString('0+', { default: null }),
      groupId: string('0+'),
      groupState: string('0+'),
      groupEpoch: int32('0+'),
      assignmentEpoch: int32('0+'),
      topology: nullableStruct(
        '0+',
        {
          epoch: int32('0+'),
          subtopologies: nullableArray(
            '0+',
            {
              subtopologyId: string('0+'),
              sourceTopics: array('0+', 'string'),
              repartitionSinkTopics: array('0+', 'string'),
              stateChangelogTopics: array('0+', topicInfo),
              repartitionSourceTopics: array('0+', topicInfo),
            },
            { default: null },
          ),
        },
        { default: null },
      ),
      members: array('0+', {
        memberId: string('0+'),
        memberEpoch: int32('0+'),
        instanceId: nullableString('0+', { default: null }),
        rackId: nullableString('0+', { default: null }),
        clientId: string('0+'),
        clientHost: string('0+'),
        topologyEpoch: int32('0+'),
        processId: string('0+'),
        userEndpoint: nullableStruct('0+', endpoint, { default: null }),
        clientTags: array('0+', keyValue),
        taskOffsets: array('0+', taskOffset),
        taskEndOffsets: array('0+', taskOffset),
        assignment: struct('0+', assignment),
        targetAssignment: struct('0+', assignment),
        isClassic: bool('0+'),
      }),
      authorizedOperations: int32('0+', { default: -2147483648 }),
      topologyDescription: nullableStruct('1+', topologyDescriptionOfStreamsGroupDescribeResponse, { default: null }),
      topologyDescriptionStatus: int8('1+'),
      assignorName: nullableString('1+', { default: null, ignorable: true }),
    }),
  },
)
export type StreamsGroupDescribeResponse = Body<typeof StreamsGroupDescribeResponse>

const topologyDescriptionNodeOfStreamsGroupTopologyDescriptionUpdateRequest = {
  name: string('0+'),
  nodeType: int8('0+'),
  sourceTopics: array('0+', 'string'),
  sinkTopic: nullableString('0+', { default: null }),
  stores: array('0+', 'string'),
  successors: array('0+', 'string'),
} as const

const topologyDescriptionSubtopologyOfStreamsGroupTopologyDescriptionUpdateRequest = {
  subtopologyId: string('0+'),
  nodes: array('0+', topologyDescriptionNodeOfStreamsGroupTopologyDescriptionUpdateRequest),
} as const

const topologyDescriptionGlobalStoreOfStreamsGroupTopologyDescriptionUpdateRequest = {
  source: struct('0+', topologyDescriptionNodeOfStreamsGroupTopologyDescriptionUpdateRequest),
  processor: struct('0+', topologyDescriptionNodeOfStreamsGroupTopologyDescriptionUpdateRequest),
} as const

const topologyDescriptionOfStreamsGroupTopologyDescriptionUpdateRequest = {
  subtopologies: array('0+', topologyDescriptionSubtopologyOfStreamsGroupTopologyDescriptionUpdateRequest),
  globalStores: array('0+', topologyDescriptionGlobalStoreOfStreamsGroupTopologyDescriptionUpdateRequest),
} as const

export const StreamsGroupTopologyDescriptionUpdateRequest = message(
  'StreamsGroupTopologyDescriptionUpdateRequest',
  { key: 93, versions: '0', flexible: '0+' },
  {
    groupId: string('0+'),
    memberId: string('0+'),
    topologyEpoch: int32('0+'),
    topologyDescription: struct('0+', topologyDescriptionOfStreamsGroupTopologyDescriptionUpdateRequest),
  },
)
export type StreamsGroupTopologyDescriptionUpdateRequest = Body<typeof StreamsGroupTopologyDescriptionUpdateRequest>

export const StreamsGroupTopologyDescriptionUpdateResponse = message(
  'StreamsGroupTopologyDescriptionUpdateResponse',
  { key: 93, versions: '0', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: int16('0+'),
    errorMessage: nullableString('0+', { default: null }),
  },
)
export type StreamsGroupTopologyDescriptionUpdateResponse = Body<typeof StreamsGroupTopologyDescriptionUpdateResponse>
