/** The consumer's public face. What happens between run() and stop() is in life.ts. */

import { AsyncLocalStorage } from 'node:async_hooks'
import { KafkaJSNonRetriableError } from '../errors.js'
import type { ConsumerListeners, On } from '../event-payloads.js'
import { CONSUMER_EVENTS, type ConsumerEvents, type Instrumentation, onOf } from '../events.js'
import { type GroupDescription, groupDescription } from '../group-description.js'
import type { Logger } from '../logger.js'
import {
  checkSubscription,
  checkTopics,
  matches,
  parseCommits,
  parseSeek,
  type Subscription,
  type TopicPartitionOffsetAndMetadata,
  type TopicPartitions,
} from './arguments.js'
import { Life, type LifeOptions } from './life.js'
import type { EachBatchPayload, EachMessagePayload } from './runner.js'

export type EachBatchHandler = (payload: EachBatchPayload) => Promise<void>
export type EachMessageHandler = (payload: EachMessagePayload) => Promise<void>

export interface ConsumerRunConfig {
  autoCommit?: boolean
  /** ms; null (default): not by time. */
  autoCommitInterval?: number | null
  /** Messages; null (default): not by count. Without both, each batch is committed. */
  autoCommitThreshold?: number | null
  eachBatchAutoResolve?: boolean
  partitionsConsumedConcurrently?: number
  eachBatch?: EachBatchHandler
  /** Counts when both handlers are given. */
  eachMessage?: EachMessageHandler
}

export interface ConsumerOptions extends LifeOptions {
  readonly instrumentation: Instrumentation
}

const NOT_RUNNING = 'Consumer group was not initialized, consumer#run must be called first'

export class Consumer {
  readonly events: ConsumerEvents = CONSUMER_EVENTS
  /** Adds a listener; the answer removes it. */
  readonly on: On<ConsumerListeners>
  readonly #options: ConsumerOptions
  readonly #topics = new Map<string, { fromBeginning: boolean }>()
  readonly #handlerCalls = new AsyncLocalStorage<true>()
  #life: Life | undefined

  constructor(options: ConsumerOptions) {
    this.#options = options
    this.on = onOf('consumer', CONSUMER_EVENTS, options.instrumentation) as On<ConsumerListeners>
  }

  logger(): Logger {
    return this.#options.logger
  }

  async connect(): Promise<void> {
    await this.#options.cluster.connect()
    this.#emit(CONSUMER_EVENTS.CONNECT, () => null)
  }

  /** Stops, leaves the group and closes the connections. Inside a handler it does not wait for that handler. */
  async disconnect(): Promise<void> {
    const life = this.#life
    const stopped = this.stop()
    if (life !== undefined && this.#handlerCalls.getStore() === true) void life.ended.then(() => this.#close())
    else {
      await stopped
      await this.#close()
    }
  }

  async #close(): Promise<void> {
    await this.#options.cluster.disconnect()
    this.#emit(CONSUMER_EVENTS.DISCONNECT, () => null)
  }

  /** Leaves the group after the running handlers are done; the connections stay. Inside a handler it does not wait for that handler. */
  async stop(): Promise<void> {
    const life = this.#life
    if (life === undefined) return
    life.stop()
    if (this.#handlerCalls.getStore() !== true) await life.ended
  }

  /** Adds topics. A RegExp is resolved once, now. Throws while running. */
  async subscribe(subscription: Subscription): Promise<void> {
    if (this.#life !== undefined) throw new KafkaJSNonRetriableError('Cannot subscribe to topic while consumer is running')
    const wanted = checkSubscription(subscription)
    const { fromBeginning = false } = subscription
    const { cluster } = this.#options
    // As in kafkajs, a program may subscribe before it connects.
    await cluster.connect()
    const named = new Set<string>()
    const patterns = wanted.filter((each) => each instanceof RegExp)
    if (patterns.length > 0)
      for (const { name } of (await cluster.retrying(() => cluster.metadata(null))).topics)
        if (name !== null && patterns.some((pattern) => matches(pattern, name))) named.add(name)
    for (const each of wanted) if (typeof each === 'string') named.add(each)
    await cluster.retrying(() => cluster.addMultipleTargetTopics([...named]))
    // Only what could be found: a topic that was refused here would crash run().
    for (const name of named) this.#topics.set(name, { fromBeginning })
  }

  /** Joins the group and starts to consume; resolves after the first join (a failed one goes to the CRASH event). */
  async run(config: ConsumerRunConfig = {}): Promise<void> {
    const { logger, groupId } = this.#options
    if (this.#life !== undefined) {
      logger.warn('consumer#run was called, but the consumer is already running', { groupId })
      return
    }
    const concurrency = config.partitionsConsumedConcurrently ?? 1
    if (!(concurrency >= 1))
      throw new KafkaJSNonRetriableError(`Invalid partitionsConsumedConcurrently ${concurrency}: expected 1 or more`)
    const life = new Life({
      ...this.#options,
      run: {
        autoCommit: config.autoCommit ?? true,
        autoCommitIntervalMs: config.autoCommitInterval ?? null,
        autoCommitThreshold: config.autoCommitThreshold ?? null,
        eachBatchAutoResolve: config.eachBatchAutoResolve ?? true,
        partitionsConsumedConcurrently: concurrency,
        eachMessage: config.eachMessage ?? undefined,
        eachBatch: config.eachBatch ?? undefined,
      },
      topics: this.#topics,
      handlerCalls: this.#handlerCalls,
      emit: (type, payload) => this.#emit(type, payload),
      onFinalCrash: () => this.#close(),
    })
    this.#life = life
    void life.ended.then(() => {
      this.#life = undefined
    })
    await life.begun
  }

  /** Stores the offsets given (the next to read) for the group. */
  async commitOffsets(topicPartitions: TopicPartitionOffsetAndMetadata[] = []): Promise<void> {
    const offsets = parseCommits(topicPartitions)
    const life = this.#running()
    if (offsets.length > 0) await life.commit(offsets)
  }

  /** Moves a partition to another offset; -1 and -2 mean latest and earliest. Needs run() first. */
  seek(topicPartitionOffset: { topic: string; partition: number; offset: string }): void {
    const { topic, partition, offset } = parseSeek(topicPartitionOffset)
    const life = this.#running()
    life.positions.seek(topic, partition, offset)
    life.kick()
  }

  pause(topics: TopicPartitions[] = []): void {
    checkTopics(topics, 'pause')
    const life = this.#running()
    for (const { topic, partitions } of topics) life.positions.pause(topic, partitions)
  }

  resume(topics: TopicPartitions[] = []): void {
    checkTopics(topics, 'resume')
    const life = this.#running()
    for (const { topic, partitions } of topics) life.positions.resume(topic, partitions)
    life.kick()
  }

  paused(): { topic: string; partitions: number[] }[] {
    return this.#life?.positions.paused() ?? []
  }

  async describeGroup(): Promise<GroupDescription> {
    return groupDescription(await this.#options.membership.describe())
  }

  #running(): Life {
    if (this.#life === undefined) throw new KafkaJSNonRetriableError(NOT_RUNNING)
    return this.#life
  }

  #emit(type: string, payload: () => unknown): void {
    this.#options.instrumentation.emit(type, payload)
  }
}
