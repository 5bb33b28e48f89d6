/**
 * Compaction of one log: what the rules ask of it, and one cleaning from its beginning to its end. While one is under way nothing else
 * takes segments from the log: whoever must (a truncation, a close, a deletion) ends it first, retention waits for its next pass.
 */
import { type Cleanable, type CompactionSegment, type CompactionState, cleanable, dirtySegments } from './compaction/cleanable.js'
import type { CleanCounts, CleanedGroup, CleanInput } from './jobs/clean.js'
import type { LogState } from './log-state.js'
import { OffloadError } from './offload.js'
import { DiskError, type Offload } from './ports.js'
import { ensureIndexes } from './recover.js'
import type { Segment } from './segment.js'
import { firstBatchTimestampOf } from './segment-read.js'
import { swapSegments } from './segment-swap.js'
import type { AbortedEntry } from './txn-index.js'

export interface CleanSettings extends Pick<CleanInput, 'map' | 'chunkBytes' | 'bytesPerSecond'> {
  /** Writes the recovery points of the log's directory to their file. */
  readonly checkpointRecoveryPoints: () => Promise<void>
}

export type CleanOutcome =
  | ({ readonly kind: 'cleaned'; readonly from: number; readonly cleanedTo: number } & CleanCounts)
  /** Nothing is due any more, something else needed the log, or it is offline. */
  | { readonly kind: 'given up' }
  /** Not to be tried again: there is what cannot be cleaned. */
  | { readonly kind: 'uncleanable'; readonly segment: number | null; readonly position: number | null; readonly problem: string }

export class LogCompaction {
  #stop: AbortController | null = null
  #underWay: Promise<unknown> = Promise.resolve()
  /** How many want that none begins. */
  #holders = 0

  constructor(
    readonly state: LogState,
    /** Runs a step alone, between the appends. */
    readonly run: <R>(task: () => Promise<R>) => Promise<R>,
  ) {}

  get isUnderWay(): boolean {
    return this.#stop !== null
  }

  /** What the rules look at; null when the log is offline or closed, or changed meanwhile. */
  async picture(): Promise<CompactionState | null> {
    const { state } = this
    const { context, segments } = state
    if (context.directory.isOffline || state.isClosed) return null
    const before = segments.all
    try {
      const pictures = await this.#pictures()
      const { logStartOffset, logEndOffset, lastStableOffset } = state
      const cleanedTo = context.cleanerOffsets.get(state.partition)
      const now = context.clock.now()
      return { segments: pictures, logStartOffset, logEndOffset, lastStableOffset, cleanedTo, now, config: state.config() }
    } catch (error) {
      if (!state.isClosed && segments.all === before) context.directory.failedLook(error)
      return null
    }
  }

  /** Times are read only where a rule asks for them. */
  async #pictures(): Promise<CompactionSegment[]> {
    const { context, segments, partition, logStartOffset, config } = this.state
    const { 'min.compaction.lag.ms': minLagMs, 'max.compaction.lag.ms': maxLagMs } = config()
    const firstDirtyOffset = Math.max(context.cleanerOffsets.get(partition) ?? 0, logStartOffset)
    const hasLag = minLagMs > 0 || Number.isSafeInteger(maxLagMs)
    const timed = new Set(hasLag ? dirtySegments(segments.all, firstDirtyOffset) : [])
    const pictures: CompactionSegment[] = []
    for (const segment of [...segments.all]) pictures.push(await pictureOf(segment, timed.has(segment), context.offload))
    return pictures
  }

  /** Notes up to where the log is clean; resolves when the checkpoint says so. */
  async cleanedTo(offset: number): Promise<void> {
    const { context, partition, isClosed } = this.state
    if (context.directory.isOffline || isClosed) return
    try {
      await context.cleanerOffsets.set(partition, offset)
    } catch (error) {
      context.directory.failWith(error)
    }
  }

  /** Ends a cleaning that is under way, and keeps another from beginning until the work is done. */
  async without<R>(work: () => Promise<R>): Promise<R> {
    this.#holders++
    try {
      if (this.#stop !== null) {
        this.#stop.abort()
        await this.#underWay
      }
      return await work()
    } finally {
      this.#holders--
    }
  }

  /** Cleans what is due. A failure of the disk takes the directory offline. */
  clean(settings: CleanSettings): Promise<CleanOutcome> {
    const { context, isClosed } = this.state
    if (this.#holders > 0 || this.#stop !== null || isClosed || context.directory.isOffline) {
      return Promise.resolve({ kind: 'given up' })
    }
    const stop = new AbortController()
    this.#stop = stop
    const done = this.#clean(settings, stop).finally(() => {
      this.#stop = null
    })
    this.#underWay = done.catch(() => {})
    return done
  }

  async #clean(settings: CleanSettings, stop: AbortController): Promise<CleanOutcome> {
    const { context } = this.state
    try {
      return await this.#cleanAndSwap(settings, stop)
    } catch (error) {
      if (error instanceof DiskError) context.directory.failWith(error)
      if (stop.signal.aborted || this.state.isClosed || context.directory.isOffline) return { kind: 'given up' }
      if (error instanceof OffloadError && error.reason === 'closed') return { kind: 'given up' }
      const problem = error instanceof Error ? error.message : String(error)
      return { kind: 'uncleanable', segment: null, position: null, problem }
    }
  }

  async #cleanAndSwap(settings: CleanSettings, stop: AbortController): Promise<CleanOutcome> {
    const { state } = this
    const { checkpointRecoveryPoints, ...limits } = settings
    // What was to take segments away before has done so.
    await this.run(async () => {})
    // Nobody cuts the log from here on, so that what is due now stays so.
    const picture = await this.picture()
    const found = picture === null ? null : cleanable(picture)
    if (found === null || !found.isDue) return { kind: 'given up' }
    const input = await this.#input(found, limits)
    const isStopped = () => stop.signal.aborted || state.isClosed || state.context.directory.isOffline
    let swaps: Promise<void> = Promise.resolve()
    let isSafe: Promise<boolean> | null = null
    const swap = async (group: CleanedGroup): Promise<void> => {
      isSafe ??= this.#makeSafe(checkpointRecoveryPoints)
      if (!(await isSafe) || isStopped()) return this.#discardNow(group)
      await swapSegments(state, group, (step) => this.run(async () => step()))
    }
    const job = state.context.offload.run('clean', input, {
      signal: stop.signal,
      progress: (group) => {
        swaps = swaps.then(() => swap(group))
        swaps.catch(() => stop.abort())
      },
    })
    const [output] = await Promise.allSettled([job])
    await swaps
    if (output.status === 'rejected') throw output.reason
    if (output.value.kind === 'cancelled' || isStopped()) return { kind: 'given up' }
    if (output.value.kind === 'uncleanable') return output.value
    // Before a truncation, which would lower it, may begin.
    await this.cleanedTo(output.value.cleanedTo)
    return { ...output.value, from: found.firstDirtyOffset }
  }

  async #input(found: Cleanable, limits: Omit<CleanSettings, 'checkpointRecoveryPoints'>): Promise<CleanInput> {
    const { state } = this
    const { segments, context, producers } = state
    const { firstDirtyOffset, firstUncleanableOffset: endOffset } = found
    const taken = segments.all.filter(({ baseOffset }) => baseOffset < endOffset)
    // Indexes that are missing or damaged are built again before they are used or measured.
    for (const segment of taken) await ensureFiles(segment, context.offload)
    return {
      ...limits,
      folder: state.folder.path,
      config: state.config(),
      now: context.clock.now(),
      segments: taken.map((segment) => ({
        baseOffset: segment.baseOffset,
        sizeInBytes: segment.sizeInBytes,
        modifiedMs: segment.modifiedMs(),
      })),
      firstDirtyOffset,
      endOffset,
      aborted: segments.all.flatMap(({ txns }) =>
        txns.entries.filter(({ firstOffset }: AbortedEntry) => firstOffset < endOffset),
      ),
      activeProducers: Array.from(producers.entries, ({ producerId, producerEpoch, lastBatch }) => ({
        producerId,
        producerEpoch,
        lastDataOffset: lastBatch?.lastOffset ?? -1,
      })),
    }
  }

  /**
   * What is cleaned is on the disk, and a restart knows it: a segment above the recovery point has never been cleaned, so that a gap
   * between two of those is a loss and no compaction. So are the markers of its transactions, which may stand in the active segment:
   * without them what took the place of older records would be undecided again.
   */
  async #makeSafe(checkpointRecoveryPoints: () => Promise<void>): Promise<boolean> {
    if (!(await this.state.flush(this.state.logEndOffset))) return false
    await checkpointRecoveryPoints()
    return !this.state.context.directory.isOffline
  }

  #discardNow({ baseOffset, sizeInBytes }: CleanedGroup): void {
    const segment = this.state.segmentOf(baseOffset, sizeInBytes)
    segment.dataSuffix = '.cleaned'
    segment.indexSuffix = '.cleaned'
    for (const path of segment.paths()) this.state.context.disk.removeNow(path)
  }
}

async function pictureOf(segment: Segment, withTimes: boolean, offload: Offload): Promise<CompactionSegment> {
  const { baseOffset, sizeInBytes } = segment
  if (!withTimes) return { baseOffset, sizeInBytes, largestTimestamp: 0, firstBatchTimestamp: null }
  if (!segment.peekTimesNow()) await ensureIndexes(segment, offload)
  const firstBatchTimestamp = await firstBatchTimestampOf(segment)
  return { baseOffset, sizeInBytes, largestTimestamp: segment.largestTimestamp(), firstBatchTimestamp }
}

/** The index files are measured and used: those that are missing are built again, what memory has more than they is written. */
async function ensureFiles(segment: Segment, offload: Offload): Promise<void> {
  const isThere = (kind: 'index' | 'timeindex') => segment.files.disk.statNow(segment.pathOf(kind)) !== null
  if (segment.hasLoadedIndexes) return segment.writeIndexesNow()
  if (isThere('index') && isThere('timeindex')) return
  await ensureIndexes(segment, offload)
  segment.unloadIndexes()
}
