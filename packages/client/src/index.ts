/** @mq/client: a Kafka client with the names and shapes of kafkajs. */

import { roundRobin } from './consumer/assign-round-robin'
import { nodeEnvironment } from './node-environment'
import { defaultPartitioner, type ICustomPartitioner, legacyPartitioner } from './producer/partitioner'

const startAt = (): number => Math.floor(nodeEnvironment.random.next() * 2 ** 32)

export type DefaultPartitioner = ICustomPartitioner
export type LegacyPartitioner = ICustomPartitioner

/** How messages without a partition of their own are placed. */
export const Partitioners: {
  DefaultPartitioner: DefaultPartitioner
  LegacyPartitioner: LegacyPartitioner
  /** @deprecated the old name of DefaultPartitioner */
  JavaCompatiblePartitioner: DefaultPartitioner
} = {
  DefaultPartitioner: defaultPartitioner(startAt),
  LegacyPartitioner: legacyPartitioner(startAt),
  JavaCompatiblePartitioner: defaultPartitioner(startAt),
}

export const PartitionAssigners = { roundRobin }

export { Admin } from './admin/admin'
export type { PartitionOffset } from './admin/offsets'
export type { TopicConfig as ITopicConfig } from './admin/topics'
export type { BrokersFunction } from './broker-connections'
export type { Cluster } from './cluster'
export { type Codec, CompressionCodecs } from './codecs'
export type { TopicPartitionOffsetAndMetadata } from './consumer/arguments'
export type { Assigner, GroupMember, GroupMemberAssignment, GroupState } from './consumer/assign-round-robin'
export { AssignerProtocol, type Assignment, type MemberAssignment, type MemberMetadata } from './consumer/assigner-protocol'
export type { Batch, KafkaMessage } from './consumer/batch'
export {
  Consumer,
  type ConsumerGroupState,
  type ConsumerRunConfig,
  type EachBatchHandler,
  type EachMessageHandler,
  type GroupDescription,
} from './consumer/consumer'
export type { EachBatchPayload, EachMessagePayload, OffsetsByTopicPartition } from './consumer/runner'
export * from './enums'
export * from './errors'
export type * from './event-payloads'
export type { AdminEvents, ConsumerEvents, InstrumentationEvent, ProducerEvents } from './events'
export { type AdminConfig, type ConsumerConfig, Kafka, type KafkaConfig, type ProducerConfig } from './kafka'
export type { LogCreator as logCreator, LogEntry, Logger, LoggerEntryContent } from './logger'
export type * from './names'
export type { Environment, SocketFactory as ISocketFactory, SocketFactoryArgs as ISocketFactoryArgs } from './ports'
export type { Headers as IHeaders, Message } from './producer/messages'
export type { ICustomPartitioner, PartitionerArgs, PartitionMetadata } from './producer/partitioner'
export { Producer, type ProducerBatch, type ProducerRecord, type RecordMetadata, type TopicMessages } from './producer/producer'
export type { RetryOptions } from './retry'
