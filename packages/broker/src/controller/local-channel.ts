/** The controller's channel to the partitions of its own process: plain calls in place of LeaderAndIsr and StopReplica requests. */
import type { PartitionConfig, Partitions } from '@mq/replica'
import { ZERO_TOPIC_ID } from '../metadata/image.js'
import type { Logger } from '../ports.js'
import type { BrokerChannel, PartitionAssignment, PartitionFailure } from './api.js'

export interface LocalChannelOptions {
  readonly brokerId: number
  readonly partitions: Partitions
  /** The configs of a topic with these overrides. */
  readonly configOf: (overrides: Readonly<Record<string, string>>) => PartitionConfig
  readonly log: Logger
}

/** Logs that are opened or made at a time: each makes a folder and syncs it. */
const AT_A_TIME = 64

export class LocalChannel implements BrokerChannel {
  readonly #options: LocalChannelOptions

  constructor(options: LocalChannelOptions) {
    this.#options = options
  }

  async leaderAndIsr(
    assignments: readonly PartitionAssignment[],
    overrides: ReadonlyMap<string, Readonly<Record<string, string>>>,
  ): Promise<readonly PartitionFailure[]> {
    const configs = new Map(Array.from(overrides, ([topic, configs]) => [topic, this.#options.configOf(configs)] as const))
    return this.#each(assignments, (assignment) => this.#follow(assignment, configs.get(assignment.topic)!))
  }

  async #follow(assignment: PartitionAssignment, config: PartitionConfig): Promise<void> {
    const { brokerId, partitions } = this.#options
    const { topic, index, leader, leaderEpoch, isr, replicas, log } = assignment
    const topicPartition = { topic, partition: index }
    const isLost = log === 'existing' && partitions.logs.get(topicPartition) === undefined
    const problem = assignment.problem ?? (isLost ? 'its log is not in the log directories' : null)
    if (problem !== null) {
      await partitions.takeOffline(topicPartition, config, 'KAFKA_STORAGE_ERROR', problem)
      if (assignment.problem === null) throw new Error(problem)
      return
    }
    if (leader !== brokerId) {
      await partitions.takeOffline(topicPartition, config, 'NOT_LEADER_OR_FOLLOWER', 'the partition has no leader here')
      return
    }
    const topicId = assignment.topicId === ZERO_TOPIC_ID ? null : assignment.topicId
    await partitions.lead(topicPartition, { leaderEpoch, isr, replicas, topicId, config })
  }

  async stopReplica(
    stopped: readonly { readonly topic: string; readonly index: number }[],
    files: 'keep' | 'delete',
  ): Promise<readonly PartitionFailure[]> {
    const { partitions } = this.#options
    return this.#each(stopped, async ({ topic, index }) => {
      const partition = partitions.get(topic, index)
      if (files === 'delete') await partitions.remove({ topic, partition: index })
      else if (partition !== undefined) {
        const message = 'the replica was stopped'
        await partitions.takeOffline({ topic, partition: index }, partition.config, 'NOT_LEADER_OR_FOLLOWER', message)
      }
    })
  }

  topicConfigs(topic: string, overrides: Readonly<Record<string, string>>): void {
    this.#options.partitions.configure(topic, this.#options.configOf(overrides))
  }

  releaseRetention(topic: string): void {
    this.#options.partitions.logs.releaseRetention(topic)
  }

  /** Some at a time; what fails is a value, with the reason in the log. */
  async #each<T extends { readonly topic: string; readonly index: number }>(
    items: readonly T[],
    act: (item: T) => Promise<void>,
  ): Promise<PartitionFailure[]> {
    const failures: PartitionFailure[] = []
    for (let at = 0; at < items.length; at += AT_A_TIME) {
      const some = items.slice(at, at + AT_A_TIME)
      const outcomes = await Promise.allSettled(some.map(act))
      for (const [index, outcome] of outcomes.entries()) {
        if (outcome.status === 'fulfilled') continue
        const { topic, index: partition } = some[index]!
        this.#options.log.error({ err: outcome.reason, topic, partition }, `${topic}-${partition} failed`)
        failures.push({ topic, index: partition, error: 'KAFKA_STORAGE_ERROR' })
      }
    }
    return failures
  }
}
