/**
 * One assignment at work: takes fetched chunks, calls the handlers, resolves and commits, until the group rebalances or the consumer stops.
 * Partitions are handled side by side up to the asked concurrency; messages of one partition strictly in order.
 */

import { decompressReplaced, needsDecompression } from '../codecs.js'
import { KafkaJSError, KafkaJSNonRetriableError, KafkaJSNumberOfRetriesExceeded } from '../errors.js'
import type { Logger } from '../logger.js'
import type { Environment } from '../ports.js'
import { mayRetry, type RetryPolicy, retryDelays } from '../retry.js'
import type { Batch, KafkaMessage } from './batch.js'
import { decodeChunk } from './decode.js'
import type { Fetcher } from './fetcher.js'
import { isRejoin, type Membership } from './membership.js'
import { type Positions, partitionKey, type TopicPartitionOffset } from './positions.js'

export interface EachMessagePayload {
  topic: string
  partition: number
  message: KafkaMessage
  heartbeat(): Promise<void>
  /** Pauses the partition; the answer resumes it. */
  pause(): () => void
}

export interface OffsetsByTopicPartition {
  topics: { topic: string; partitions: { partition: number; offset: string }[] }[]
}

export interface EachBatchPayload {
  batch: Batch
  resolveOffset(offset: string): void
  heartbeat(): Promise<void>
  pause(): () => void
  /** With offsets: commits these. Without: commits what is resolved if an interval or threshold is set and reached. */
  commitOffsetsIfNecessary(offsets?: OffsetsByTopicPartition): Promise<void>
  uncommittedOffsets(): OffsetsByTopicPartition
  isRunning(): boolean
  /** The batch was overtaken by a seek or a rebalance: its remaining messages must not be handled. */
  isStale(): boolean
}

export interface RunOptions {
  readonly autoCommit: boolean
  /** Commit after so many ms, checked after each message or batch. null: not by time. */
  readonly autoCommitIntervalMs: number | null
  /** Commit after so many resolved messages. null: not by count. */
  readonly autoCommitThreshold: number | null
  readonly eachBatchAutoResolve: boolean
  readonly partitionsConsumedConcurrently: number
  readonly eachMessage?: ((payload: EachMessagePayload) => Promise<void>) | undefined
  readonly eachBatch?: ((payload: EachBatchPayload) => Promise<void>) | undefined
}

export interface RunnerOptions {
  readonly run: RunOptions
  readonly environment: Environment
  readonly logger: Logger
  readonly retry: RetryPolicy
  readonly readUncommitted: boolean
  readonly heartbeatIntervalMs: number
  readonly membership: Membership
  readonly positions: Positions
  readonly fetcher: Fetcher
  /** Aborted when the consumer is to stop. */
  readonly stopping: AbortSignal
  /** Marks the handler's own calls, so that a stop() inside one does not wait for it. */
  inHandler<Result>(work: () => Promise<Result>): Promise<Result>
  onHeartbeat(): void
  onCommitted(offsets: OffsetsByTopicPartition): void
  onBatch(batch: Batch): (() => void) | undefined
  /** The assignment ended by itself: by a rebalance, or by an error that retries did not cure. */
  onEnd(reason: Error): void
}

export class Runner {
  readonly #options: RunnerOptions
  readonly #busy = new Set<string>()
  #running = true
  #ended = false
  #stopped = false
  #cancelHeartbeat: () => void = () => {}
  #heartbeating: Promise<void> | undefined
  #lastHeartbeat: number
  #lastCommit: number
  #idle: (() => void)[] = []
  /** Partitions whose handler failed and has not succeeded since: how often, and the pauses that are left. */
  readonly #failing = new Map<string, { count: number; delays: Generator<number> }>()
  readonly #pauses = new Map<string, () => void>()

  constructor(options: RunnerOptions) {
    this.#options = options
    this.#lastHeartbeat = options.environment.clock.monotonic()
    this.#lastCommit = this.#lastHeartbeat
    this.#scheduleHeartbeat()
  }

  /** Takes chunks while there are some and workers are free. */
  pump(): void {
    if (!this.#running) return
    const { fetcher, positions, run } = this.#options
    for (const { topic, partition } of [...fetcher.waiting()]) {
      if (this.#busy.size >= run.partitionsConsumedConcurrently) return
      const key = partitionKey(topic, partition)
      if (this.#busy.has(key) || this.#pauses.has(key) || positions.get(topic, partition)?.paused) continue
      const chunk = fetcher.take(topic, partition)
      if (chunk === undefined) continue
      this.#busy.add(key)
      void this.#handle(chunk).finally(() => {
        this.#busy.delete(key)
        if (this.#busy.size === 0) for (const resolve of this.#idle.splice(0)) resolve()
        this.pump()
      })
    }
  }

  /** No more messages are handed out; resolves when the running handlers are done. */
  async stop(): Promise<void> {
    this.#running = false
    for (const cancel of this.#pauses.values()) cancel()
    this.#pauses.clear()
    // Handlers may take long: the member goes on beating meanwhile, or its session would end before it can join again.
    if (this.#busy.size > 0) await new Promise<void>((resolve) => this.#idle.push(resolve))
    this.#stopped = true
    this.#cancelHeartbeat()
    await this.#heartbeating
  }

  async #handle(chunk: Parameters<typeof decodeChunk>[0]): Promise<void> {
    const { topic, partition, epoch } = chunk
    const { run, positions } = this.#options
    let batch: Batch
    try {
      const records = needsDecompression() ? await decompressReplaced(chunk.records) : chunk.records
      batch = decodeChunk({ ...chunk, records }, this.#options.readUncommitted)
    } catch (error) {
      this.#end(error as Error)
      return
    }
    const finish = this.#options.onBatch(batch)
    try {
      if (run.eachMessage !== undefined) await this.#eachMessage(batch, epoch, run.eachMessage)
      else if (run.eachBatch !== undefined) await this.#eachBatch(batch, epoch, run.eachBatch)
      finish?.()
      this.#failing.delete(partitionKey(topic, partition))
      if (run.autoCommit && positions.isCurrent(topic, partition, epoch))
        await this.#autoCommit({ force: run.autoCommitIntervalMs === null && run.autoCommitThreshold === null })
    } catch (error) {
      await this.#handlerFailed(chunk, error as Error)
    }
  }

  async #eachMessage(batch: Batch, epoch: number, eachMessage: NonNullable<RunOptions['eachMessage']>): Promise<void> {
    const { topic, partition } = batch
    const { positions, logger } = this.#options
    for (const message of batch.messages) {
      if (!this.#running || !positions.isCurrent(topic, partition, epoch)) return
      if (positions.get(topic, partition)!.paused) return positions.rewind(topic, partition, Number(message.offset))
      try {
        await this.#options.inHandler(() =>
          eachMessage({
            topic,
            partition,
            message,
            heartbeat: () => this.#heartbeatIfDue(),
            pause: () => this.#pausePartition(topic, partition),
          }),
        )
      } catch (error) {
        if (!(error instanceof KafkaJSError))
          logger.error('Error when calling eachMessage', {
            topic,
            partition,
            offset: message.offset,
            stack: (error as Error)?.stack,
            error: String(error),
          })
        throw error
      }
      if (!positions.resolve(topic, partition, Number(message.offset), epoch)) return
      if (this.#options.run.autoCommit) await this.#autoCommit({ force: false })
    }
    positions.resolve(topic, partition, Number(batch.lastOffset()), epoch)
  }

  async #eachBatch(batch: Batch, epoch: number, eachBatch: NonNullable<RunOptions['eachBatch']>): Promise<void> {
    const { topic, partition } = batch
    const { positions, run, logger } = this.#options
    const stale = (): boolean => !positions.isCurrent(topic, partition, epoch)
    const lastVisible = batch.messages.at(-1)?.offset
    if (batch.isEmpty()) {
      // Markers and gaps only: nothing for the handler, but the position has to pass them.
      positions.resolve(topic, partition, Number(batch.lastOffset()), epoch)
      return
    }
    try {
      await this.#options.inHandler(() =>
        eachBatch({
          batch,
          // Resolving the last visible message passes the markers behind it as well.
          resolveOffset: (offset) =>
            void positions.resolve(topic, partition, Number(offset === lastVisible ? batch.lastOffset() : offset), epoch),
          heartbeat: () => this.#heartbeatIfDue(),
          pause: () => this.#pausePartition(topic, partition),
          commitOffsetsIfNecessary: async (offsets) => {
            if (offsets !== undefined) await this.#commit(offsetsOf(offsets))
            else await this.#autoCommit({ force: false })
          },
          uncommittedOffsets: () => byTopic(positions.uncommitted()),
          isRunning: () => this.#running,
          isStale: stale,
        }),
      )
    } catch (error) {
      if (!(error instanceof KafkaJSError))
        logger.error('Error when calling eachBatch', {
          topic,
          partition,
          offset: batch.firstOffset(),
          stack: (error as Error)?.stack,
          error: String(error),
        })
      throw error
    }
    if (run.eachBatchAutoResolve) positions.resolve(topic, partition, Number(batch.lastOffset()), epoch)
    else if (!stale() && positions.get(topic, partition)!.resolved !== Number(batch.lastOffset()) + 1)
      positions.rewind(topic, partition, positions.get(topic, partition)!.resolved ?? Number(batch.firstOffset()))
  }

  /** Commits what was done before the failure, then comes back to the failed message after a pause. */
  async #handlerFailed(
    chunk: { topic: string; partition: number; epoch: number; fetchOffset: number },
    error: Error,
  ): Promise<void> {
    const { positions, run, environment, retry, logger } = this.#options
    if (isRejoin(error)) return this.#end(error)
    const { topic, partition, epoch, fetchOffset } = chunk
    if (run.autoCommit) {
      try {
        await this.#commit(positions.uncommitted())
      } catch (problem) {
        return this.#end(problem as Error)
      }
    }
    if (positions.isCurrent(topic, partition, epoch)) {
      const { resolved } = positions.get(topic, partition)!
      positions.rewind(topic, partition, resolved !== undefined && resolved > fetchOffset ? resolved : fetchOffset)
    }
    if (!this.#running) return
    if (!mayRetry(error))
      return this.#end(error instanceof KafkaJSNonRetriableError ? error : new KafkaJSNonRetriableError(error, { cause: error }))
    const key = partitionKey(topic, partition)
    const failing = this.#failing.get(key) ?? { count: 0, delays: retryDelays(retry, environment.random) }
    this.#failing.set(key, failing)
    failing.count++
    const next = failing.delays.next()
    if (next.done)
      return this.#end(
        new KafkaJSNumberOfRetriesExceeded(error, { retryCount: failing.count - 1, retryTime: retry.maxRetryTime }),
      )
    logger.warn(`The handler failed: ${topic}-${partition} is tried again in ${next.value} ms`, {
      retryCount: failing.count,
      error: error.message,
    })
    this.#pauses.set(
      key,
      environment.timers.after(next.value, () => {
        this.#pauses.delete(key)
        this.#options.fetcher.kick()
        this.pump()
      }),
    )
    this.#options.fetcher.kick()
  }

  #pausePartition(topic: string, partition: number): () => void {
    this.#options.positions.pause(topic, [partition])
    return () => {
      this.#options.positions.resume(topic, [partition])
      this.#options.fetcher.kick()
      this.pump()
    }
  }

  async #autoCommit({ force }: { force: boolean }): Promise<void> {
    const { run, positions, environment } = this.#options
    const byTime =
      run.autoCommitIntervalMs !== null && environment.clock.monotonic() - this.#lastCommit >= run.autoCommitIntervalMs
    const byCount = run.autoCommitThreshold !== null && positions.resolvedSinceCommit >= run.autoCommitThreshold
    if (force || byTime || byCount) await this.#commit(positions.uncommitted())
  }

  /** Commits all that is resolved, whatever interval or threshold say (at a rebalance and at the end). */
  async commitAll(): Promise<void> {
    await this.#commit(this.#options.positions.uncommitted())
  }

  async #commit(offsets: TopicPartitionOffset[]): Promise<void> {
    if (offsets.length === 0) return
    const { membership, positions, environment } = this.#options
    await membership.commit(offsets)
    positions.committed(offsets)
    this.#lastCommit = environment.clock.monotonic()
    this.#options.onCommitted(byTopic(offsets))
  }

  #scheduleHeartbeat(): void {
    this.#cancelHeartbeat = this.#options.environment.timers.after(this.#options.heartbeatIntervalMs, () => {
      this.#heartbeating = this.#beat()
        .catch((error: Error) => this.#end(error))
        .finally(() => {
          this.#heartbeating = undefined
          if (!this.#stopped) this.#scheduleHeartbeat()
        })
    })
  }

  async #beat(): Promise<void> {
    await this.#options.membership.heartbeat(this.#options.stopping)
    this.#lastHeartbeat = this.#options.environment.clock.monotonic()
    this.#options.onHeartbeat()
  }

  /** What handlers call: beats if the interval has passed since the last beat; throws when the group rebalances. */
  async #heartbeatIfDue(): Promise<void> {
    const { environment, heartbeatIntervalMs } = this.#options
    if (environment.clock.monotonic() - this.#lastHeartbeat >= heartbeatIntervalMs) await this.#beat()
  }

  #end(reason: Error): void {
    if (this.#ended) return
    this.#ended = true
    this.#running = false
    this.#options.onEnd(reason)
  }
}

/** Offsets by topic, as decimal strings. */
export function byTopic(offsets: readonly TopicPartitionOffset[]): OffsetsByTopicPartition {
  const topics = new Map<string, { partition: number; offset: string }[]>()
  for (const { topic, partition, offset } of offsets)
    topics.set(topic, [...(topics.get(topic) ?? []), { partition, offset: String(offset) }])
  return { topics: [...topics].map(([topic, partitions]) => ({ topic, partitions })) }
}

export function offsetsOf({ topics }: OffsetsByTopicPartition): TopicPartitionOffset[] {
  return topics.flatMap(({ topic, partitions }) =>
    partitions.map(({ partition, offset }) => ({ topic, partition, offset: Number(offset) })),
  )
}
