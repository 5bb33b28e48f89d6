/**
 * Fetches ahead of the handlers: one request at a time to each leader, on a connection of its own, for partitions with room.
 * Memory is bounded: a partition is asked for again only when what it brought has been taken.
 */

import { type AbortedTransaction, iterateAnyBatches } from '@mq/protocol'
import { byTopic, type Cluster } from '../cluster.js'
import { failureOf, protocolError } from '../errors.js'
import type { Environment } from '../ports.js'
import { type RetryPolicy, retryDelays } from '../retry.js'
import type { ResponseOf } from '../versions.js'
import { type PartitionPosition, type Positions, partitionKey } from './positions.js'

export interface FetchLimits {
  readonly maxBytesPerPartition: number
  readonly minBytes: number
  readonly maxBytes: number
  readonly maxWaitMs: number
}

export interface FetcherOptions {
  readonly cluster: Cluster
  readonly environment: Environment
  readonly positions: Positions
  readonly limits: FetchLimits
  readonly readUncommitted: boolean
  readonly rackId: string
  readonly requestTimeoutMs: number
  /** Pauses between failed fetches. */
  readonly retry: RetryPolicy
  /** A chunk arrived: somebody may take it. */
  onFetched(): void
  onFetchStart(nodeId: number): void
  onFetch(nodeId: number, durationMs: number): void
  onOutOfRange(position: PartitionPosition, offset: number): void
  /** A fetch failed; it is tried again after a pause. */
  onFailure(error: Error): void
}

/** What one fetch brought for a partition, not decoded yet. */
export interface Chunk {
  readonly topic: string
  readonly partition: number
  readonly epoch: number
  readonly fetchOffset: number
  readonly highWatermark: number
  readonly aborted: readonly AbortedTransaction[] | null
  readonly records: Buffer
}

/** Longest pause after a failed fetch, in ms: so soon work resumes when a broker comes back. */
const LONGEST_PAUSE_MS = 5_000
/**
 * How long the broker may wait for data while partitions are left out of the request because what they brought has not been taken yet, in ms.
 * They join the next request, which must not have to wait for the others' silence.
 */
const WAIT_WITHOUT_ALL_MS = 50
/** How long a nearer replica is asked before the leader is again, in ms: it may know a better one by then. */
const NEARER_REPLICA_MS = 300_000
const STALE_LEADER = new Set([
  'NOT_LEADER_OR_FOLLOWER',
  'UNKNOWN_TOPIC_OR_PARTITION',
  'FENCED_LEADER_EPOCH',
  'UNKNOWN_LEADER_EPOCH',
  'LEADER_NOT_AVAILABLE',
  'KAFKA_STORAGE_ERROR',
  'REPLICA_NOT_AVAILABLE',
])

export class Fetcher {
  readonly #options: FetcherOptions
  readonly #chunks = new Map<string, Chunk>()
  readonly #loops = new Map<number, Promise<void>>()
  #running = true
  #wake: (() => void)[] = []
  readonly #cancelPauses = new Set<() => void>()
  /** When each partition last brought something: those that waited longest are asked for first, since a full answer leaves out the last. */
  readonly #served = new Map<string, number>()
  #turn = 0
  /** Replicas nearer than the leader that the leader sent us to (KIP-392), by partition, and until when (monotonic ms). */
  readonly #nearer = new Map<string, { nodeId: number; until: number }>()

  constructor(options: FetcherOptions) {
    this.#options = options
  }

  /** Starts or wakes the loops for the leaders of the present assignment. */
  kick(): void {
    if (!this.#running) return
    for (const { topic, partition } of this.#options.positions.all()) {
      const nodeId = this.#sourceOf(topic, partition)
      if (nodeId !== undefined && !this.#loops.has(nodeId)) {
        const loop = this.#loop(nodeId).finally(() => this.#loops.delete(nodeId))
        this.#loops.set(nodeId, loop)
      }
    }
    for (const resume of this.#wake.splice(0)) resume()
  }

  /** Who is asked for a partition: the replica that the leader named, else the leader. */
  #sourceOf(topic: string, partition: number): number | undefined {
    const { cluster, environment } = this.#options
    const key = partitionKey(topic, partition)
    const nearer = this.#nearer.get(key)
    if (nearer !== undefined) {
      if (environment.clock.monotonic() < nearer.until && cluster.image.brokers.has(nearer.nodeId)) return nearer.nodeId
      this.#nearer.delete(key)
    }
    return cluster.leaderOf(topic, partition)
  }

  /** Takes the chunk of a partition, if there is one that is still wanted. */
  take(topic: string, partition: number): Chunk | undefined {
    const key = partitionKey(topic, partition)
    const chunk = this.#chunks.get(key)
    if (chunk === undefined) return undefined
    this.#chunks.delete(key)
    this.kick()
    return this.#options.positions.isCurrent(topic, partition, chunk.epoch) ? chunk : undefined
  }

  waiting(): IterableIterator<Chunk> {
    return this.#chunks.values()
  }

  stop(): void {
    this.#running = false
    this.#chunks.clear()
    for (const cancel of this.#cancelPauses) cancel()
    this.#cancelPauses.clear()
    for (const resume of this.#wake.splice(0)) resume()
  }

  async #loop(nodeId: number): Promise<void> {
    const { retry, environment, cluster, onFailure } = this.#options
    const newDelays = () =>
      retryDelays(
        { ...retry, retries: Number.POSITIVE_INFINITY, maxRetryTime: Math.min(retry.maxRetryTime, LONGEST_PAUSE_MS) },
        environment.random,
      )
    let delays = newDelays()
    while (this.#running) {
      const { wanted, isWhole, leads } = this.#wanted(nodeId)
      if (wanted.length === 0) {
        if (!leads) return
        await new Promise<void>((resolve) => this.#wake.push(resolve))
        continue
      }
      try {
        await this.#fetch(nodeId, wanted, isWhole)
        delays = newDelays()
      } catch (error) {
        if (!this.#running) return
        for (const { topic, partition } of wanted) this.#nearer.delete(partitionKey(topic, partition))
        onFailure(error as Error)
        await this.#pause(delays.next().value as number)
        if (!this.#running) return
        await cluster.refreshMetadata().catch(onFailure)
        this.kick()
      }
    }
  }

  #pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        this.#cancelPauses.delete(end)
        resolve()
      }
      const cancel = this.#options.environment.timers.after(delayMs, done)
      const end = (): void => {
        cancel()
        resolve()
      }
      this.#cancelPauses.add(end)
    })
  }

  /** The partitions of a leader that have room; `isWhole`: none is left out because it has no room. */
  #wanted(nodeId: number): { wanted: PartitionPosition[]; isWhole: boolean; leads: boolean } {
    const { positions } = this.#options
    const wanted: PartitionPosition[] = []
    let isWhole = true
    let leads = false
    for (const position of positions.all()) {
      if (this.#sourceOf(position.topic, position.partition) !== nodeId) continue
      leads = true
      if (position.paused || position.nextOffset === undefined) continue
      if (this.#chunks.has(partitionKey(position.topic, position.partition))) isWhole = false
      else wanted.push(position)
    }
    const servedAt = ({ topic, partition }: PartitionPosition): number => this.#served.get(partitionKey(topic, partition)) ?? 0
    return { wanted: wanted.sort((one, other) => servedAt(one) - servedAt(other)), isWhole, leads }
  }

  async #fetch(nodeId: number, wanted: PartitionPosition[], isWhole: boolean): Promise<void> {
    const { cluster, limits, readUncommitted, rackId, environment, requestTimeoutMs } = this.#options
    const maxWaitMs = isWhole ? limits.maxWaitMs : Math.min(limits.maxWaitMs, WAIT_WITHOUT_ALL_MS)
    // Remembered before the request: a seek while it travels makes the answer stale.
    const asked = new Map(
      wanted.map((position) => [
        partitionKey(position.topic, position.partition),
        { epoch: position.epoch, offset: position.nextOffset! },
      ]),
    )
    const topics = byTopic(wanted)
    const connection = await cluster.findBroker({ nodeId }, 'fetch')
    if (!this.#running) return
    this.#options.onFetchStart(nodeId)
    const began = environment.clock.monotonic()
    const response = await connection.send(
      'Fetch',
      {
        replicaId: -1,
        maxWaitMs,
        minBytes: limits.minBytes,
        maxBytes: limits.maxBytes,
        isolationLevel: readUncommitted ? 0 : 1,
        sessionId: 0,
        sessionEpoch: -1,
        rackId,
        topics: [...topics].map(([topic, positions]) => ({
          topic,
          partitions: positions.map(({ partition, nextOffset }) => ({
            partition,
            currentLeaderEpoch: -1,
            fetchOffset: nextOffset!,
            logStartOffset: -1,
            partitionMaxBytes: limits.maxBytesPerPartition,
          })),
        })),
      },
      { timeoutMs: maxWaitMs + requestTimeoutMs },
    )
    this.#options.onFetch(nodeId, environment.clock.monotonic() - began)
    if (response.errorCode !== 0) throw protocolError(response.errorCode)
    this.#received(response, asked)
  }

  #received(response: ResponseOf<'Fetch'>, asked: Map<string, { epoch: number; offset: number }>): void {
    const { positions, environment } = this.#options
    let staleLeader: Error | undefined
    let sentElsewhere = false
    for (const { topic, partitions } of response.responses)
      for (const answer of partitions) {
        const partition = answer.partitionIndex
        const key = partitionKey(topic, partition)
        const question = asked.get(key)
        if (question === undefined || !positions.isCurrent(topic, partition, question.epoch)) continue
        if (answer.errorCode !== 0) {
          this.#nearer.delete(key)
          const failure = failureOf(answer.errorCode)
          if (failure.type === 'OFFSET_OUT_OF_RANGE')
            this.#options.onOutOfRange(positions.get(topic, partition)!, question.offset)
          else if (STALE_LEADER.has(failure.type)) staleLeader = protocolError(answer.errorCode)
          else throw Object.assign(protocolError(answer.errorCode), { topic, partition })
          continue
        }
        if (answer.preferredReadReplica >= 0) {
          this.#nearer.set(key, {
            nodeId: answer.preferredReadReplica,
            until: environment.clock.monotonic() + NEARER_REPLICA_MS,
          })
          sentElsewhere = true
        }
        if (answer.records === null || answer.records.length === 0) continue
        const chunk: Chunk = {
          topic,
          partition,
          epoch: question.epoch,
          fetchOffset: question.offset,
          highWatermark: answer.highWatermark,
          aborted: answer.abortedTransactions,
          records: answer.records,
        }
        const covered = lastOffsetOf(chunk.records)
        if (covered === undefined) continue
        positions.fetched(topic, partition, covered + 1)
        this.#chunks.set(key, chunk)
        this.#served.set(key, ++this.#turn)
      }
    if (sentElsewhere) this.kick()
    if (this.#chunks.size > 0) this.#options.onFetched()
    if (staleLeader !== undefined) throw staleLeader
  }
}

/** Last offset of the whole batches in a fetched range, or undefined if there is no whole one. */
export function lastOffsetOf(records: Buffer): number | undefined {
  let last: number | undefined
  for (const batch of iterateAnyBatches(records)) last = batch.lastOffset
  return last
}
