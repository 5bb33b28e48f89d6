/** The producer's public face, and the runner that carries batches from the accumulator to the leaders. */

import { crc32c, RECORD_BATCH } from '@mq/protocol'
import type { Cluster } from '../cluster'
import type { CompressionTypes } from '../enums'
import {
  failureOf,
  KafkaJSError,
  KafkaJSNonRetriableError,
  KafkaJSNotImplemented,
  KafkaJSNumberOfRetriesExceeded,
  KafkaJSProtocolError,
  KafkaJSTopicMetadataNotLoaded,
  protocolError,
} from '../errors'
import type { On, ProducerListeners } from '../event-payloads'
import { type Instrumentation, onOf, PRODUCER_EVENTS, type ProducerEvents } from '../events'
import type { Logger } from '../logger'
import type { Environment } from '../ports'
import { mayRetry, type RetryPolicy, retryDelays } from '../retry'
import type { ResponseOf } from '../versions'
import { Accumulator, type Batch, type Delivery, type Placed } from './accumulator'
import { type Message, recordOf } from './messages'
import type { Partitioner } from './partitioner'
import { Sequences, type Stamp } from './sequences'

export interface ProducerRecord {
  topic: string
  messages: Message[]
  /** -1: all in-sync replicas (default), 1: the leader, 0: no answer. */
  acks?: number
  /** How long the broker may wait for its replicas, in ms. Default 30000. */
  timeout?: number
  compression?: CompressionTypes
}

export interface ProducerBatch {
  acks?: number
  timeout?: number
  compression?: CompressionTypes
  topicMessages?: { topic: string; messages: Message[] }[]
}

/** One entry for each partition that got messages. Offsets and times are decimal strings. */
export interface RecordMetadata {
  topicName: string
  partition: number
  errorCode: number
  /** Offset of the first message of this call in the partition. */
  baseOffset?: string
  /** When the broker stamped the batch, in ms; -1 when records keep their own time. */
  logAppendTime?: string
  logStartOffset?: string
}

export interface ProducerOptions {
  readonly cluster: Cluster
  readonly environment: Environment
  readonly instrumentation: Instrumentation
  readonly logger: Logger
  readonly partitioner: Partitioner
  readonly retry: RetryPolicy
  readonly idempotent: boolean
  readonly transactionalId: string | undefined
  readonly transactionTimeoutMs: number
}

/** Most bytes that wait in the producer; send() holds its caller back above it. */
const BUFFER_BYTES = 64 * 1024 * 1024
/** How much longer than the broker's own limit a Produce answer may take, in ms. */
const ANSWER_MARGIN_MS = 5_000
const DUPLICATE_SEQUENCE_NUMBER = 46
const STALE_METADATA = new Set([
  'NOT_LEADER_OR_FOLLOWER',
  'UNKNOWN_TOPIC_OR_PARTITION',
  'LEADER_NOT_AVAILABLE',
  'FENCED_LEADER_EPOCH',
  'UNKNOWN_LEADER_EPOCH',
  'REPLICA_NOT_AVAILABLE',
  'KAFKA_STORAGE_ERROR',
])

export class Producer {
  readonly events: ProducerEvents = PRODUCER_EVENTS
  /** Adds a listener; the answer removes it. */
  readonly on: On<ProducerListeners>
  readonly #options: ProducerOptions
  readonly #accumulator = new Accumulator()
  readonly #sequences = new Sequences()
  readonly #delays = new Map<Batch, Generator<number>>()
  readonly #waitingForRoom: (() => void)[] = []
  readonly #waitingForSends: (() => void)[] = []
  #sendsUnderWay = 0
  #state: 'disconnected' | 'connecting' | 'connected' | 'disconnecting' = 'disconnected'
  #pumpScheduled = false
  #pumpAgain: () => void = () => {}
  #identifying: Promise<void> | undefined

  constructor(options: ProducerOptions) {
    this.#options = options
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
      if (this.#options.idempotent) await this.#identify()
    } catch (error) {
      this.#state = 'disconnected'
      await this.#options.cluster.disconnect()
      throw error
    }
    this.#state = 'connected'
    this.#options.instrumentation.emit(PRODUCER_EVENTS.CONNECT, () => null)
  }

  /** Waits for what was sent (as long as retries allow), then closes the connections. */
  async disconnect(): Promise<void> {
    if (this.#state === 'disconnected') return
    this.#state = 'disconnecting'
    await this.#allSent()
    this.#pumpAgain()
    this.#accumulator.failAll(new KafkaJSNonRetriableError('The producer is disconnected'))
    await this.#options.cluster.disconnect()
    this.#sequences.forget()
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

  async #sendChecked(delivery: Delivery, topicMessages: { topic: string; messages: Message[] }[]): Promise<RecordMetadata[]> {
    await this.#room()
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
        placed.push(
          this.#accumulator.append(topic, partition, delivery, group).then((result) => metadataOf(topic, partition, result)),
        )
    }
    this.#schedulePump()
    const settled = await Promise.allSettled(placed)
    const failed = settled.find((each) => each.status === 'rejected')
    if (failed !== undefined) throw failed.reason
    if (delivery.acks === 0) return []
    return settled.map((each) => (each as PromiseFulfilledResult<RecordMetadata>).value)
  }

  /** Transactions are not part of this version: it rejects and says so. */
  async transaction(): Promise<never> {
    throw new KafkaJSNotImplemented('Transactions are not implemented in this version of @mq/client')
  }

  #check(acks: number, compression: number, topicMessages: { topic: string; messages: Message[] }[]): void {
    if (this.#state !== 'connected') throw new KafkaJSError('The producer is disconnected')
    if (this.#options.idempotent && acks !== -1)
      throw new KafkaJSNonRetriableError(
        "Not requiring ack for all messages invalidates the idempotent producer's EoS guarantees",
      )
    if (!(compression >= 0 && compression <= 4))
      throw new KafkaJSNonRetriableError(`Invalid compression ${compression}: expected one of CompressionTypes`)
    if (![-1, 0, 1].includes(acks)) throw new KafkaJSNonRetriableError(`Invalid acks ${acks}: expected -1, 0 or 1`)
    for (const { topic, messages } of topicMessages) {
      if (!topic) throw new KafkaJSNonRetriableError('Invalid topic')
      if (!messages) throw new KafkaJSNonRetriableError(`Invalid messages array [${messages}] for topic "${topic}"`)
    }
  }

  async #knowTopics(topics: string[]): Promise<void> {
    const { cluster } = this.#options
    if (topics.every((topic) => cluster.image.topics.get(topic)?.errorCode === 0)) return
    await cluster.retrying(() => cluster.addMultipleTargetTopics(topics))
  }

  async #room(): Promise<void> {
    while (this.#accumulator.sizeInBytes > BUFFER_BYTES) await new Promise<void>((resolve) => this.#waitingForRoom.push(resolve))
  }

  #madeRoom(): void {
    if (this.#accumulator.sizeInBytes <= BUFFER_BYTES) for (const resume of this.#waitingForRoom.splice(0)) resume()
  }

  #allSent(): Promise<void> {
    return this.#sendsUnderWay === 0 ? Promise.resolve() : new Promise((resolve) => this.#waitingForSends.push(resolve))
  }

  /** Sends of one turn gather: the pump runs once they have all been encoded. */
  #schedulePump(): void {
    if (this.#pumpScheduled) return
    this.#pumpScheduled = true
    queueMicrotask(() => {
      this.#pumpScheduled = false
      this.#pump()
    })
  }

  #pump(): void {
    const { cluster, environment } = this.#options
    if (this.#options.idempotent && this.#sequences.identity === undefined) {
      if (!this.#accumulator.isEmpty) this.#identifyThenPump()
      return
    }
    const now = environment.clock.monotonic()
    const { requests, leaderless, nextAt } = this.#accumulator.ready(
      (topic, partition) => cluster.leaderOf(topic, partition),
      now,
    )
    for (const request of requests) void this.#deliver(request)
    let wakeAt = nextAt
    if (leaderless.length > 0) {
      wakeAt = Math.min(wakeAt ?? Number.POSITIVE_INFINITY, now + this.#options.retry.initialRetryTime)
      for (const { topic, partition } of leaderless)
        if (this.#accumulator.countLeaderless(topic, partition) > this.#options.retry.retries)
          this.#accumulator.failAll(
            protocolError(5),
            (otherTopic, otherPartition) => otherTopic === topic && otherPartition === partition,
          )
      void cluster
        .refreshMetadata()
        .catch((error: Error) => this.#options.logger.warn(`Cannot refresh metadata: ${error.message}`))
      this.#madeRoom()
    }
    this.#pumpAgain()
    if (wakeAt !== undefined) this.#pumpAgain = environment.timers.after(wakeAt - now, () => this.#schedulePump())
  }

  #identifyThenPump(): void {
    this.#identify().then(
      () => this.#schedulePump(),
      (error: Error) => {
        this.#accumulator.failAll(error)
        this.#madeRoom()
      },
    )
  }

  /** Asks for a producer id. Callers at the same time share one request. */
  #identify(): Promise<void> {
    this.#identifying ??= this.#askIdentity().finally(() => {
      this.#identifying = undefined
    })
    return this.#identifying
  }

  async #askIdentity(): Promise<void> {
    const { cluster, transactionalId, transactionTimeoutMs } = this.#options
    await cluster.retrying(async () => {
      const connection = await cluster.anyBroker()
      const response = await connection.send('InitProducerId', {
        transactionalId: transactionalId ?? null,
        transactionTimeoutMs,
        producerId: -1,
        producerEpoch: -1,
      })
      if (response.errorCode !== 0) throw protocolError(response.errorCode)
      this.#sequences.start({ producerId: response.producerId, producerEpoch: response.producerEpoch })
    })
  }

  async #deliver({ leader, delivery, batches }: { leader: number; delivery: Delivery; batches: Batch[] }): Promise<void> {
    const { cluster } = this.#options
    try {
      const connection = await cluster.findBroker({ nodeId: leader })
      const response = await connection.send(
        'Produce',
        { transactionalId: null, acks: delivery.acks, timeoutMs: delivery.timeoutMs, topicData: this.#topicData(batches) },
        { expectsAnswer: delivery.acks !== 0, timeoutMs: delivery.timeoutMs + ANSWER_MARGIN_MS },
      )
      if (delivery.acks === 0)
        for (const batch of batches) this.#placed(batch, { baseOffset: -1, logAppendTimeMs: -1, logStartOffset: -1 })
      else this.#answered(batches, response)
    } catch (error) {
      for (const batch of batches) this.#failed(batch, error as Error)
      await cluster
        .refreshMetadata()
        .catch((problem: Error) => this.#options.logger.warn(`Cannot refresh metadata: ${problem.message}`))
    }
    this.#madeRoom()
    this.#schedulePump()
  }

  #topicData(batches: Batch[]): { name: string; partitionData: { index: number; records: Buffer }[] }[] {
    const byTopic = new Map<string, { index: number; records: Buffer }[]>()
    for (const batch of batches) {
      const { topic, partition, recordCount } = batch
      const stamp = this.#options.idempotent
        ? (bytes: Buffer) => stampBatch(bytes, this.#sequences.take(topic, partition, recordCount))
        : undefined
      const entry = { index: partition, records: this.#accumulator.bytesOf(batch, stamp) }
      const group = byTopic.get(topic)
      if (group === undefined) byTopic.set(topic, [entry])
      else group.push(entry)
    }
    return [...byTopic].map(([name, partitionData]) => ({ name, partitionData }))
  }

  #answered(batches: Batch[], response: ResponseOf<'Produce'>): void {
    const waiting = new Map(batches.map((batch) => [`${batch.topic}\u0000${batch.partition}`, batch]))
    let stale = false
    for (const { name, partitionResponses } of response.responses)
      for (const answer of partitionResponses) {
        const key = `${name}\u0000${answer.index}`
        const batch = waiting.get(key)
        if (batch === undefined) continue
        waiting.delete(key)
        if (answer.errorCode === 0 || answer.errorCode === DUPLICATE_SEQUENCE_NUMBER)
          this.#placed(batch, {
            baseOffset: answer.errorCode === 0 ? answer.baseOffset : -1,
            logAppendTimeMs: answer.logAppendTimeMs,
            logStartOffset: answer.logStartOffset,
          })
        else {
          const failure = failureOf(answer.errorCode, answer.errorMessage)
          stale ||= STALE_METADATA.has(failure.type)
          this.#failed(
            batch,
            Object.assign(new KafkaJSProtocolError(failure), { topic: batch.topic, partition: batch.partition }),
          )
        }
      }
    for (const batch of waiting.values())
      this.#failed(batch, new KafkaJSError(`The broker did not answer for ${batch.topic}-${batch.partition}`))
    if (stale)
      void this.#options.cluster
        .refreshMetadata()
        .catch((error: Error) => this.#options.logger.warn(`Cannot refresh metadata: ${error.message}`))
  }

  #placed(batch: Batch, placed: Placed): void {
    this.#delays.delete(batch)
    this.#accumulator.settle(batch, placed)
  }

  /** Tries the batch again later, or gives it up. */
  #failed(batch: Batch, error: Error): void {
    const { environment, retry, logger } = this.#options
    const delays = this.#delays.get(batch) ?? retryDelays(retry, environment.random)
    this.#delays.set(batch, delays)
    const next = mayRetry(error) && this.#state !== 'disconnected' ? delays.next() : ({ done: true } as const)
    if (next.done === true) {
      this.#delays.delete(batch)
      if (this.#options.idempotent) this.#sequences.forget()
      const final = mayRetry(error)
        ? new KafkaJSNumberOfRetriesExceeded(error, { retryCount: batch.attempts - 1, retryTime: 0 })
        : error
      this.#accumulator.settle(batch, final)
      return
    }
    logger.debug(`Trying ${batch.topic}-${batch.partition} again in ${next.value} ms`, { error: error.message })
    this.#accumulator.postpone(batch, environment.clock.monotonic() + next.value)
  }
}

/** Writes producer id and sequence into a finished batch and puts its checksum right. */
function stampBatch(bytes: Buffer, { producerId, producerEpoch, baseSequence }: Stamp): void {
  RECORD_BATCH.producerId.set(bytes, 0, producerId)
  RECORD_BATCH.producerEpoch.set(bytes, 0, producerEpoch)
  RECORD_BATCH.baseSequence.set(bytes, 0, baseSequence)
  RECORD_BATCH.crc.set(bytes, 0, crc32c(bytes, RECORD_BATCH.attributes.at))
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
