/**
 * What one partition's log is at this moment, and the steps that change its segments: roll, flush, cut, remove. Steps that change
 * segments run one at a time, in the order of the append queue.
 *
 *   log start     last stable    high watermark         log end
 *      |--------------|---------------|--------------------|        recovery point: below it all is on the disk
 *
 * Invariants: logStart <= lastStable <= highWatermark <= logEnd;  recoveryPoint <= logEnd;  the active segment ends at logEnd.
 */
import { posix } from 'node:path'
import { formatTopicPartition, type TopicPartition } from '@mq/protocol'
import { writeAtomically } from './checkpoint.js'
import { PARTITION_METADATA, partitionMetadataToText } from './directory-files.js'
import type { LeaderEpochs } from './leader-epochs.js'
import type { LogContext } from './log-context.js'
import { EpochFile, type Snapshots } from './log-files.js'
import { type LoadedLog, rollJitter } from './log-load.js'
import type { ProducerStates } from './producer-state.js'
import { ensureIndexes, readTimes, replayProducers } from './recover.js'
import { type Folder, Segment } from './segment.js'
import { scanBatches } from './segment-scan.js'
import type { Segments } from './segments.js'
import type { TailOfLog } from './tail-cache.js'
import type { TopicConfig } from './topic-config.js'
import { Watchers } from './watch.js'

export class LogState {
  readonly folder: Folder
  topicId: string | null
  readonly segments: Segments
  readonly producers: ProducerStates
  readonly snapshots: Snapshots
  readonly epochs: LeaderEpochs
  readonly epochFile: EpochFile
  readonly tail: TailOfLog
  logStartOffset: number
  logEndOffset: number
  highWatermark: number
  recoveryPoint: number
  /** Monotonic milliseconds. */
  lastFlushAt: number
  isClosed = false
  /** Cancels for the files that wait to be removed. */
  readonly pendingRemovals = new Set<() => void>()
  /** To be told whenever an end of the log moves, and when it closes. */
  readonly watchers = new Watchers()
  readonly #beganSettled: boolean
  #flushing: Promise<void> = Promise.resolve()
  /** Files were made or renamed since the folder was synced. */
  #namesChanged = true
  /** Where the log was cut last, and where the records before that end: in the middle of a batch, or among what was compacted. */
  #cut: { readonly at: number; readonly recordsEnd: number } | null = null

  constructor(
    readonly context: LogContext,
    readonly partition: TopicPartition,
    readonly config: () => TopicConfig,
    loaded: LoadedLog,
  ) {
    this.folder = loaded.folder
    this.topicId = loaded.topicId
    this.segments = loaded.segments
    this.producers = loaded.producers
    this.snapshots = loaded.snapshots
    this.epochs = loaded.epochs
    this.epochFile = new EpochFile(context.disk, loaded.folder, loaded.epochs)
    this.#beganSettled = loaded.isSettled
    this.tail = context.tail.tailOf()
    this.logStartOffset = loaded.logStartOffset
    this.logEndOffset = loaded.logEndOffset
    this.highWatermark = loaded.logStartOffset
    this.recoveryPoint = Math.max(loaded.recoveryPoint, loaded.logStartOffset)
    this.lastFlushAt = context.clock.monotonic()
  }

  get name(): string {
    return formatTopicPartition(this.partition)
  }

  /**
   * What a restart may trust. Of the active segment only the data may be on the disk: until the log is closed the restart has to
   * scan it, also when it has become a closed one by then.
   */
  get checkpointedRecoveryPoint(): number {
    return this.isClosed
      ? this.recoveryPoint
      : Math.min(this.recoveryPoint, Math.max(this.segments.active.baseOffset, this.logStartOffset))
  }

  /** The place of a batch that is not there yet. */
  get end(): { readonly firstOffset: number; readonly lastOffset: number } {
    return { firstOffset: this.logEndOffset, lastOffset: this.logEndOffset }
  }

  get lastStableOffset(): number {
    const first = this.producers.firstUnstableOffset
    return first === null ? this.highWatermark : Math.min(this.highWatermark, Math.max(first, this.logStartOffset))
  }

  moveHighWatermark(to: number): void {
    this.highWatermark = Math.max(this.logStartOffset, Math.min(to, this.logEndOffset))
    this.producers.highWatermarkMovedTo(this.highWatermark)
    this.watchers.changed()
  }

  moveLogStart(to: number): void {
    this.logStartOffset = to
    if (this.highWatermark < to) this.highWatermark = to
    this.producers.logStartMovedTo(to)
    if (this.epochs.truncateFromStart(to)) this.writeEpochs()
    this.watchers.changed()
  }

  /** In the background; a failure takes the directory offline. */
  async writeEpochs(): Promise<void> {
    if (this.isClosed) return
    await this.epochFile.write().catch((error) => {
      this.context.directory.failWith(error)
    })
  }

  async writeTopicId(topicId: string): Promise<void> {
    this.topicId = topicId
    const path = posix.join(this.folder.path, PARTITION_METADATA)
    await writeAtomically(this.context.disk, path, partitionMetadataToText(topicId))
  }

  newSegment(baseOffset: number): Segment {
    return this.segmentOf(baseOffset, 0)
  }

  segmentOf(baseOffset: number, sizeInBytes: number): Segment {
    const { context, config } = this
    const state = { sizeInBytes, rollJitterMs: rollJitter(context, config()), createdAt: context.clock.now() }
    return new Segment(context.files, this.folder, baseOffset, config, state)
  }

  /** Begins a new active segment; what the old ones hold is made durable in the background. */
  rollNow(next: { readonly firstOffset: number; readonly lastOffset: number }): void {
    // It begins where the records of the old one end, also where a follower's next batch begins later or the log was cut behind
    // them: then a start after a power cut knows that records are missing between two segments.
    const end = this.#cut?.at === this.logEndOffset ? this.#cut.recordsEnd : this.logEndOffset
    const isFar = next.lastOffset - end > 0x7fff_ffff
    const baseOffset = isFar ? next.firstOffset : end
    const old = this.segments.active
    if (old.baseOffset === baseOffset) {
      // Nothing was written to it: the same file goes on, with empty indexes and a new age.
      old.resetIndexesNow()
      old.createdAt = this.context.clock.now()
      return
    }
    old.becomeInactiveNow()
    // Until its indexes are on the disk, too, the closed segment counts as one to be scanned.
    this.recoveryPoint = Math.min(this.recoveryPoint, Math.max(old.baseOffset, baseOffset - 1))
    this.#namesChanged = true
    const segment = this.newSegment(baseOffset)
    segment.createNow()
    this.segments.add(segment)
    this.context.indexMemory.touch(old)
    this.producers.endOffset = baseOffset
    if (this.snapshots.latest < baseOffset) this.snapshots.writeNow(baseOffset, this.producers.entries)
    void this.flush(baseOffset)
  }

  /** Everything below the offset is durable once this resolves; false when the directory failed. */
  async flush(upTo: number): Promise<boolean> {
    const mine = this.#flushing.then(() => this.#flushNow(upTo))
    this.#flushing = mine.catch(() => {})
    try {
      await mine
    } catch (error) {
      this.context.directory.failWith(error)
    }
    return !this.context.directory.isOffline
  }

  /**
   * Of the active segment only the data: a restart scans it anyway and builds its indexes again. So appends that wait for the disk
   * share one sync with all that came before it began. A closed segment is not scanned once the recovery point is past its end:
   * its indexes and snapshot must be on the disk by then.
   */
  async #flushNow(upTo: number): Promise<void> {
    const { context } = this
    if (upTo <= this.recoveryPoint || context.directory.isOffline || this.isClosed) return
    const { active } = this.segments
    let target = upTo > active.baseOffset ? this.logEndOffset : upTo
    const begins = () => {
      target = this.logEndOffset
    }
    for (const segment of this.segments.between(this.recoveryPoint, target)) {
      await this.#syncSegment(segment, segment === active ? () => segment.syncData(begins) : () => this.#syncClosed(segment))
    }
    await this.epochFile.settled()
    if (this.#namesChanged) {
      this.#namesChanged = false
      await context.disk.syncDirectory(this.folder.path)
    }
    if (context.directory.isOffline) return
    // It may have been closed meanwhile, with nothing but its data on the disk.
    const next = this.segments.after(active)
    const limit = next === undefined ? this.logEndOffset : Math.max(next.baseOffset - 1, active.baseOffset)
    this.recoveryPoint = Math.max(this.recoveryPoint, Math.min(target, limit))
    this.lastFlushAt = context.clock.monotonic()
  }

  async #syncClosed(segment: Segment): Promise<void> {
    segment.writeIndexesNow()
    await segment.sync()
    await this.snapshots.sync(segment.baseOffset)
    const next = this.segments.after(segment)
    if (next !== undefined) await this.snapshots.sync(next.baseOffset)
  }

  async #syncSegment(segment: Segment, sync: () => Promise<void>): Promise<void> {
    try {
      await sync()
    } catch (error) {
      // Retention may take a segment away while it is synced; nobody needs it any more then.
      if (this.segments.all.includes(segment)) throw error
    }
  }

  /** Takes the oldest segments out of the log; their files go after `file.delete.delay.ms`. */
  removeOldestNow(count: number): void {
    const gone = this.segments.all.slice(0, count)
    const next = this.segments.all[count]!.baseOffset
    for (const segment of gone) this.#removeNow(segment)
    if (next > this.logStartOffset) this.moveLogStart(next)
  }

  #removeNow(segment: Segment): void {
    this.segments.remove(segment)
    this.snapshots.removeNow(segment.baseOffset)
    this.retireNow(segment)
  }

  /** A segment that is no longer one of the log: its files go after `file.delete.delay.ms`. */
  retireNow(segment: Segment): void {
    const { disk } = this.context
    this.context.indexMemory.forget(segment)
    const renamed: string[] = []
    for (const path of segment.paths()) {
      if (disk.statNow(path) === null) continue
      disk.renameNow(path, `${path}.deleted`)
      renamed.push(`${path}.deleted`)
    }
    segment.closeNow()
    const takeBack = this.context.removals.later({
      paths: renamed,
      delayMs: this.config()['file.delete.delay.ms'],
      begun: () => this.pendingRemovals.delete(takeBack),
      failed: (error) => this.context.directory.failWith(error),
    })
    this.pendingRemovals.add(takeBack)
  }

  /** Runs alone among flushes: what is synced meanwhile must not count for bytes that are written later. */
  #withoutFlush(change: () => Promise<void>): Promise<void> {
    const mine = this.#flushing.then(change)
    this.#flushing = mine.catch(() => {})
    return mine
  }

  /** Drops everything at and above the offset. */
  truncateTo(offset: number): Promise<void> {
    return this.#withoutFlush(() => this.#truncateTo(offset))
  }

  /** Drops everything; the next record gets this offset. */
  startOver(offset: number): Promise<void> {
    return this.#withoutFlush(() => this.#startOver(offset))
  }

  async #truncateTo(offset: number): Promise<void> {
    if (offset >= this.logEndOffset) {
      if (this.epochs.truncateFromEnd(offset)) await this.writeEpochs()
      return
    }
    if (offset < this.segments.first.baseOffset) return this.#startOver(offset)
    await this.context.cleanerOffsets.lower(this.partition, this.segments.floor(offset)!.baseOffset)
    this.tail.clear()
    // The last first: were the machine to stop in between, the log must not have a hole.
    for (const segment of [...this.segments.all].reverse()) if (segment.baseOffset > offset) this.#removeNow(segment)
    // They have to be gone before the one that stays is cut.
    await this.context.disk.syncDirectory(this.folder.path)
    const active = this.segments.active
    await ensureIndexes(active, this.context.offload)
    const { position, recordsEnd } = await this.#endBefore(active, offset)
    active.truncateNow(position, offset, this.context.clock.now())
    this.#cut = { at: offset, recordsEnd }
    await active.syncData()
    await readTimes(active)
    this.logEndOffset = offset
    this.logStartOffset = Math.min(this.logStartOffset, offset)
    this.recoveryPoint = Math.min(this.recoveryPoint, offset)
    this.snapshots.removeWhereNow((at) => at > offset)
    if (this.epochs.truncateFromEnd(offset)) await this.writeEpochs()
    await this.#rebuildProducers(offset)
    this.moveHighWatermark(this.highWatermark)
    await this.context.whenLogWentBack?.(this)
  }

  /** Where the batches end that lie before the offset as a whole. */
  async #endBefore(segment: Segment, offset: number): Promise<{ readonly position: number; readonly recordsEnd: number }> {
    let { position } = segment.indexes.offsets.lookup(offset - 1)
    let recordsEnd = segment.baseOffset
    await segment.data.pinned(async (file) => {
      for await (const batch of scanBatches(file, position, segment.sizeInBytes)) {
        if (batch.lastOffset >= offset) break
        recordsEnd = batch.lastOffset + 1
        position = batch.position + batch.sizeInBytes
      }
    })
    return { position, recordsEnd }
  }

  async #rebuildProducers(offset: number): Promise<void> {
    const { context, producers, snapshots } = this
    producers.clear()
    producers.endOffset = this.logStartOffset
    for (const at of snapshots.offsets.reverse()) {
      const read = snapshots.readNow(at)
      if ('problem' in read) continue
      producers.load(read, at, context.clock.now(), context.producerIdExpirationMs())
      break
    }
    await replayProducers(this.segments.all, producers, offset, context.offload)
  }

  async #startOver(offset: number): Promise<void> {
    await this.context.cleanerOffsets.lower(this.partition, offset)
    this.tail.clear()
    const old = [...this.segments.all]
    this.snapshots.removeWhereNow(() => true)
    for (const segment of old) this.#removeNow(segment)
    const segment = this.newSegment(offset)
    segment.createNow()
    this.segments.add(segment)
    this.producers.clear()
    this.producers.endOffset = offset
    this.#cut = null
    this.logStartOffset = offset
    this.logEndOffset = offset
    this.highWatermark = offset
    this.recoveryPoint = offset
    this.epochs.clear()
    this.watchers.changed()
    // The folder is synced with it.
    await this.writeEpochs()
    await this.context.whenLogWentBack?.(this)
  }

  /** Writes what a clean start wants: indexes cut to size, a snapshot at the end, everything durable. */
  async close(): Promise<void> {
    if (!this.context.directory.isOffline) {
      try {
        await this.#settle()
      } catch (error) {
        this.context.directory.failWith(error)
      }
    }
    await this.abandon()
  }

  async #settle(): Promise<void> {
    const { active } = this.segments
    const end = this.logEndOffset
    const needsSnapshot = end > Math.max(this.snapshots.latest, this.logStartOffset)
    const isSettled = this.#beganSettled && active.isWritten && !needsSnapshot && this.recoveryPoint >= end
    await this.epochFile.settled()
    if (isSettled) return
    const transactionsChanged = !active.areTransactionsWritten
    active.becomeInactiveNow()
    if (needsSnapshot) this.snapshots.writeNow(end, this.producers.entries)
    // Nothing can be lost of a log without records: its index files are made anew when they are missing. But what a transaction index
    // said of records that are gone must not come back.
    const isEmpty = end === this.logStartOffset && active.sizeInBytes === 0 && this.segments.count === 1
    if (isEmpty && !transactionsChanged) return
    // The data is on the disk then; of the active segment nothing else.
    await this.flush(end)
    await active.syncIndexes()
    await this.snapshots.sync(end)
    await this.context.disk.syncDirectory(this.folder.path)
  }

  /** Closes the files as they are, once nothing is under way on them any more. */
  async abandon(): Promise<void> {
    this.isClosed = true
    this.watchers.changed()
    for (const cancel of this.pendingRemovals) cancel()
    this.pendingRemovals.clear()
    this.tail.clear()
    await this.#flushing
    await this.epochFile.settled().catch(() => {})
    for (const segment of this.segments.all) {
      this.context.indexMemory.forget(segment)
      segment.closeNow()
    }
  }
}
