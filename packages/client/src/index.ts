/** @mq/client: a Kafka client with the names and shapes of kafkajs. */

import { roundRobin } from './consumer/assign-round-robin'
import { nodeEnvironment } from './node-environment'
import { defaultPartitioner, legacyPartitioner } from './producer/partitioner'

const startAt = (): number => Math.floor(nodeEnvironment.random.next() * 2 ** 32)

/** How messages without a partition of their own are placed. */
export const Partitioners = {
  DefaultPartitioner: defaultPartitioner(startAt),
  LegacyPartitioner: legacyPartitioner(startAt),
  /** @deprecated the old name of DefaultPartitioner */
  JavaCompatiblePartitioner: defaultPartitioner(startAt),
}

export const PartitionAssigners = { roundRobin }

export { Admin } from './admin/admin'
export type { PartitionOffset } from './admin/offsets'
export type { TopicConfig as ITopicConfig } from './admin/topics'
export type { Assigner, GroupMember, GroupMemberAssignment, GroupState, PartitionAssigner } from './consumer/assign-round-robin'
export { AssignerProtocol, type Assignment, type MemberAssignment, type MemberMetadata } from './consumer/assigner-protocol'
export type { Batch, KafkaMessage } from './consumer/batch'
export { Consumer, type ConsumerRunConfig } from './consumer/consumer'
export type { EachBatchPayload, EachMessagePayload, OffsetsByTopicPartition } from './consumer/runner'
export * from './enums'
export * from './errors'
export type { InstrumentationEvent } from './events'
export { type ConsumerConfig, Kafka, type KafkaConfig, type ProducerConfig } from './kafka'
export type { LogCreator as logCreator, LogEntry, Logger } from './logger'
export type { Environment, SocketFactory as ISocketFactory } from './ports'
export type { Headers as IHeaders, Message } from './producer/messages'
export type { CustomPartitioner as ICustomPartitioner, PartitionerArgs, PartitionMetadata } from './producer/partitioner'
export { Producer, type ProducerBatch, type ProducerRecord, type RecordMetadata } from './producer/producer'
export type { RetryOptions } from './retry'
