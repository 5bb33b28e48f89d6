/**
 * The controller's word to the partitions of this process: become leader, stop, new configs. In a cluster requests take its place
 * (LeaderAndIsr, StopReplica); the controller sees no difference.
 */
import { type PartitionConfig, type Partitions, refusal } from '@mq/replica'
import type { ReadConfig } from './config/read.js'
import { topicConfigOf } from './config/topic-rules.js'
import type { BrokerChannel, PartitionAssignment, PartitionFailure } from './controller/api.js'
import { ZERO_TOPIC_ID } from './metadata/image.js'
import type { Logger } from './ports.js'

/** Partitions that are opened or made at a time: enough to keep the disk busy, few enough to hold few files open. */
const AT_ONCE = 32
const NO_LIMIT = 2 ** 63

/** The configs that a partition obeys. Rows of the table have checked the words that the types below name. */
export function partitionConfigOf(overrides: Readonly<Record<string, string>>, settings: ReadConfig): PartitionConfig {
  const topic = topicConfigOf(overrides, settings)
  const difference = topic['message.timestamp.difference.max.ms']
  if (difference === NO_LIMIT) return topic as unknown as PartitionConfig
  const limit = (own: number) => (own === NO_LIMIT ? difference : own)
  return {
    ...topic,
    'message.timestamp.before.max.ms': limit(topic['message.timestamp.before.max.ms']),
    'message.timestamp.after.max.ms': limit(topic['message.timestamp.after.max.ms']),
  } as unknown as PartitionConfig
}

export interface PartitionChannelOptions {
  readonly partitions: Partitions
  readonly settings: ReadConfig
  readonly log: Logger
}

export function partitionChannel({ partitions, settings, log }: PartitionChannelOptions): BrokerChannel {
  const lead = async (one: PartitionAssignment, config: PartitionConfig): Promise<PartitionFailure | null> => {
    const { topic, index, leader, leaderEpoch, isr, replicas } = one
    const topicId = one.topicId === ZERO_TOPIC_ID ? null : one.topicId
    const topicPartition = { topic, partition: index }
    const offline = async (reason: string): Promise<PartitionFailure> => {
      log.error({ topic, partition: index }, `${topic}-${index} is offline: ${reason}`)
      await partitions.takeOffline(topicPartition, config, 'KAFKA_STORAGE_ERROR', reason)
      return { topic, index, error: 'KAFKA_STORAGE_ERROR' }
    }
    if (one.problem !== null) {
      await partitions.takeOffline(topicPartition, config, 'KAFKA_STORAGE_ERROR', one.problem)
      return null // the controller knows, and has said so
    }
    const found = partitions.logs.get(topicPartition)
    if (leader !== partitions.brokerId) {
      const { error, message } = refusal('NOT_LEADER_OR_FOLLOWER', 'this broker does not lead the partition')
      await partitions.takeOffline(topicPartition, config, error, message)
      return null
    }
    if (found === undefined && one.log === 'existing')
      return offline('its folder is gone, and a new empty one would hide the loss')
    if (found?.topicId && found.topicId !== topicId) {
      return offline(`its folder belongs to the topic id ${found.topicId}, and the metadata says ${topicId}`)
    }
    try {
      await partitions.lead(topicPartition, { leaderEpoch, isr, replicas, topicId, config })
      return null
    } catch (error) {
      return offline((error as Error).message)
    }
  }

  return {
    async leaderAndIsr(assignments, configs) {
      const byTopic = new Map<string, PartitionConfig>()
      const configOf = (topic: string) => {
        const config = byTopic.get(topic) ?? partitionConfigOf(configs.get(topic) ?? {}, settings)
        byTopic.set(topic, config)
        return config
      }
      // Logs that were there before the metadata was read know only what topics inherit.
      for (const [topic, overrides] of configs) {
        if (Object.keys(overrides).length > 0) partitions.logs.setTopicConfig(topic, configOf(topic))
      }
      return inParallel(assignments, (one) => lead(one, configOf(one.topic)))
    },

    async stopReplica(stopped, files) {
      return inParallel(stopped, async ({ topic, index }): Promise<PartitionFailure | null> => {
        const topicPartition = { topic, partition: index }
        try {
          if (files === 'delete') await partitions.remove(topicPartition)
          else {
            const config = partitions.get(topic, index)?.config ?? partitionConfigOf({}, settings)
            await partitions.takeOffline(topicPartition, config, 'NOT_LEADER_OR_FOLLOWER', 'the replica was stopped')
          }
          return null
        } catch (error) {
          log.error({ topic, partition: index, err: error }, `${topic}-${index} could not be stopped`)
          return { topic, index, error: 'KAFKA_STORAGE_ERROR' }
        }
      })
    },

    topicConfigs(topic, overrides) {
      partitions.configure(topic, partitionConfigOf(overrides, settings))
    },

    releaseRetention(topic) {
      partitions.logs.releaseRetention(topic)
    },
  }
}

async function inParallel<T>(
  items: readonly T[],
  work: (item: T) => Promise<PartitionFailure | null>,
): Promise<readonly PartitionFailure[]> {
  const failures: PartitionFailure[] = []
  let next = 0
  const worker = async () => {
    while (next < items.length) {
      const failure = await work(items[next++]!)
      if (failure !== null) failures.push(failure)
    }
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, worker))
  return failures
}
