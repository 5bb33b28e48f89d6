/** Carries batches from the accumulator to the leaders: who may send now, what was answered, what is tried again. */

import type { Cluster } from '../cluster.js'
import {
  failureOf,
  KafkaJSError,
  KafkaJSNumberOfRetriesExceeded,
  KafkaJSProtocolError,
  type ProtocolFailure,
  protocolError,
} from '../errors.js'
import type { Logger } from '../logger.js'
import type { Environment } from '../ports.js'
import { mayRetry, type RetryPolicy, retryDelays } from '../retry.js'
import type { ResponseOf } from '../versions.js'
import { Accumulator, type Batch, type Delivery, type Placed } from './accumulator.js'
import type { RecordInput } from './messages.js'
import { Sequences } from './sequences.js'

export interface SenderOptions {
  readonly cluster: Cluster
  readonly environment: Environment
  readonly logger: Logger
  readonly retry: RetryPolicy
  readonly idempotent: boolean
  readonly transactionalId: string | undefined
  readonly transactionTimeoutMs: number
}

/** Most bytes that wait in the producer; send() holds its caller back above it. */
const BUFFER_BYTES = 64 * 1024 * 1024
/** How much longer than the broker's own limit a Produce answer may take, in ms. */
const ANSWER_MARGIN_MS = 5_000
const UNKNOWN_TOPIC_OR_PARTITION = 3
const LEADER_NOT_AVAILABLE = 5
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

export class Sender {
  readonly #options: SenderOptions
  readonly #accumulator = new Accumulator()
  readonly #sequences = new Sequences()
  readonly #delays = new Map<Batch, Generator<number>>()
  readonly #waitingForRoom: (() => void)[] = []
  #isClosed = false
  #pumpScheduled = false
  #pumpAgain: () => void = () => {}
  #identifying: Promise<void> | undefined

  constructor(options: SenderOptions) {
    this.#options = options
  }

  open(): void {
    this.#isClosed = false
  }

  /** Gives up what still waits. */
  close(reason: Error): void {
    this.#isClosed = true
    this.#pumpAgain()
    this.#accumulator.failAll(reason)
    this.#sequences.forget()
  }

  append(topic: string, partition: number, delivery: Delivery, records: readonly RecordInput[]): Promise<Placed> {
    return this.#accumulator.append(topic, partition, delivery, records)
  }

  get hasRoom(): boolean {
    return this.#accumulator.sizeInBytes <= BUFFER_BYTES
  }

  async room(): Promise<void> {
    while (!this.hasRoom) await new Promise<void>((resolve) => this.#waitingForRoom.push(resolve))
  }

  #madeRoom(): void {
    if (this.hasRoom) for (const resume of this.#waitingForRoom.splice(0)) resume()
  }

  /** Sends of one turn gather: the pump runs once they have all been encoded. */
  flushSoon(): void {
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
    if (leaderless.length > 0) void this.#findLeaders(leaderless)
    this.#pumpAgain()
    if (nextAt !== undefined) this.#pumpAgain = environment.timers.after(nextAt - now, () => this.flushSoon())
  }

  /** Nobody leads the partitions of these batches, as far as the metadata says: it is asked for anew before the next try. */
  async #findLeaders(batches: Batch[]): Promise<void> {
    await this.#refreshMetadata()
    for (const batch of batches)
      if (this.#options.cluster.leaderOf(batch.topic, batch.partition) === undefined)
        this.#failed(batch, this.#leaderlessError(batch))
      else this.#accumulator.postpone(batch, 0)
    this.#madeRoom()
    this.flushSoon()
  }

  #leaderlessError({ topic, partition }: Batch): Error {
    const partitions = this.#options.cluster.image.topics.get(topic)?.partitions ?? []
    const exists = partitions.some(({ partitionId }) => partitionId === partition)
    return this.#about(
      topic,
      partition,
      exists
        ? failureOf(LEADER_NOT_AVAILABLE)
        : failureOf(
            UNKNOWN_TOPIC_OR_PARTITION,
            `${topic} has ${partitions.length} partitions, and none with the number ${partition}`,
          ),
    )
  }

  #about(topic: string, partition: number, failure: ProtocolFailure): Error {
    return Object.assign(new KafkaJSProtocolError(failure), { topic, partition })
  }

  async #refreshMetadata(): Promise<void> {
    const { cluster, logger } = this.#options
    await cluster.refreshMetadata().catch((error: Error) => logger.warn(`Cannot refresh metadata: ${error.message}`))
  }

  #identifyThenPump(): void {
    this.identify().then(
      () => this.flushSoon(),
      (error: Error) => {
        this.#accumulator.failAll(error)
        this.#madeRoom()
      },
    )
  }

  /** Asks for a producer id. Callers at the same time share one request. */
  identify(): Promise<void> {
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
      for (const batch of batches) await this.#accumulator.compressed(batch)
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
      await this.#refreshMetadata()
    }
    this.#madeRoom()
    this.flushSoon()
  }

  #topicData(batches: Batch[]): { name: string; partitionData: { index: number; records: Buffer }[] }[] {
    const byTopic = new Map<string, { index: number; records: Buffer }[]>()
    for (const batch of batches) {
      const { topic, partition, recordCount } = batch
      const takeStamp = this.#options.idempotent ? () => this.#sequences.take(topic, partition, recordCount) : undefined
      const entry = { index: partition, records: this.#accumulator.bytesOf(batch, takeStamp) }
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
          // What shares a batch was gathered here: what was too large together may fit alone.
          if (failure.type === 'MESSAGE_TOO_LARGE' && this.#accumulator.split(batch)) this.#delays.delete(batch)
          else this.#failed(batch, this.#about(batch.topic, batch.partition, failure))
        }
      }
    for (const batch of waiting.values())
      this.#failed(batch, new KafkaJSError(`The broker did not answer for ${batch.topic}-${batch.partition}`))
    if (stale) void this.#refreshMetadata()
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
    const next = mayRetry(error) && !this.#isClosed ? delays.next() : ({ done: true } as const)
    if (next.done === true) {
      this.#delays.delete(batch)
      if (batch.stamp !== undefined) this.#sequences.forget()
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
