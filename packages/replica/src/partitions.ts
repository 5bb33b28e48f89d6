/**
 * All partitions of this broker: who is here, who leads, who waits for what. The controller's decisions arrive here as calls;
 * coordinators listen for the partitions of their topics.
 */
import type { LogDirectories, LogPartition, Timers, Turn } from '@mq/log'
import type { LeaderTerms } from './leader.js'
import { Partition, type PartitionConfig } from './partition.js'
import type { PartitionError } from './ports.js'
import { Purgatory } from './purgatory.js'

export interface PartitionsOptions {
  readonly brokerId: number
  readonly logs: LogDirectories
  readonly timers: Timers
  readonly turn: Turn
  /** Most fetches, and most produces, that may wait at a time. */
  readonly delayedLimit?: number
}

/** A partition that this broker is to lead. */
export interface Leadership extends LeaderTerms {
  readonly topicId: string | null
  readonly config: PartitionConfig
}

export type LeadershipListener = (partition: Partition, change: 'gained' | 'lost') => void

const DELAYED_LIMIT = 100_000

export class Partitions {
  readonly brokerId: number
  readonly logs: LogDirectories
  /** Fetches that wait for more bytes; the keys are partitions. */
  readonly delayedFetches: Purgatory
  /** Produces with acks=all that wait for followers; the keys are partitions. */
  readonly delayedProduces: Purgatory
  readonly #turn: Turn
  readonly #byTopic = new Map<string, Map<number, Partition>>()
  readonly #listeners = new Set<LeadershipListener>()
  #moved = new Set<Partition>()

  constructor(options: PartitionsOptions) {
    this.brokerId = options.brokerId
    this.logs = options.logs
    this.#turn = options.turn
    const limit = options.delayedLimit ?? DELAYED_LIMIT
    this.delayedFetches = new Purgatory({ timers: options.timers, limit })
    this.delayedProduces = new Purgatory({ timers: options.timers, limit })
  }

  get(topic: string, partition: number): Partition | undefined {
    return this.#byTopic.get(topic)?.get(partition)
  }

  /** The partitions of one topic that are here. */
  ofTopic(topic: string): Iterable<Partition> {
    return this.#byTopic.get(topic)?.values() ?? []
  }

  *all(): Iterable<Partition> {
    for (const partitions of this.#byTopic.values()) yield* partitions.values()
  }

  /** Called with every partition that this broker begins or ceases to lead from now on. The result ends it. */
  onLeadership(listener: LeadershipListener): () => void {
    this.#listeners.add(listener)
    return () => {
      this.#listeners.delete(listener)
    }
  }

  /** Leads the partition; its log is opened, or made when there is none. Resolves when it takes appends. */
  async lead(topicPartition: LogPartition, leadership: Leadership): Promise<Partition> {
    const partition = this.#obtain(topicPartition, leadership.config)
    partition.configure(leadership.config)
    const log = this.logs.get(topicPartition) ?? (await this.logs.create(topicPartition, leadership.topicId, leadership.config))
    // What `configure` brought meanwhile reached no log that was still being made.
    if (partition.config !== leadership.config) this.logs.setTopicConfig(topicPartition.topic, partition.config)
    // The folder of an older broker has no id yet.
    if (leadership.topicId !== null && log.topicId === null) await log.assignTopicId(leadership.topicId)
    await partition.becomeLeader(log, leadership)
    this.#announce(partition, 'gained')
    return partition
  }

  /** Known, but not served: answers `error` until it is led again. */
  async takeOffline(
    topicPartition: LogPartition,
    config: PartitionConfig,
    error: PartitionError,
    message: string,
  ): Promise<void> {
    const partition = this.#obtain(topicPartition, config)
    const led = partition.isLeader
    await partition.goOffline(error, message)
    if (led) this.#announce(partition, 'lost')
  }

  /** The topic is deleted: forgets the partition and deletes its log. */
  async remove(topicPartition: LogPartition): Promise<void> {
    const partition = this.get(topicPartition.topic, topicPartition.partition)
    if (partition) {
      const ofTopic = this.#byTopic.get(topicPartition.topic)
      ofTopic?.delete(topicPartition.partition)
      if (ofTopic?.size === 0) this.#byTopic.delete(topicPartition.topic)
      const led = partition.isLeader
      await partition.goOffline('NOT_LEADER_OR_FOLLOWER', 'the topic was deleted')
      if (led) this.#announce(partition, 'lost')
    }
    if (this.logs.get(topicPartition)) await this.logs.delete(topicPartition)
  }

  /** New values of a topic's configs. */
  configure(topic: string, config: PartitionConfig): void {
    this.logs.setTopicConfig(topic, config)
    for (const partition of this.ofTopic(topic)) partition.configure(config)
  }

  /** Answers whoever still waits. The logs are closed by their owner. */
  close(): void {
    this.delayedFetches.close()
    this.delayedProduces.close()
  }

  #obtain(topicPartition: LogPartition, config: PartitionConfig): Partition {
    const ofTopic = this.#byTopic.get(topicPartition.topic) ?? new Map<number, Partition>()
    this.#byTopic.set(topicPartition.topic, ofTopic)
    let partition = ofTopic.get(topicPartition.partition)
    if (!partition) {
      partition = new Partition(topicPartition, this.brokerId, config, {
        moved: (moved) => this.#onMoved(moved),
        delayedProduces: this.delayedProduces,
      })
      ofTopic.set(topicPartition.partition, partition)
    }
    return partition
  }

  /** Waiting requests are asked once per turn, so that a fetch gets all that one read callback brought. */
  #onMoved(partition: Partition): void {
    if (!this.delayedFetches.watches(partition) && !this.delayedProduces.watches(partition)) return
    this.#moved.add(partition)
    if (this.#moved.size === 1) this.#turn.afterThisTurn(() => this.#wake())
  }

  #wake(): void {
    const moved = this.#moved
    this.#moved = new Set()
    for (const partition of moved) {
      this.delayedProduces.touch(partition)
      this.delayedFetches.touch(partition)
    }
  }

  #announce(partition: Partition, change: 'gained' | 'lost'): void {
    for (const listener of this.#listeners) listener(partition, change)
  }
}
