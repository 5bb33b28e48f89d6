/** The consumer's public face, and the loop of its life: join, work, rebalance, join again; crash and restart. */

import { AsyncLocalStorage } from 'node:async_hooks'
import type { Cluster } from '../cluster'
import { KafkaJSError, KafkaJSNonRetriableError, KafkaJSNumberOfRetriesExceeded } from '../errors'
import { CONSUMER_EVENTS, type Instrumentation, type Listener } from '../events'
import type { Logger } from '../logger'
import type { Environment } from '../ports'
import { mayRetry, type RetryPolicy } from '../retry'
import type { Batch } from './batch'
import { Fetcher, type FetchLimits } from './fetcher'
import { type Generation, isRejoin, type Membership } from './membership'
import { Positions } from './positions'
import { byTopic, type EachBatchPayload, type EachMessagePayload, Runner, type RunOptions } from './runner'

export interface ConsumerRunConfig {
  autoCommit?: boolean
  autoCommitInterval?: number | null
  autoCommitThreshold?: number | null
  eachBatchAutoResolve?: boolean
  partitionsConsumedConcurrently?: number
  eachBatch?: (payload: EachBatchPayload) => Promise<void>
  eachMessage?: (payload: EachMessagePayload) => Promise<void>
}

export interface ConsumerOptions {
  readonly groupId: string
  readonly cluster: Cluster
  readonly membership: Membership
  readonly environment: Environment
  readonly instrumentation: Instrumentation
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

export interface TopicPartitions {
  topic: string
  partitions?: number[]
}

const EARLIEST = -2
const LATEST = -1

type End = { kind: 'rebalance' } | { kind: 'stopped' } | { kind: 'failed'; error: Error }

export class Consumer {
  readonly events = CONSUMER_EVENTS
  readonly #options: ConsumerOptions
  readonly #positions = new Positions()
  readonly #topics = new Map<string, { fromBeginning: boolean }>()
  readonly #handlerCalls = new AsyncLocalStorage<true>()
  #state: 'idle' | 'running' | 'stopping' = 'idle'
  #living: Promise<void> | undefined
  #finish: ((end: End) => void) | undefined
  #runner: Runner | undefined
  #fetcher: Fetcher | undefined
  #cancelRestart: () => void = () => {}

  constructor(options: ConsumerOptions) {
    this.#options = options
  }

  logger(): Logger {
    return this.#options.logger
  }

  on(eventName: string, listener: Listener): () => void {
    if (!(Object.values(CONSUMER_EVENTS) as string[]).includes(eventName))
      throw new KafkaJSNonRetriableError(`Event name should be one of ${Object.values(CONSUMER_EVENTS).join(', ')}`)
    return this.#options.instrumentation.on(eventName, listener)
  }

  async connect(): Promise<void> {
    await this.#options.cluster.connect()
    this.#emit(CONSUMER_EVENTS.CONNECT, () => null)
  }

  /** Stops, leaves the group and closes the connections. Inside a handler it does not wait for that handler. */
  async disconnect(): Promise<void> {
    const insideHandler = this.#handlerCalls.getStore() === true
    const stopped = this.stop()
    const close = async (): Promise<void> => {
      await this.#options.cluster.disconnect()
      this.#emit(CONSUMER_EVENTS.DISCONNECT, () => null)
    }
    if (insideHandler) void (this.#living ?? stopped).then(close)
    else {
      await stopped
      await close()
    }
  }

  /** Leaves the group after the running handlers are done; the connections stay. Inside a handler it does not wait for that handler. */
  async stop(): Promise<void> {
    if (this.#state === 'idle') return
    const living = this.#living
    this.#state = 'stopping'
    this.#cancelRestart()
    this.#finish?.({ kind: 'stopped' })
    if (this.#handlerCalls.getStore() !== true) await living
  }

  /** Adds topics. A RegExp is resolved once, now. Throws while running. */
  async subscribe(subscription: {
    topics?: (string | RegExp)[]
    topic?: string | RegExp
    fromBeginning?: boolean
  }): Promise<void> {
    const { topics, topic, fromBeginning = false } = subscription
    if (this.#state !== 'idle') throw new KafkaJSNonRetriableError('Cannot subscribe to topic while consumer is running')
    const wanted = topics ?? (topic === undefined ? [] : [topic])
    if (wanted.length === 0) throw new KafkaJSNonRetriableError('Missing required argument "topics"')
    const bad = wanted.find((each) => !(each instanceof RegExp) && (typeof each !== 'string' || each === ''))
    if (bad !== undefined)
      throw new KafkaJSNonRetriableError(
        `Invalid topic ${String(bad)} (${typeof bad}), the topic name has to be a String or a RegExp`,
      )
    const { cluster } = this.#options
    const named = new Set<string>()
    if (wanted.some((each) => each instanceof RegExp)) {
      const all = await cluster.retrying(() => cluster.metadata(null))
      for (const { name } of all.topics)
        if (
          name !== null &&
          wanted.some((each) => each instanceof RegExp && new RegExp(each.source, each.flags.replace(/[gy]/g, '')).test(name))
        )
          named.add(name)
    }
    for (const each of wanted) if (typeof each === 'string') named.add(each)
    for (const name of named) this.#topics.set(name, { fromBeginning })
    await cluster.retrying(() => cluster.addMultipleTargetTopics([...named]))
  }

  /** Joins the group and starts to consume; resolves after the first join (a failed one goes to the CRASH event). */
  async run(config: ConsumerRunConfig = {}): Promise<void> {
    if (this.#state !== 'idle') {
      this.#options.logger.warn('consumer#run was called, but the consumer is already running', {
        groupId: this.#options.groupId,
      })
      return
    }
    if (config.eachMessage !== undefined && config.eachBatch !== undefined)
      throw new KafkaJSNonRetriableError('Pass either eachMessage or eachBatch, not both')
    const run: RunOptions = {
      autoCommit: config.autoCommit ?? true,
      autoCommitIntervalMs: config.autoCommitInterval ?? null,
      autoCommitThreshold: config.autoCommitThreshold ?? null,
      eachBatchAutoResolve: config.eachBatchAutoResolve ?? true,
      partitionsConsumedConcurrently: config.partitionsConsumedConcurrently ?? 1,
      eachMessage: config.eachMessage,
      eachBatch: config.eachBatch,
    }
    if (!(run.partitionsConsumedConcurrently >= 1))
      throw new KafkaJSNonRetriableError(
        `Invalid partitionsConsumedConcurrently ${run.partitionsConsumedConcurrently}: expected 1 or more`,
      )
    this.#state = 'running'
    await new Promise<void>((joined) => {
      this.#living = this.#live(run, joined).finally(() => {
        this.#state = 'idle'
        joined()
      })
    })
  }

  /** Stores the offsets given (the next to read) for the group. */
  async commitOffsets(
    topicPartitions: { topic: string; partition: number; offset: string; metadata?: string | null }[] = [],
  ): Promise<void> {
    const offsets = topicPartitions.map(({ topic, partition, offset, metadata }) => {
      if (!topic) throw new KafkaJSNonRetriableError(`Invalid topic ${topic}`)
      if (!Number.isInteger(partition))
        throw new KafkaJSNonRetriableError(`Invalid partition, expected a number received ${partition}`)
      const parsed = Number(offset)
      if (!Number.isSafeInteger(parsed) || parsed < 0)
        throw new KafkaJSNonRetriableError(`Offset must not be a negative number or no number: ${offset}`)
      return { topic, partition, offset: parsed, metadata: metadata ?? null }
    })
    if (offsets.length === 0) return
    await this.#options.membership.commit(offsets)
    this.#positions.committed(offsets)
    this.#emit(CONSUMER_EVENTS.COMMIT_OFFSETS, () => ({ ...this.#groupPayload(), ...byTopic(offsets) }))
  }

  /** Moves a partition to another offset; -1 and -2 mean latest and earliest. Needs run() first. */
  seek({ topic, partition, offset }: { topic: string; partition: number; offset: string }): void {
    if (!topic) throw new KafkaJSNonRetriableError(`Invalid topic ${topic}`)
    if (!Number.isInteger(partition))
      throw new KafkaJSNonRetriableError(`Invalid partition, expected a number received ${partition}`)
    const parsed = Number(offset)
    if (!Number.isSafeInteger(parsed) || parsed < EARLIEST)
      throw new KafkaJSNonRetriableError(`Offset must not be a negative number: ${offset}`)
    if (this.#state !== 'running')
      throw new KafkaJSNonRetriableError('Consumer group was not initialized, consumer#run must be called first')
    this.#positions.seek(topic, partition, parsed)
    if (this.#positions.get(topic, partition)?.nextOffset === undefined) this.#lookUpSoon()
    this.#fetcher?.kick()
  }

  pause(topics: TopicPartitions[] = []): void {
    for (const { topic, partitions } of this.#checkTopics(topics)) this.#positions.pause(topic, partitions)
  }

  resume(topics: TopicPartitions[] = []): void {
    for (const { topic, partitions } of this.#checkTopics(topics)) this.#positions.resume(topic, partitions)
    this.#fetcher?.kick()
    this.#runner?.pump()
  }

  paused(): { topic: string; partitions: number[] }[] {
    return this.#positions.paused()
  }

  async describeGroup() {
    const group = await this.#options.membership.describe()
    return {
      errorCode: group.errorCode,
      groupId: group.groupId,
      members: group.members.map(({ memberId, clientId, clientHost, memberMetadata, memberAssignment }) => ({
        memberId,
        clientId,
        clientHost,
        memberMetadata,
        memberAssignment,
      })),
      protocol: group.protocolData,
      protocolType: group.protocolType,
      state: group.groupState,
    }
  }

  #checkTopics(topics: TopicPartitions[]): TopicPartitions[] {
    if (this.#state !== 'running')
      throw new KafkaJSNonRetriableError('Consumer group was not initialized, consumer#run must be called first')
    for (const each of topics) {
      if (!each?.topic) throw new KafkaJSNonRetriableError(`Invalid topic ${String(each?.topic ?? each)}`)
      if (each.partitions !== undefined && (!Array.isArray(each.partitions) || each.partitions.some(Number.isNaN)))
        throw new KafkaJSNonRetriableError(
          `Array of valid partitions required to pause specific partitions instead of ${each.partitions}`,
        )
    }
    return topics
  }

  /** The whole life between run() and stop(). Never rejects: what goes wrong for good is a CRASH event. */
  async #live(run: RunOptions, joined: () => void): Promise<void> {
    while (this.#state === 'running') {
      try {
        const end = await this.#oneGeneration(run, joined)
        if (end.kind === 'stopped') break
        if (end.kind === 'failed') throw end.error
      } catch (error) {
        if (isRejoin(error) && this.#state === 'running') continue
        if (this.#state !== 'running') break
        if (!(await this.#crashed(error as Error))) break
      }
    }
    await this.#options.membership.leave()
    this.#positions.assign({})
    this.#emit(CONSUMER_EVENTS.STOP, () => null)
  }

  async #oneGeneration(run: RunOptions, joined: () => void): Promise<End> {
    const { cluster, membership, environment } = this.#options
    const began = environment.clock.monotonic()
    const topics = [...this.#topics.keys()]
    await cluster.retrying(() => cluster.refreshMetadata())
    const generation = await cluster.retrying(() => membership.join(topics))
    const assignment = this.#subscribedPart(generation)
    this.#positions.assign(assignment)
    await this.#findPositions()
    this.#emit(CONSUMER_EVENTS.GROUP_JOIN, () => ({
      groupId: this.#options.groupId,
      memberId: generation.memberId,
      leaderId: generation.leaderId,
      isLeader: generation.isLeader,
      memberAssignment: assignment,
      groupProtocol: generation.protocol,
      duration: environment.clock.monotonic() - began,
    }))
    if (this.#state !== 'running') return { kind: 'stopped' }
    const ended = new Promise<End>((resolve) => {
      this.#finish = resolve
    })
    const fetcher = this.#newFetcher()
    const runner = this.#newRunner(run, fetcher)
    this.#fetcher = fetcher
    this.#runner = runner
    const cancelWatch = this.#watchMetadata(generation)
    fetcher.kick()
    joined()
    const end = await ended
    cancelWatch()
    fetcher.stop()
    await runner.stop()
    if (run.autoCommit)
      await runner
        .commitAll()
        .catch((error: Error) =>
          this.#options.logger.warn(`The last commit failed: ${error.message}`, { groupId: this.#options.groupId }),
        )
    if (end.kind === 'rebalance')
      this.#emit(CONSUMER_EVENTS.REBALANCING, () => ({ groupId: this.#options.groupId, memberId: generation.memberId }))
    return end
  }

  /** Partitions of topics that this member did not ask for are not consumed; the event says so. */
  #subscribedPart(generation: Generation): { [topic: string]: number[] } {
    const { memberId, generationId, assignment } = generation
    const assigned = Object.keys(assignment)
    const foreign = assigned.filter((topic) => !this.#topics.has(topic))
    if (foreign.length > 0)
      this.#emit(CONSUMER_EVENTS.RECEIVED_UNSUBSCRIBED_TOPICS, () => ({
        groupId: this.#options.groupId,
        generationId,
        memberId,
        assignedTopics: assigned,
        topicsSubscribed: [...this.#topics.keys()],
        topicsNotSubscribed: foreign,
      }))
    return Object.fromEntries(Object.entries(assignment).filter(([topic]) => this.#topics.has(topic)))
  }

  /** Gives every partition without one a place to start: a pending seek, what the group has stored, or the reset. */
  async #findPositions(): Promise<void> {
    const { membership } = this.#options
    const open = this.#positions.all().filter(({ nextOffset }) => nextOffset === undefined)
    if (open.length === 0) return
    const sought = open.filter(({ topic, partition }) => (this.#positions.pendingSeek(topic, partition) ?? -1) >= 0)
    for (const { topic, partition } of sought) this.#positions.startAt(topic, partition, 0, undefined)
    const rest = open.filter((each) => !sought.includes(each))
    if (rest.length === 0) return
    const byName: { [topic: string]: number[] } = {}
    for (const { topic, partition } of rest) {
      byName[topic] ??= []
      byName[topic].push(partition)
    }
    const stored = await membership.committed(byName)
    const lookUps: { topic: string; partition: number; timestamp: number }[] = []
    for (const { topic, partition, offset } of stored) {
      const seek = this.#positions.pendingSeek(topic, partition)
      if (seek === undefined && offset >= 0) this.#positions.startAt(topic, partition, offset, offset)
      else lookUps.push({ topic, partition, timestamp: seek ?? this.#resetTo(topic) })
    }
    await this.#lookUp(lookUps)
  }

  async #lookUp(wanted: { topic: string; partition: number; timestamp: number }[]): Promise<void> {
    if (wanted.length === 0) return
    const { cluster, readUncommitted } = this.#options
    const found = await cluster.retrying(async () => {
      await cluster.refreshMetadataIfNecessary()
      return cluster.listOffsets(wanted, { isolationLevel: readUncommitted ? 0 : 1 })
    })
    for (const { topic, partition, offset } of found) {
      if (this.#positions.pendingSeek(topic, partition) !== undefined)
        this.#positions.resolvePendingSeek(topic, partition, offset)
      this.#positions.startAt(topic, partition, offset, undefined)
    }
  }

  #resetTo(topic: string): number {
    return this.#topics.get(topic)?.fromBeginning ? EARLIEST : LATEST
  }

  #lookUpSoon(): void {
    this.#findPositions().then(
      () => this.#fetcher?.kick(),
      (error: Error) => this.#finish?.({ kind: 'failed', error }),
    )
  }

  /** Out of range: reset only if the offset really lies outside what the leader has (a lagging new leader says so of offsets that exist). */
  async #outOfRange(topic: string, partition: number, offset: number): Promise<void> {
    const { cluster, logger } = this.#options
    this.#positions.forget(topic, partition)
    const at = (timestamp: number) => cluster.listOffsets([{ topic, partition, timestamp }])
    const [[first], [end]] = await cluster.retrying(() => Promise.all([at(EARLIEST), at(LATEST)]))
    const inside = offset >= first!.offset && offset <= end!.offset
    const next = inside ? offset : this.#resetTo(topic) === EARLIEST ? first!.offset : end!.offset
    logger.warn(inside ? 'The leader lags: the offset exists, asking again' : 'Offset out of range, resetting', {
      topic,
      partition,
      offset,
      next,
    })
    this.#positions.startAt(topic, partition, next, undefined)
    this.#fetcher?.kick()
  }

  #newFetcher(): Fetcher {
    const { cluster, environment, limits, readUncommitted, rackId, requestTimeoutMs, logger } = this.#options
    return new Fetcher({
      cluster,
      environment,
      positions: this.#positions,
      limits,
      readUncommitted,
      rackId,
      requestTimeoutMs,
      onFetched: () => this.#runner?.pump(),
      onFetchStart: (nodeId) => this.#emit(CONSUMER_EVENTS.FETCH_START, () => ({ nodeId })),
      onFetch: (nodeId, duration) => this.#emit(CONSUMER_EVENTS.FETCH, () => ({ numberOfBatches: 0, duration, nodeId })),
      onOutOfRange: ({ topic, partition }, offset) => {
        this.#outOfRange(topic, partition, offset).catch((error: Error) => this.#finish?.({ kind: 'failed', error }))
      },
      onFailure: (error) => {
        logger.warn(`A fetch failed: ${error.message}`, { groupId: this.#options.groupId })
        if (!mayRetry(error)) this.#finish?.({ kind: 'failed', error })
      },
    })
  }

  #newRunner(run: RunOptions, fetcher: Fetcher): Runner {
    const { environment, logger, retry, readUncommitted, heartbeatIntervalMs, membership } = this.#options
    return new Runner({
      run,
      environment,
      logger,
      retry,
      readUncommitted,
      heartbeatIntervalMs,
      membership,
      positions: this.#positions,
      fetcher,
      inHandler: (work) => this.#handlerCalls.run(true, work),
      onHeartbeat: () => this.#emit(CONSUMER_EVENTS.HEARTBEAT, () => this.#groupPayload()),
      onCommitted: (offsets) => this.#emit(CONSUMER_EVENTS.COMMIT_OFFSETS, () => ({ ...this.#groupPayload(), ...offsets })),
      onBatch: (batch) => this.#batchEvents(batch),
      onEnd: (reason) => this.#finish?.(isRejoin(reason) ? { kind: 'rebalance' } : { kind: 'failed', error: reason }),
    })
  }

  #batchEvents(batch: Batch): () => void {
    const { clock } = this.#options.environment
    const began = clock.monotonic()
    const payload = () => ({
      topic: batch.topic,
      partition: batch.partition,
      highWatermark: batch.highWatermark,
      offsetLag: batch.offsetLag(),
      offsetLagLow: batch.offsetLagLow(),
      batchSize: batch.messages.length,
      firstOffset: batch.firstOffset(),
      lastOffset: batch.lastOffset(),
    })
    this.#emit(CONSUMER_EVENTS.START_BATCH_PROCESS, payload)
    return () => this.#emit(CONSUMER_EVENTS.END_BATCH_PROCESS, () => ({ ...payload(), duration: clock.monotonic() - began }))
  }

  /** Refreshes the metadata by age; the leader makes the group rebalance when a watched topic has got more partitions. */
  #watchMetadata(generation: Generation): () => void {
    const { cluster, environment, metadataMaxAgeMs, logger } = this.#options
    const count = (): string =>
      generation.watchedTopics.map((topic) => `${topic}:${cluster.image.topics.get(topic)?.partitions.length ?? 0}`).join()
    const before = count()
    let cancel = (): void => {}
    const arm = (): void => {
      cancel = environment.timers.after(metadataMaxAgeMs, () => {
        cluster.refreshMetadata().then(
          () => {
            if (generation.isLeader && count() !== before) this.#finish?.({ kind: 'rebalance' })
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
    const { logger, groupId, restartOnFailure, retry, environment } = this.#options
    const failure =
      error instanceof KafkaJSError
        ? error
        : new KafkaJSNumberOfRetriesExceeded(error, {
            retryCount: (error as { retriesExceeded?: number }).retriesExceeded ?? 0,
            retryTime: retry.initialRetryTime,
          })
    const curable = mayRetry(error) || error instanceof KafkaJSNumberOfRetriesExceeded
    const restart = curable && (restartOnFailure === undefined || (await restartOnFailure(failure).catch(() => true)))
    logger.error(`Crash: ${failure.name}: ${failure.message}`, { groupId, stack: failure.stack })
    this.#emit(CONSUMER_EVENTS.CRASH, () => ({ error: failure, groupId, restart }))
    if (!restart) return false
    await new Promise<void>((resolve) => {
      const cancel = environment.timers.after(retry.initialRetryTime, resolve)
      this.#cancelRestart = () => {
        cancel()
        resolve()
      }
    })
    return this.#state === 'running'
  }

  #groupPayload() {
    const generation = this.#options.membership.generation
    return {
      groupId: this.#options.groupId,
      memberId: generation?.memberId ?? '',
      groupGenerationId: generation?.generationId ?? -1,
    }
  }

  #emit(type: string, payload: () => unknown): void {
    this.#options.instrumentation.emit(type, payload)
  }
}
