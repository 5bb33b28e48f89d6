/**
 * What happens between run() and stop(): join, work, rebalance, join again; crash and restart.
 *
 *   join ─▶ find where to read ─▶ fetch and handle ─┬─ the group rebalances ─▶ finish handlers, commit ─▶ join
 *     ▲                                             ├─ stop() ─▶ finish handlers, commit, leave
 *     └── pause ◀── CRASH, restart ◀── an error that retries did not cure ──▶ CRASH, no restart: leave, disconnect
 */

import type { AsyncLocalStorage } from 'node:async_hooks'
import type { Cluster } from '../cluster.js'
import { KafkaJSError, KafkaJSNonRetriableError, KafkaJSNumberOfRetriesExceeded } from '../errors.js'
import { CONSUMER_EVENTS } from '../events.js'
import type { Logger } from '../logger.js'
import type { Environment } from '../ports.js'
import { mayRetry, newAbortController, pause, type RetryPolicy, retryDelays } from '../retry.js'
import { batchEvents } from './batch-events.js'
import { Fetcher, type FetchLimits } from './fetcher.js'
import { type Generation, isRejoin, type Membership } from './membership.js'
import { Positions, type TopicPartitionOffset } from './positions.js'
import { byTopic, Runner, type RunOptions } from './runner.js'
import { StartOffsets } from './start-offsets.js'

export interface LifeOptions {
  readonly groupId: string
  readonly cluster: Cluster
  readonly membership: Membership
  readonly environment: Environment
  readonly logger: Logger
  readonly retry: RetryPolicy
  readonly restartOnFailure: ((error: Error) => Promise<boolean>) | undefined
  readonly limits: FetchLimits
  readonly requestTimeoutMs: number
  readonly heartbeatIntervalMs: number
  readonly metadataMaxAgeMs: number
  readonly readUncommitted: boolean
  readonly rackId: string
}

export interface Subscribed {
  readonly run: RunOptions
  readonly topics: ReadonlyMap<string, { readonly fromBeginning: boolean }>
  /** Marks the handlers' own calls. */
  readonly handlerCalls: AsyncLocalStorage<true>
  emit(type: string, payload: () => unknown): void
  /** It crashed for good: connections are to be closed before the event says so. */
  onFinalCrash(): Promise<void>
}

type End = { kind: 'rebalance' } | { kind: 'stopped' } | { kind: 'failed'; error: Error }

export class Life {
  readonly positions = new Positions()
  /** Resolves when the member has left and nothing runs any more. Never rejects: what goes wrong for good is a CRASH event. */
  readonly ended: Promise<void>
  /** Resolves when the first join succeeded or failed. */
  readonly begun: Promise<void>
  readonly #options: LifeOptions & Subscribed
  readonly #starts: StartOffsets
  #began: () => void = () => {}
  readonly #stopping = newAbortController()
  #finish: (end: End) => void = () => {}
  #runner: Runner | undefined
  #fetcher: Fetcher | undefined

  constructor(options: LifeOptions & Subscribed) {
    this.#options = options
    const { cluster, membership, environment, logger, readUncommitted } = options
    this.#starts = new StartOffsets({
      cluster,
      membership,
      positions: this.positions,
      timers: environment.timers,
      logger,
      readUncommitted,
      stopping: this.#stopping.signal,
      fromBeginning: (topic) => options.topics.get(topic)?.fromBeginning === true,
    })
    this.begun = new Promise((resolve) => {
      this.#began = resolve
    })
    this.ended = this.#live().finally(this.#began)
  }

  get isStopping(): boolean {
    return this.#stopping.signal.aborted
  }

  /** Asks for the end; `ended` tells when it came. */
  stop(): void {
    this.#stopping.abort()
    this.#finish({ kind: 'stopped' })
  }

  /** Partitions may be fetched that could not be before: after a seek or a resume. */
  kick(): void {
    if (this.positions.all().some(({ nextOffset }) => nextOffset === undefined))
      this.#starts.find().then(
        () => this.#fetcher?.kick(),
        (error: Error) => this.#finish({ kind: 'failed', error }),
      )
    this.#fetcher?.kick()
    this.#runner?.pump()
  }

  /** Commits what the program asks for. A member that is out of date joins again; the caller learns why its commit failed. */
  async commit(offsets: readonly (TopicPartitionOffset & { metadata: string | null })[]): Promise<void> {
    const { membership, emit } = this.#options
    try {
      await membership.commit(offsets)
    } catch (error) {
      if (isRejoin(error)) this.#finish({ kind: 'rebalance' })
      throw error
    }
    this.positions.committedByProgram(offsets)
    emit(CONSUMER_EVENTS.COMMIT_OFFSETS, () => ({ ...this.#groupPayload(), ...byTopic(offsets) }))
  }

  async #live(): Promise<void> {
    const { membership, retry, environment, emit } = this.#options
    let rejoins: Generator<number> | undefined
    while (!this.isStopping) {
      try {
        const end = await this.#oneGeneration()
        if (end.kind === 'stopped') break
        if (end.kind === 'failed') throw end.error
        rejoins = undefined
      } catch (error) {
        if (this.isStopping) break
        if (!isRejoin(error)) {
          if (await this.#crashed(error as Error)) continue
          return
        }
        // Refused while joining: the group is moving. The first time we come back at once, then with growing pauses.
        if (rejoins === undefined) rejoins = retryDelays({ ...retry, retries: Number.POSITIVE_INFINITY }, environment.random)
        else await this.#pause(rejoins.next().value as number)
      }
    }
    await membership.leave()
    emit(CONSUMER_EVENTS.STOP, () => null)
  }

  #pause(delayMs: number): Promise<void> {
    return pause(this.#options.environment.timers, delayMs, [this.#stopping.signal])
  }

  async #oneGeneration(): Promise<End> {
    const { cluster, membership, environment, topics, groupId, emit, run, logger } = this.#options
    const beganAt = environment.clock.monotonic()
    await cluster.connect()
    const until = [this.#stopping.signal]
    await cluster.retrying(() => cluster.refreshMetadata(), { until })
    const generation = await cluster.retrying(() => membership.join([...topics.keys()]), { until })
    const assignment = this.#subscribedPart(generation)
    this.positions.assign(assignment)
    const ended = new Promise<End>((resolve) => {
      this.#finish = resolve
    })
    await this.#starts.find()
    emit(CONSUMER_EVENTS.GROUP_JOIN, () => ({
      groupId,
      memberId: generation.memberId,
      leaderId: generation.leaderId,
      isLeader: generation.isLeader,
      memberAssignment: assignment,
      groupProtocol: generation.protocol,
      duration: environment.clock.monotonic() - beganAt,
    }))
    if (this.isStopping) return { kind: 'stopped' }
    const fetcher = this.#newFetcher()
    const runner = this.#newRunner(fetcher)
    this.#fetcher = fetcher
    this.#runner = runner
    const cancelWatch = this.#watchMetadata(generation)
    fetcher.kick()
    this.#began()
    const end = await ended
    if (end.kind === 'rebalance') emit(CONSUMER_EVENTS.REBALANCING, () => ({ groupId, memberId: generation.memberId }))
    cancelWatch()
    fetcher.stop()
    await runner.stop()
    if (run.autoCommit)
      await runner.commitAll().catch((error: Error) => logger.warn(`The last commit failed: ${error.message}`, { groupId }))
    return end
  }

  /** Partitions of topics that this member did not ask for are not consumed; the event says so. */
  #subscribedPart({ memberId, generationId, assignment }: Generation): { [topic: string]: number[] } {
    const { topics, groupId, emit } = this.#options
    const assigned = Object.keys(assignment)
    const foreign = assigned.filter((topic) => !topics.has(topic))
    if (foreign.length > 0)
      emit(CONSUMER_EVENTS.RECEIVED_UNSUBSCRIBED_TOPICS, () => ({
        groupId,
        generationId,
        memberId,
        assignedTopics: assigned,
        topicsSubscribed: [...topics.keys()],
        topicsNotSubscribed: foreign,
      }))
    return Object.fromEntries(Object.entries(assignment).filter(([topic]) => topics.has(topic)))
  }

  #newFetcher(): Fetcher {
    const { cluster, environment, limits, readUncommitted, rackId, requestTimeoutMs, logger, retry, groupId, emit } =
      this.#options
    return new Fetcher({
      cluster,
      environment,
      positions: this.positions,
      limits,
      readUncommitted,
      rackId,
      requestTimeoutMs,
      retry,
      onFetched: () => this.#runner?.pump(),
      onFetchStart: (nodeId) => emit(CONSUMER_EVENTS.FETCH_START, () => ({ nodeId })),
      onFetch: (nodeId, duration) => emit(CONSUMER_EVENTS.FETCH, () => ({ numberOfBatches: 0, duration, nodeId })),
      onOutOfRange: ({ topic, partition }, offset) => {
        this.#starts.outOfRange(topic, partition, offset).then(
          () => this.#fetcher?.kick(),
          (error: Error) => this.#finish({ kind: 'failed', error }),
        )
      },
      onFailure: (error) => {
        logger.warn(`A fetch failed: ${error.message}`, { groupId })
        if (!mayRetry(error)) this.#finish({ kind: 'failed', error })
      },
    })
  }

  #newRunner(fetcher: Fetcher): Runner {
    const { environment, logger, retry, readUncommitted, heartbeatIntervalMs, membership, run, handlerCalls, emit } =
      this.#options
    return new Runner({
      run,
      environment,
      logger,
      retry,
      readUncommitted,
      heartbeatIntervalMs,
      membership,
      positions: this.positions,
      fetcher,
      stopping: this.#stopping.signal,
      inHandler: (work) => handlerCalls.run(true, work),
      onHeartbeat: () => emit(CONSUMER_EVENTS.HEARTBEAT, () => this.#groupPayload()),
      onCommitted: (offsets) => emit(CONSUMER_EVENTS.COMMIT_OFFSETS, () => ({ ...this.#groupPayload(), ...offsets })),
      onBatch: (batch) => batchEvents(batch, environment.clock, emit),
      onEnd: (reason) => this.#finish(isRejoin(reason) ? { kind: 'rebalance' } : { kind: 'failed', error: reason }),
    })
  }

  /** Refreshes the metadata by age; the leader makes the group rebalance when a watched topic has got more partitions. */
  #watchMetadata(generation: Generation): () => void {
    const { cluster, environment, metadataMaxAgeMs, logger } = this.#options
    const hasChanged = (): boolean =>
      [...generation.watchedTopics].some(([topic, count]) => cluster.findTopicPartitionMetadata(topic).length !== count)
    let cancel = (): void => {}
    const arm = (): void => {
      cancel = environment.timers.after(metadataMaxAgeMs, () => {
        cluster.refreshMetadata().then(
          () => {
            if (hasChanged()) this.#finish({ kind: 'rebalance' })
            this.#fetcher?.kick()
          },
          (error: Error) => logger.warn(`Cannot refresh metadata: ${error.message}`),
        )
        arm()
      })
    }
    arm()
    return () => cancel()
  }

  /** Answers whether to go on after a pause. */
  async #crashed(error: Error): Promise<boolean> {
    const { logger, groupId, restartOnFailure, retry, emit, onFinalCrash, membership } = this.#options
    const failure =
      error instanceof KafkaJSError
        ? error
        : mayRetry(error)
          ? new KafkaJSNumberOfRetriesExceeded(error, { retryCount: retry.retries, retryTime: retry.maxRetryTime })
          : new KafkaJSNonRetriableError(error, { cause: error })
    logger.error(`Crash: ${failure.name}: ${failure.message}`, { groupId, stack: failure.stack })
    const restart = isCurable(failure) && (restartOnFailure === undefined || (await this.#mayRestart(restartOnFailure, failure)))
    this.#began()
    if (!restart) {
      await membership.leave()
      emit(CONSUMER_EVENTS.STOP, () => null)
      await onFinalCrash()
    }
    emit(CONSUMER_EVENTS.CRASH, () => ({ error: failure, groupId, restart }))
    if (!restart) return false
    // The listener may have stopped us.
    if (!this.isStopping) await this.#pause(retry.initialRetryTime)
    return true
  }

  async #mayRestart(restartOnFailure: (error: Error) => Promise<boolean>, failure: Error): Promise<boolean> {
    try {
      return await restartOnFailure(failure)
    } catch (problem) {
      this.#options.logger.error('restartOnFailure failed: the consumer restarts', { error: (problem as Error)?.message })
      return true
    }
  }

  #groupPayload() {
    const { membership, groupId } = this.#options
    const generation = membership.generation
    return { groupId, memberId: generation?.memberId ?? '', groupGenerationId: generation?.generationId ?? -1 }
  }
}

/** Exhausted retries, or an error whose first cause says that it may be tried again. */
function isCurable(error: Error): boolean {
  if (error.name === 'KafkaJSNumberOfRetriesExceeded') return true
  let first: unknown = error
  // A chain of causes is as long as the code that wrapped them is deep; a loop in it would be a bug of the thrower.
  for (let depth = 0; depth < 20 && (first as Error).cause instanceof Error; depth++) first = (first as Error).cause
  return (first as { retriable?: boolean }).retriable === true
}
