/**
 * Reads the partitions of one fetch within its limits (KIP-74), and waits for more when there are too few bytes. One pass is
 * synchronous as long as the tail cache has what is asked for.
 */
import type { Read, ReadLimit } from '@mq/log'
import { type ErrorName, releaseAll, ZERO_UUID } from '@mq/protocol'
import type { Delayed, Partition, ReadOptions, Refusal } from '@mq/replica'
import type { BrokerServices } from '../services.js'
import { offsetBehindControl } from './fetch-convert.js'
import type { WantedPartition } from './fetch-sessions.js'
import { hostedPartition } from './hosted-partition.js'

export interface FetchLimits {
  readonly maxBytes: number
  readonly minBytes: number
  readonly maxWaitMs: number
  /** Requests up to v2: the sizes are limits also for the first batch, which may come cut. */
  readonly hardMaxBytes: boolean
  /** Requests up to v3: what is read will be converted to an older format, which has no control batches. */
  readonly isConverted: boolean
  readonly upTo: ReadLimit
  /** -1 for a consumer; a broker's id claims to be a follower. */
  readonly replicaId: number
}

export interface Diverged {
  readonly epoch: number
  readonly endOffset: number
}

/** What one partition gave. */
export type PartitionRead =
  | { readonly kind: 'read'; readonly read: Read; readonly partition: Partition; readonly diverged: Diverged | null }
  | { readonly kind: 'failed'; readonly error: ErrorName }

type MaybeLater<T> = T | Promise<T>

const failed = (error: ErrorName): PartitionRead => ({ kind: 'failed', error })

/** One pass over the partitions, in order: each gets what those before it have left of `maxBytes`. */
export function readOnce(
  broker: BrokerServices,
  wanted: readonly WantedPartition[],
  limits: FetchLimits,
): MaybeLater<PartitionRead[]> {
  const results: PartitionRead[] = []
  let left = limits.maxBytes
  // Whatever its size, the first batch of the first partition that has one is sent, so that every consumer gets on.
  let minOneMessage = !limits.hardMaxBytes
  const take = (result: PartitionRead) => {
    results.push(result)
    if (result.kind !== 'read' || result.read.sizeInBytes === 0) return
    minOneMessage = false
    left = Math.max(0, left - result.read.sizeInBytes)
  }
  const goOn = (): MaybeLater<PartitionRead[]> => {
    while (results.length < wanted.length) {
      const result = readPartition(broker, wanted[results.length]!, limits, left, minOneMessage)
      if (result instanceof Promise) {
        return result.then((later) => {
          take(later)
          return goOn()
        })
      }
      take(result)
    }
    return results
  }
  return goOn()
}

function readPartition(
  broker: BrokerServices,
  wanted: WantedPartition,
  limits: FetchLimits,
  left: number,
  minOneMessage: boolean,
): MaybeLater<PartitionRead> {
  const partition = wanted.topic === null ? 'UNKNOWN_TOPIC_OR_PARTITION' : hostedPartition(broker, wanted.topic, wanted.partition)
  if (typeof partition === 'string') return failed(partition)
  if (wanted.topicId !== ZERO_UUID && partition.topicId !== null && partition.topicId !== wanted.topicId) {
    return failed('INCONSISTENT_TOPIC_ID')
  }
  const epoch = wanted.currentLeaderEpoch
  const access = partition.logFor(epoch)
  if (access.kind === 'refused') return failed(access.error)
  // Nobody follows this broker, so whoever says so is not in the replica set.
  if (limits.replicaId >= 0) return failed(epoch >= 0 ? 'UNKNOWN_LEADER_EPOCH' : 'NOT_LEADER_OR_FOLLOWER')
  const diverged = wanted.lastFetchedEpoch >= 0 ? divergence(access.log, wanted) : null
  if (typeof diverged === 'string') return failed(diverged)
  if (diverged !== null) return { kind: 'read', read: nothingOf(access.log), partition, diverged }
  const maxBytes = Math.max(0, Math.min(wanted.maxBytes, left))
  return readFrom(
    partition,
    wanted.fetchOffset,
    { currentLeaderEpoch: epoch, maxBytes, minOneMessage, upTo: limits.upTo },
    limits,
  )
}

/** From the offset, or for an old client from behind the control batches there. */
function readFrom(partition: Partition, offset: number, options: ReadOptions, limits: FetchLimits): MaybeLater<PartitionRead> {
  for (let from = offset; ; ) {
    const read = partition.read(from, options)
    if (read instanceof Promise) {
      return read.then((later) => {
        const behind = skipsTo(later, limits)
        return behind === null ? resultOf(later, partition, limits) : readFrom(partition, behind, options, limits)
      })
    }
    const behind = skipsTo(read, limits)
    if (behind === null) return resultOf(read, partition, limits)
    from = behind
  }
}

function skipsTo(read: Read | Refusal, { isConverted }: FetchLimits): number | null {
  if (!isConverted || read.kind !== 'read' || read.sizeInBytes === 0) return null
  const behind = offsetBehindControl(read.slices)
  if (behind !== null) releaseAll(read.slices)
  return behind
}

function resultOf(read: Read | Refusal, partition: Partition, { hardMaxBytes }: FetchLimits): PartitionRead {
  if (read.kind === 'refused') return failed(read.error)
  return { kind: 'read', read: hardMaxBytes ? read : wholeOrNothing(read), partition, diverged: null }
}

type LogView = Extract<ReturnType<Partition['logFor']>, { kind: 'log' }>['log']

/** Where the reader's history leaves ours, if it says which epoch it read last (KIP-595's way to learn of a truncation). */
function divergence(log: LogView, wanted: WantedPartition): Diverged | null | 'OFFSET_OUT_OF_RANGE' {
  const end = log.endOffsetForEpoch(wanted.lastFetchedEpoch)
  if (end === null || wanted.fetchOffset < log.logStartOffset) return 'OFFSET_OUT_OF_RANGE'
  return end.epoch < wanted.lastFetchedEpoch || end.endOffset < wanted.fetchOffset ? end : null
}

const nothingOf = (log: LogView): Read => ({
  kind: 'read',
  slices: [],
  sizeInBytes: 0,
  abortedTransactions: [],
  highWatermark: log.highWatermark,
  lastStableOffset: log.lastStableOffset,
  logStartOffset: log.logStartOffset,
  logEndOffset: log.logEndOffset,
})

/** A first batch that is cut is of no use to a reader that is promised a whole one: it gets none. */
function wholeOrNothing(read: Read): Read {
  const first = read.slices[0]
  if (first === undefined) return read
  const wanted = first.length >= 12 ? first.readInt32BE(8) + 12 : Number.POSITIVE_INFINITY
  if (wanted <= read.sizeInBytes) return read
  releaseAll(read.slices)
  return { ...read, slices: [], sizeInBytes: 0 }
}

/** What there is now, or after a wait when it is less than was asked for; `gone` if nobody waits for the answer any more. */
export function readOrWait(
  broker: BrokerServices,
  wanted: readonly WantedPartition[],
  limits: FetchLimits,
  onGone: (gone: () => void) => () => void,
): MaybeLater<PartitionRead[] | 'gone'> {
  const first = readOnce(broker, wanted, limits)
  const decide = (results: PartitionRead[]): MaybeLater<PartitionRead[] | 'gone'> =>
    limits.maxWaitMs <= 0 || isEnough(results, limits.minBytes) ? results : waitForMore(broker, wanted, limits, results, onGone)
  return first instanceof Promise ? first.then(decide) : decide(first)
}

function isEnough(results: readonly PartitionRead[], minBytes: number): boolean {
  let bytes = 0
  for (const result of results) {
    if (result.kind === 'failed' || result.diverged !== null) return true
    bytes += result.read.sizeInBytes
  }
  return results.length === 0 || bytes >= minBytes
}

function waitForMore(
  broker: BrokerServices,
  wanted: readonly WantedPartition[],
  limits: FetchLimits,
  results: readonly PartitionRead[],
  onGone: (gone: () => void) => () => void,
): Promise<PartitionRead[] | 'gone'> {
  // Read anew when there is more.
  for (const result of results) if (result.kind === 'read') releaseAll(result.read.slices)
  return new Promise((resolve, reject) => {
    let stay = () => {}
    const answer = () => {
      stay()
      // A read that throws is a broken invariant: the connection's loop must hear of it.
      try {
        resolve(readOnce(broker, wanted, limits))
      } catch (error) {
        reject(error)
      }
    }
    const waiting = new WaitingFetch(wanted, limits, results, answer)
    const forget = broker.partitions.delayedFetches.add(waiting, waiting.keys, limits.maxWaitMs)
    if (waiting.isOver) return
    stay = onGone(() => {
      forget()
      resolve('gone')
    })
  })
}

interface Mark {
  readonly partition: Partition
  readonly wanted: WantedPartition
  readonly bytesRead: number
  readonly bytesAppended: number
  readonly stableOffset: number
  /** Something came between the read and the wait. */
  readonly isStale: boolean
}

/** Counts the bytes that come to its partitions, without reading them; reads all anew once there are enough. */
class WaitingFetch implements Delayed {
  readonly #limits: FetchLimits
  readonly #marks: Mark[] = []
  readonly #answer: () => void
  isOver = false

  constructor(wanted: readonly WantedPartition[], limits: FetchLimits, results: readonly PartitionRead[], answer: () => void) {
    this.#limits = limits
    this.#answer = answer
    results.forEach((result, at) => {
      if (result.kind !== 'read') return
      this.#marks.push({
        partition: result.partition,
        wanted: wanted[at]!,
        bytesRead: result.read.sizeInBytes,
        bytesAppended: result.partition.bytesAppended,
        stableOffset: result.read.lastStableOffset,
        isStale: result.partition.log?.highWatermark !== result.read.highWatermark,
      })
    })
  }

  get keys(): readonly Partition[] {
    return this.#marks.map((mark) => mark.partition)
  }

  tryComplete(): boolean {
    if (!this.#hasEnough()) return false
    this.#end()
    return true
  }

  giveUp(): void {
    this.#end()
  }

  #end(): void {
    this.isOver = true
    this.#answer()
  }

  #hasEnough(): boolean {
    let bytes = 0
    for (const mark of this.#marks) {
      const access = mark.partition.logFor(mark.wanted.currentLeaderEpoch)
      // No longer the leader, or of another epoch: the client has to know.
      if (access.kind === 'refused') return true
      // The log was cut behind the reader, or grew before it began to wait.
      if (mark.isStale || mark.wanted.fetchOffset > access.log.logEndOffset) return true
      bytes += Math.min(mark.wanted.maxBytes, mark.bytesRead + this.#bytesSince(mark, access.log))
      if (bytes >= this.#limits.minBytes) return true
    }
    return false
  }

  #bytesSince(mark: Mark, log: LogView): number {
    const appended = mark.partition.bytesAppended - mark.bytesAppended
    if (this.#limits.upTo !== 'lastStable' || log.lastStableOffset === log.highWatermark) return appended
    // Behind an open transaction nothing can be read; how many bytes an ended one set free is not known without reading.
    return log.lastStableOffset > mark.stableOffset ? Number.MAX_SAFE_INTEGER : 0
  }
}
