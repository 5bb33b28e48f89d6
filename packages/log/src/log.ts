/**
 * One partition's log: the only writer of its files. This is its public face; writing is in log-writer.ts, what changes its
 * segments in log-state.ts, opening and repair in log-load.ts and recover.ts.
 */
import { formatTopicPartition, RecordsError } from '@mq/protocol'
import type { AppendOptions } from './append-queue.js'
import { Breather } from './breather.js'
import type { Log, LogPartition, ReadOptions, SegmentView, TimestampQuery } from './log-api.js'
import { LogCompaction } from './log-compaction.js'
import type { LogContext } from './log-context.js'
import type { LoadedLog } from './log-load.js'
import { readCold } from './log-read.js'
import { LogState } from './log-state.js'
import { type LogStats, statsOf } from './log-stats.js'
import { LogWriter } from './log-writer.js'
import {
  type AbortedTransaction,
  type Appended,
  type ProducerStateView,
  type Read,
  type ReadLimit,
  type Refused,
  refused,
  type TimestampOffset,
} from './outcomes.js'
import { ensureIndexes } from './recover.js'
import { deletableSegments } from './retention.js'
import type { Segment } from './segment.js'
import { findByTimestamp, findMaxTimestamp, highestProducerIdIn } from './segment-read.js'
import type { TopicConfig } from './topic-config.js'

/** Segments that retention takes out of a log in one turn of the loop: ten renames and stats each. */
const REMOVED_AT_ONCE = 16

/** A topic's config that may change while the log is open. */
export interface ConfigBox {
  value: TopicConfig
}

/** What a start found out about a log that was not stopped cleanly; null when nothing was cut. */
export type Cut = LoadedLog['cut']

export class PartitionLog implements Log {
  readonly topicPartition: LogPartition
  /** What was cut off when the log was opened. */
  readonly cut: Cut
  /**
   * The highest leader epoch that was found when the log was opened, also one in which nothing was appended; -1 without any. A
   * new leader must not use a lower one.
   */
  readonly highestEpochFound: number
  readonly compaction: LogCompaction
  readonly #state: LogState
  readonly #writer: LogWriter
  /** Shared with the segments, which look at it each time. */
  readonly #config: ConfigBox

  /** `state`, where somebody else of this package moves the log's ends (read-only-log.ts). */
  constructor(
    context: LogContext,
    partition: LogPartition,
    config: ConfigBox,
    loaded: LoadedLog,
    state: LogState = new LogState(context, partition, () => config.value, loaded),
  ) {
    this.topicPartition = partition
    this.cut = loaded.cut
    this.highestEpochFound = loaded.highestEpochFound
    this.#config = config
    this.#state = state
    this.#writer = new LogWriter(this.#state)
    this.compaction = new LogCompaction(this.#state, (task) => this.#writer.run(task))
    if (loaded.epochsChanged) void this.#state.writeEpochs()
  }

  get topicId(): string | null {
    return this.#state.topicId
  }

  get logStartOffset(): number {
    return this.#state.logStartOffset
  }

  get logEndOffset(): number {
    return this.#state.logEndOffset
  }

  get highWatermark(): number {
    return this.#state.highWatermark
  }

  get lastStableOffset(): number {
    return this.#state.lastStableOffset
  }

  /** Everything below it is on the disk. */
  get recoveryPoint(): number {
    return this.#state.recoveryPoint
  }

  /** From here on a restart scans, were the log not closed before. */
  get checkpointedRecoveryPoint(): number {
    return this.#state.checkpointedRecoveryPoint
  }

  get latestLeaderEpoch(): number {
    return this.#state.epochs.latest
  }

  get sizeInBytes(): number {
    return this.#state.segments.sizeInBytes
  }

  segmentViews(): SegmentView[] {
    return this.#state.segments.all.map((segment) => ({
      baseOffset: segment.baseOffset,
      sizeInBytes: segment.sizeInBytes,
      modifiedMs: segment.modifiedMs(),
    }))
  }

  get firstSegmentOffset(): number {
    return this.#state.segments.first.baseOffset
  }

  /** The folder of the partition. */
  get path(): string {
    return this.#state.folder.path
  }

  /** The log directory it lies in. */
  get directory(): string {
    return this.#state.context.directory.path
  }

  get isOffline(): boolean {
    return this.#state.context.directory.isOffline
  }

  /** Whether it was closed, or its directory failed: everything is refused from then on. */
  get isClosed(): boolean {
    return this.#state.isClosed || this.isOffline
  }

  /** What everything is answered with once the log is closed. */
  refusal(): Refused {
    return this.#state.context.directory.refusal()
  }

  /**
   * Calls `listener` after an end of the log moved (once a turn at most), and when it was closed or its directory failed.
   * @returns ends it
   */
  watch(listener: () => void): () => void {
    const { watchers, context } = this.#state
    const ends = [watchers.add(listener), context.directory.watchers.add(listener)]
    return () => {
      for (const end of ends) end()
    }
  }

  /** What it holds and costs now. Asks the disk for nothing but the times of its files. */
  stats(): LogStats {
    return statsOf(this.#state, this.topicPartition)
  }

  get config(): TopicConfig {
    return this.#config.value
  }

  set config(config: TopicConfig) {
    this.#config.value = config
  }

  append(records: Buffer, options: AppendOptions): Appended | Refused | Promise<Appended | Refused> {
    return this.#writer.append(records, options)
  }

  read(offset: number, options: ReadOptions): Read | Refused | Promise<Read | Refused> {
    const state = this.#state
    if (this.isOffline || state.isClosed) return state.context.directory.refusal()
    if (offset < state.logStartOffset || offset > state.logEndOffset) {
      const range = `${state.logStartOffset} to ${state.logEndOffset}`
      return { ...refused('OFFSET_OUT_OF_RANGE', `offset ${offset}, the log has ${range}`), logStartOffset: state.logStartOffset }
    }
    const limit = this.#limitOf(options.upTo)
    if (offset >= limit) return this.#answer(offset, [], 0, offset, options.upTo)
    const tail = state.tail.read(offset, limit, options.maxBytes, options.minOneMessage)
    if (tail !== null) return this.#answer(offset, tail.slices, tail.sizeInBytes, tail.nextOffset, options.upTo)
    return readCold(state, offset, { ...options, limitOffset: limit }).then((read) =>
      'kind' in read ? read : this.#answer(offset, read.slices, read.sizeInBytes, read.nextOffset, options.upTo),
    )
  }

  #limitOf(upTo: ReadLimit): number {
    if (upTo === 'logEnd') return this.#state.logEndOffset
    return upTo === 'highWatermark' ? this.#state.highWatermark : this.#state.lastStableOffset
  }

  #answer(offset: number, slices: readonly Buffer[], sizeInBytes: number, nextOffset: number, upTo: ReadLimit): Read {
    const { highWatermark, lastStableOffset, logStartOffset, logEndOffset } = this.#state
    const abortedTransactions = upTo === 'lastStable' && sizeInBytes > 0 ? this.abortedTransactions(offset, nextOffset) : []
    return {
      kind: 'read',
      slices,
      sizeInBytes,
      abortedTransactions,
      highWatermark,
      lastStableOffset,
      logStartOffset,
      logEndOffset,
    }
  }

  /** The aborted transactions with records in [from, upTo). */
  abortedTransactions(from: number, upTo: number): AbortedTransaction[] {
    const { segments } = this.#state
    const found: AbortedTransaction[] = []
    for (let segment: Segment | undefined = segments.floor(from) ?? segments.first; segment !== undefined; ) {
      if (segment.txns.collect(from, upTo, found)) break
      segment = segments.after(segment)
    }
    return found
  }

  updateHighWatermark(to: number): void {
    this.#state.moveHighWatermark(to)
  }

  async assignEpoch(epoch: number, startOffset: number): Promise<void> {
    if (this.#state.epochs.assign(epoch, startOffset)) await this.#state.writeEpochs()
  }

  endOffsetForEpoch(epoch: number): { readonly epoch: number; readonly endOffset: number } | null {
    return this.#state.epochs.endOffsetFor(epoch, this.#state.logEndOffset)
  }

  async offsetForTimestamp(query: TimestampQuery): Promise<TimestampOffset | null | Refused> {
    const state = this.#state
    if (this.isOffline || state.isClosed) return state.context.directory.refusal()
    if (query === 'earliest') {
      const first = state.epochs.earliest
      const leaderEpoch = first !== null && first.startOffset <= state.logStartOffset ? first.epoch : -1
      return { offset: state.logStartOffset, timestamp: -1, leaderEpoch }
    }
    if (query === 'latest') return { offset: state.logEndOffset, timestamp: -1, leaderEpoch: state.epochs.latest }
    try {
      return await this.#overMovingSegments(() => (query === 'maxTimestamp' ? this.#latestRecord() : this.#firstRecordAt(query)))
    } catch (error) {
      return error instanceof RecordsError ? refused(error.error, error.message) : state.context.directory.failedLook(error)
    }
  }

  /** Retention or a cut may take away a segment that is looked at: then the look begins anew among those that are left. */
  async #overMovingSegments<R>(look: () => Promise<R>): Promise<R> {
    for (;;) {
      const before = this.#state.segments.all
      try {
        return await look()
      } catch (error) {
        if (before === this.#state.segments.all) throw error
      }
    }
  }

  async #firstRecordAt(timestamp: number): Promise<TimestampOffset | null> {
    for (const segment of this.#state.segments.all) {
      await this.#knowTimes(segment)
      if (segment.largestTimestamp() < timestamp) continue
      await this.#useIndexes(segment)
      // Those that are late enough may all lie before the log start: then a later segment may have one.
      const found = await findByTimestamp(segment, timestamp, this.#state.logStartOffset)
      if (found !== null) return found
    }
    return null
  }

  /** Afterwards the segment's largest timestamp is known; its indexes are read whole only if they look damaged. */
  async #knowTimes(segment: Segment): Promise<void> {
    if (!segment.peekTimesNow()) await this.#useIndexes(segment)
  }

  /** Afterwards the indexes are in memory; those of closed segments only as long as there is room. */
  async #useIndexes(segment: Segment): Promise<void> {
    await ensureIndexes(segment, this.#state.context.offload)
    if (segment !== this.#state.segments.active) this.#state.context.indexMemory.touch(segment)
  }

  async #latestRecord(): Promise<TimestampOffset | null> {
    let latest: Segment | null = null
    for (const segment of this.#state.segments.all) {
      await this.#knowTimes(segment)
      if (latest === null || segment.maxTimestamp > latest.maxTimestamp) latest = segment
    }
    if (latest === null) return null
    await this.#useIndexes(latest)
    return findMaxTimestamp(latest)
  }

  async deleteRecordsBefore(offset: number): Promise<{ readonly kind: 'deleted'; readonly logStartOffset: number } | Refused> {
    const state = this.#state
    if (this.isOffline || state.isClosed) return state.context.directory.refusal()
    if (offset < 0 || offset > state.highWatermark) {
      return refused('OFFSET_OUT_OF_RANGE', `offset ${offset}, the high watermark is ${state.highWatermark}`)
    }
    if (offset > state.logStartOffset) state.moveLogStart(offset)
    return { kind: 'deleted', logStartOffset: state.logStartOffset }
  }

  /**
   * Takes away the segments that the topic's config no longer keeps; not while the log is cleaned.
   * @returns how many went
   */
  applyRetention(): Promise<number> {
    return this.#changing(async () => {
      let removed = 0
      if (this.compaction.isUnderWay) return removed
      for (;;) {
        const count = Math.min(await this.#deletable(), REMOVED_AT_ONCE)
        if (count === 0) break
        const { segments, context, folder } = this.#state
        if (count === segments.count) this.#state.rollNow(this.#state.end)
        this.#state.removeOldestNow(count)
        removed += count
        // Once it is said that they are gone, they must not come back after a stop of the machine.
        await context.disk.syncDirectory(folder.path)
      }
      return removed
    }, 0)
  }

  async #deletable(): Promise<number> {
    const { segments, logStartOffset, logEndOffset, highWatermark, context } = this.#state
    const breather = new Breather(context)
    for (const segment of segments.all) {
      await this.#knowTimes(segment)
      await breather.breathe()
    }
    const views = segments.all.map((segment) => ({
      baseOffset: segment.baseOffset,
      sizeInBytes: segment.sizeInBytes,
      largestTimestamp: segment.largestTimestamp(),
    }))
    const now = context.clock.now()
    const { count, reason } = deletableSegments({
      segments: views,
      logStartOffset,
      logEndOffset,
      highWatermark,
      now,
      config: this.config,
    })
    if (count > 0) context.logger.info({ partition: this.#state.name, segments: count, reason }, 'segments are no longer kept')
    return count
  }

  /** Runs a change of the segments after the appends before it; a failure of the disk takes the directory offline. */
  async #changing<R>(change: () => Promise<R>, whenOffline: R): Promise<R> {
    return this.#writer.run(async () => {
      if (this.isOffline || this.#state.isClosed) return whenOffline
      try {
        return await change()
      } catch (error) {
        this.#state.context.directory.failWith(error)
        return whenOffline
      }
    })
  }

  truncateTo(offset: number): Promise<void> {
    return this.compaction.without(() => this.#changing(() => this.#state.truncateTo(offset), undefined))
  }

  truncateFullyAndStartAt(offset: number): Promise<void> {
    return this.compaction.without(() => this.#changing(() => this.#state.startOver(offset), undefined))
  }

  roll(): Promise<void> {
    return this.#changing(async () => this.#state.rollNow(this.#state.end), undefined)
  }

  async flush(): Promise<void> {
    await this.#state.flush(this.#state.logEndOffset)
  }

  /** Milliseconds since the last flush, 0 when nothing waits for one. */
  unflushedFor(): number {
    const { logEndOffset, recoveryPoint, lastFlushAt, context } = this.#state
    return logEndOffset > recoveryPoint ? context.clock.monotonic() - lastFlushAt : 0
  }

  producers(): ProducerStateView[] {
    return this.#state.producers.views()
  }

  /**
   * The highest producer id that stands in the log from an offset on, in its snapshots or in its state; -1 without any. An id must not
   * be given out again while its batches lie here: a new producer's would be taken for duplicates.
   */
  async highestProducerId(fromOffset: number = this.logStartOffset): Promise<number> {
    const { segments, snapshots, producers, context } = this.#state
    let highest = -1
    const see = (producerId: number): void => {
      if (producerId > highest) highest = producerId
    }
    for (const { producerId } of producers.entries) see(producerId)
    try {
      for (const offset of snapshots.offsets) {
        const read = snapshots.readNow(offset)
        if (!('problem' in read)) for (const { producerId } of read) see(producerId)
      }
      await this.#overMovingSegments(async () => {
        for (const segment of segments.between(fromOffset, Number.POSITIVE_INFINITY))
          see(await highestProducerIdIn(segment, fromOffset, context.offload))
      })
    } catch (error) {
      context.directory.failWith(error)
    }
    return highest
  }

  /** Forgets producers that wrote nothing for `producer.id.expiration.ms`. */
  expireProducers(): void {
    const { producers, context } = this.#state
    producers.expire(context.clock.now(), context.producerIdExpirationMs())
  }

  /** For a partition that has no topic id yet: writes `partition.metadata`. */
  assignTopicId(topicId: string): Promise<void> {
    return this.#changing(() => this.#state.writeTopicId(topicId), undefined)
  }

  close(): Promise<void> {
    return this.compaction.without(() => this.#writer.run(() => this.#state.close()))
  }

  /** Closes the files as they are: for a partition that is deleted. */
  abandon(): Promise<void> {
    return this.compaction.without(() => this.#writer.run(() => this.#state.abandon()))
  }

  toString(): string {
    return formatTopicPartition(this.topicPartition)
  }
}
