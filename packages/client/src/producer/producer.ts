/** The producer's public face: checks what it is given, places records in partitions, and tells where they went. sender.ts sends. */

import type { CompressionTypes } from '../enums.js'
import { KafkaJSError, KafkaJSNonRetriableError, KafkaJSNotImplemented, KafkaJSTopicMetadataNotLoaded } from '../errors.js'
import type { On, ProducerListeners } from '../event-payloads.js'
import { type Instrumentation, onOf, PRODUCER_EVENTS, type ProducerEvents } from '../events.js'
import type { Logger } from '../logger.js'
import type { Delivery, Placed } from './accumulator.js'
import { type Message, recordOf } from './messages.js'
import type { Partitioner } from './partitioner.js'
import { Sender, type SenderOptions } from './sender.js'

export interface ProducerRecord {
  topic: string
  messages: Message[]
  /** -1: all in-sync replicas (default), 1: the leader, 0: no answer. */
  acks?: number
  /** How long the broker may wait for its replicas, in ms. Default 30000. */
  timeout?: number
  compression?: CompressionTypes
}

export interface TopicMessages {
  topic: string
  messages: Message[]
}

export interface ProducerBatch {
  acks?: number
  timeout?: number
  compression?: CompressionTypes
  topicMessages?: TopicMessages[]
}

/** One entry for each partition that got messages. Offsets and times are decimal strings. */
export interface RecordMetadata {
  topicName: string
  partition: number
  errorCode: number
  /** Only brokers before 0.11 answered these two. */
  offset?: string
  timestamp?: string
  /** Offset of the first message of this call in the partition. */
  baseOffset?: string
  /** When the broker stamped the batch, in ms; -1 when records keep their own time. */
  logAppendTime?: string
  logStartOffset?: string
}

export interface ProducerOptions extends SenderOptions {
  readonly instrumentation: Instrumentation
  readonly partitioner: Partitioner
}

export class Producer {
  readonly events: ProducerEvents = PRODUCER_EVENTS
  /** Adds a listener; the answer removes it. */
  readonly on: On<ProducerListeners>
  readonly #options: ProducerOptions
  readonly #sender: Sender
  readonly #waitingForSends: (() => void)[] = []
  #sendsUnderWay = 0
  #state: 'disconnected' | 'connecting' | 'connected' | 'disconnecting' = 'disconnected'

  constructor(options: ProducerOptions) {
    this.#options = options
    this.#sender = new Sender(options)
    this.on = onOf('producer', PRODUCER_EVENTS, options.instrumentation) as On<ProducerListeners>
  }

  isIdempotent(): boolean {
    return this.#options.idempotent
  }

  logger(): Logger {
    return this.#options.logger
  }

  async connect(): Promise<void> {
    if (this.#state === 'connected') return
    this.#state = 'connecting'
    try {
      await this.#options.cluster.connect()
      if (this.#options.idempotent) await this.#sender.identify()
    } catch (error) {
      this.#state = 'disconnected'
      await this.#options.cluster.disconnect()
      throw error
    }
    this.#sender.open()
    this.#state = 'connected'
    this.#options.instrumentation.emit(PRODUCER_EVENTS.CONNECT, () => null)
  }

  /** Waits for what was sent (as long as retries allow), then closes the connections. */
  async disconnect(): Promise<void> {
    if (this.#state === 'disconnected') return
    this.#state = 'disconnecting'
    await this.#allSent()
    this.#sender.close(new KafkaJSNonRetriableError('The producer is disconnected'))
    await this.#options.cluster.disconnect()
    this.#state = 'disconnected'
    this.#options.instrumentation.emit(PRODUCER_EVENTS.DISCONNECT, () => null)
  }

  /** Sends messages to one topic. Resolves when all are acknowledged; rejects with the first failure. */
  send({ topic, messages, acks, timeout, compression }: ProducerRecord): Promise<RecordMetadata[]> {
    return this.sendBatch({
      ...(acks === undefined ? {} : { acks }),
      ...(timeout === undefined ? {} : { timeout }),
      ...(compression === undefined ? {} : { compression }),
      topicMessages: [{ topic, messages }],
    })
  }

  /** Sends messages to several topics; entries of one topic are merged. */
  async sendBatch({
    acks = -1,
    timeout = 30_000,
    compression = 0,
    topicMessages = [],
  }: ProducerBatch): Promise<RecordMetadata[]> {
    this.#check(acks, compression, topicMessages)
    this.#sendsUnderWay++
    try {
      return await this.#sendChecked({ acks, timeoutMs: timeout, codec: compression }, topicMessages)
    } finally {
      this.#sendsUnderWay--
      if (this.#sendsUnderWay === 0) for (const resolve of this.#waitingForSends.splice(0)) resolve()
    }
  }

  async #sendChecked(delivery: Delivery, topicMessages: TopicMessages[]): Promise<RecordMetadata[]> {
    if (!this.#sender.hasRoom) await this.#sender.room()
    const { cluster, environment } = this.#options
    const merged = new Map<string, Message[]>()
    for (const { topic, messages } of topicMessages) {
      const known = merged.get(topic)
      if (known === undefined) merged.set(topic, messages)
      else merged.set(topic, [...known, ...messages])
    }
    const now = environment.clock.now()
    // All messages are read before any is sent: a bad one refuses the whole call.
    const byTopic = [...merged].map(([topic, messages]) => ({
      topic,
      messages,
      records: messages.map((message) => recordOf(topic, message, now)),
    }))
    await this.#knowTopics([...merged.keys()])
    const placed: Promise<RecordMetadata>[] = []
    for (const { topic, messages, records } of byTopic) {
      const partitionMetadata = cluster.findTopicPartitionMetadata(topic)
      if (partitionMetadata.length === 0)
        throw new KafkaJSTopicMetadataNotLoaded('Producing to topic without metadata', { topic })
      const byPartition = new Map<number, (typeof records)[number][]>()
      messages.forEach((message, at) => {
        const partition = this.#options.partitioner({ topic, partitionMetadata, message })
        const group = byPartition.get(partition)
        if (group === undefined) byPartition.set(partition, [records[at]!])
        else group.push(records[at]!)
      })
      for (const [partition, group] of byPartition)
        placed.push(this.#sender.append(topic, partition, delivery, group).then((result) => metadataOf(topic, partition, result)))
    }
    this.#sender.flushSoon()
    const settled = await Promise.allSettled(placed)
    const failed = settled.find((each) => each.status === 'rejected')
    if (failed !== undefined) throw failed.reason
    if (delivery.acks === 0) return []
    return settled.map((each) => (each as PromiseFulfilledResult<RecordMetadata>).value)
  }

  /** Transactions are not part of this version: it rejects and says so. */
  async transaction(): Promise<never> {
    if (this.#options.transactionalId === undefined)
      throw new KafkaJSNonRetriableError('Must provide transactional id for transactional producer')
    throw new KafkaJSNotImplemented('Transactions are not implemented in this version of @mq/client')
  }

  /** In kafkajs' order: what is wrong with the call comes before the state of the connection. */
  #check(acks: number, compression: number, topicMessages: TopicMessages[]): void {
    for (const { topic } of topicMessages) if (!topic) throw new KafkaJSNonRetriableError('Invalid topic')
    if (this.#options.idempotent && acks !== -1)
      throw new KafkaJSNonRetriableError(
        "Not requiring ack for all messages invalidates the idempotent producer's EoS guarantees",
      )
    for (const { topic, messages } of topicMessages)
      if (!messages) throw new KafkaJSNonRetriableError(`Invalid messages array [${messages}] for topic "${topic}"`)
    if (!(compression >= 0 && compression <= 4))
      throw new KafkaJSNonRetriableError(`Invalid compression ${compression}: expected one of CompressionTypes`)
    if (![-1, 0, 1].includes(acks)) throw new KafkaJSNonRetriableError(`Invalid acks ${acks}: expected -1, 0 or 1`)
    if (this.#state === 'disconnecting')
      throw new KafkaJSNonRetriableError("The producer is disconnecting; therefore, it can't safely accept messages anymore")
    if (this.#state !== 'connected') throw new KafkaJSError('The producer is disconnected')
  }

  async #knowTopics(topics: string[]): Promise<void> {
    const { cluster, logger } = this.#options
    if (topics.some((topic) => cluster.image.topics.get(topic)?.errorCode !== 0))
      await cluster.retrying(() => cluster.addMultipleTargetTopics(topics))
    // What is old still says where to send to: more partitions are worth one question, not a failed send.
    else if (cluster.isStale)
      await cluster.refreshMetadata().catch((error: Error) => logger.warn(`Cannot refresh metadata: ${error.message}`))
  }

  #allSent(): Promise<void> {
    return this.#sendsUnderWay === 0 ? Promise.resolve() : new Promise((resolve) => this.#waitingForSends.push(resolve))
  }
}

function metadataOf(
  topicName: string,
  partition: number,
  { baseOffset, logAppendTimeMs, logStartOffset }: Placed,
): RecordMetadata {
  return {
    topicName,
    partition,
    errorCode: 0,
    baseOffset: String(baseOffset),
    logAppendTime: String(logAppendTimeMs),
    logStartOffset: String(logStartOffset),
  }
}
