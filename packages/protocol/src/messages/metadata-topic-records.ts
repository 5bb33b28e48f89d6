// Records of the KRaft metadata log: topics, partitions, configs.

import { array, int8, int32, nullableArray, nullableString, string, uuid } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

export const TopicRecord = message(
  'TopicRecord',
  { key: 2, versions: '0', flexible: '0+' },
  {
    name: string('0+'),
    topicId: uuid('0+'),
  },
)
export type TopicRecord = Body<typeof TopicRecord>

export const RemoveTopicRecord = message(
  'RemoveTopicRecord',
  { key: 9, versions: '0', flexible: '0+' },
  {
    topicId: uuid('0+'),
  },
)
export type RemoveTopicRecord = Body<typeof RemoveTopicRecord>

export const PartitionRecord = message(
  'PartitionRecord',
  { key: 3, versions: '0-2', flexible: '0+' },
  {
    partitionId: int32('0+', { default: -1 }),
    topicId: uuid('0+'),
    replicas: array('0+', 'int32'),
    isr: array('0+', 'int32'),
    removingReplicas: array('0+', 'int32'),
    addingReplicas: array('0+', 'int32'),
    leader: int32('0+', { default: -1 }),
    leaderRecoveryState: int8('0+', { tag: 0 }),
    leaderEpoch: int32('0+', { default: -1 }),
    partitionEpoch: int32('0+', { default: -1 }),
    directories: array('1+', 'uuid'),
    eligibleLeaderReplicas: nullableArray('2+', 'int32', { default: null, tag: 1 }),
    lastKnownElr: nullableArray('2+', 'int32', { default: null, tag: 2 }),
  },
)
export type PartitionRecord = Body<typeof PartitionRecord>

export const PartitionChangeRecord = message(
  'PartitionChangeRecord',
  { key: 5, versions: '0-2', flexible: '0+' },
  {
    partitionId: int32('0+', { default: -1 }),
    topicId: uuid('0+'),
    isr: nullableArray('0+', 'int32', { default: null, tag: 0 }),
    leader: int32('0+', { default: -2, tag: 1 }),
    replicas: nullableArray('0+', 'int32', { default: null, tag: 2 }),
    removingReplicas: nullableArray('0+', 'int32', { default: null, tag: 3 }),
    addingReplicas: nullableArray('0+', 'int32', { default: null, tag: 4 }),
    leaderRecoveryState: int8('0+', { default: -1, tag: 5 }),
    directories: nullableArray('1+', 'uuid', { default: null, tag: 8 }),
    eligibleLeaderReplicas: nullableArray('2+', 'int32', { default: null, tag: 6 }),
    lastKnownElr: nullableArray('2+', 'int32', { default: null, tag: 7 }),
  },
)
export type PartitionChangeRecord = Body<typeof PartitionChangeRecord>

export const ClearElrRecord = message(
  'ClearElrRecord',
  { key: 28, versions: '0', flexible: '0+' },
  {
    topicName: string('0+'),
  },
)
export type ClearElrRecord = Body<typeof ClearElrRecord>

export const ConfigRecord = message(
  'ConfigRecord',
  { key: 4, versions: '0', flexible: '0+' },
  {
    resourceType: int8('0+'),
    resourceName: string('0+'),
    name: string('0+'),
    value: nullableString('0+'),
  },
)
export type ConfigRecord = Body<typeof ConfigRecord>
