/** Names of shapes that programs written for kafkajs import, where our code has no name of its own for the shape. */

import type { Admin } from './admin/admin.js'
import type { Cluster } from './cluster.js'
import type { Assigner, AssignerCluster } from './consumer/assign-round-robin.js'
import type { EachBatchPayload, EachMessagePayload } from './consumer/runner.js'
import type { TopicOffsets } from './event-payloads.js'
import type { Logger } from './logger.js'
import type { PartitionMetadata } from './producer/partitioner.js'

export type PartitionAssigner = (config: { cluster: Cluster; groupId: string; logger: Logger }) => Assigner
export type { AssignerCluster }

export interface TopicPartition {
  topic: string
  partition: number
}
export type TopicPartitionOffset = TopicPartition & { offset: string }
export interface TopicPartitions {
  topic: string
  partitions: number[]
}
export interface Offsets {
  topics: TopicOffsets[]
}

export type ConsumerEachMessagePayload = EachMessagePayload
export type ConsumerEachBatchPayload = EachBatchPayload
export interface ConsumerSubscribeTopics {
  topics: (string | RegExp)[]
  fromBeginning?: boolean
}
/** @deprecated use ConsumerSubscribeTopics */
export interface ConsumerSubscribeTopic {
  topic: string | RegExp
  fromBeginning?: boolean
}

export interface ISerializer<Value> {
  encode(value: Value): Buffer
  decode(buffer: Buffer): Value | null
}

export interface ITopicMetadata {
  name: string
  partitions: PartitionMetadata[]
}
export type ITopicPartitionConfig = Parameters<Admin['createPartitions']>[0]['topicPartitions'][number]
export interface ReplicaAssignment {
  partition: number
  replicas: number[]
}
export type ResourceConfigQuery = Parameters<Admin['describeConfigs']>[0]['resources'][number]
export type DescribeConfigResponse = Awaited<ReturnType<Admin['describeConfigs']>>
export type ConfigEntries = DescribeConfigResponse['resources'][number]['configEntries'][number]
export type ConfigSynonyms = ConfigEntries['configSynonyms'][number]
export interface IResourceConfigEntry {
  name: string
  value: string
}
export type IResourceConfig = Parameters<Admin['alterConfigs']>[0]['resources'][number]
export type GroupOverview = Awaited<ReturnType<Admin['listGroups']>>['groups'][number]
export type GroupDescriptions = Awaited<ReturnType<Admin['describeGroups']>>
export type MemberDescription = GroupDescriptions['groups'][number]['members'][number]
export type DeleteGroupsResult = Awaited<ReturnType<Admin['deleteGroups']>>[number]
export interface SeekEntry {
  partition: number
  offset: string
}
export type FetchOffsetsPartition = SeekEntry & { metadata: string | null }
