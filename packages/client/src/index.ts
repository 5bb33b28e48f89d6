/** @mq/client: a Kafka client with the names and shapes of kafkajs. */

import { roundRobin } from './consumer/assign-round-robin.js'
import { nodeEnvironment } from './node-environment.js'
import { defaultPartitioner, type ICustomPartitioner, legacyPartitioner } from './producer/partitioner.js'

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

export { Admin } from './admin/admin.js'
export type { PartitionOffset } from './admin/offsets.js'
export type { TopicConfig as ITopicConfig } from './admin/topics.js'
export type { BrokersFunction } from './broker-connections.js'
export type { Cluster } from './cluster.js'
export { type Codec, CompressionCodecs } from './codecs.js'
export type { TopicPartitionOffsetAndMetadata } from './consumer/arguments.js'
export type { Assigner, GroupMember, GroupMemberAssignment, GroupState } from './consumer/assign-round-robin.js'
export { AssignerProtocol, type Assignment, type MemberAssignment, type MemberMetadata } from './consumer/assigner-protocol.js'
export type { Batch, KafkaMessage } from './consumer/batch.js'
export {
  Consumer,
  type ConsumerRunConfig,
  type EachBatchHandler,
  type EachMessageHandler,
} from './consumer/consumer.js'
export type { EachBatchPayload, EachMessagePayload, OffsetsByTopicPartition } from './consumer/runner.js'
export * from './enums.js'
export * from './errors.js'
export type * from './event-payloads.js'
export type { AdminEvents, ConsumerEvents, InstrumentationEvent, ProducerEvents } from './events.js'
export type { ConsumerGroupState, GroupDescription } from './group-description.js'
export { type AdminConfig, type ConsumerConfig, Kafka, type KafkaConfig, type ProducerConfig } from './kafka.js'
export type { LogCreator as logCreator, LogEntry, Logger, LoggerEntryContent } from './logger.js'
export type * from './names.js'
export type { Environment, SocketFactory as ISocketFactory, SocketFactoryArgs as ISocketFactoryArgs } from './ports.js'
export type { Headers as IHeaders, Message } from './producer/messages.js'
export type { ICustomPartitioner, PartitionerArgs, PartitionMetadata } from './producer/partitioner.js'
export {
  Producer,
  type ProducerBatch,
  type ProducerRecord,
  type RecordMetadata,
  type TopicMessages,
} from './producer/producer.js'
export type { RetryOptions } from './retry.js'
