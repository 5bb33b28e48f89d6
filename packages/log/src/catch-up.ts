/**
 * Brings a read-only view of a log up to what its files hold by now, while somebody else writes them:
 *
 *   seen before           new: whole batches, segment by segment       half written: seen next time
 *   |----------|-----|====================|===============|xx
 *
 * What was seen must still be there: when the last batch seen is another by now, a segment has another size, or one is gone that is
 * not among the oldest, the log was cut or cleaned, and the view has to be loaded anew.
 */
import { RecordBatch } from '@mq/protocol'
import { segmentFile } from './folder-names.js'
import type { LogState } from './log-state.js'
import type { OverlayDisk } from './overlay-disk.js'
import { producerBatch } from './producer-batch.js'
import type { Segment } from './segment.js'
import { scanBatches } from './segment-scan.js'
import { type StoredBatch, storedBatchProblem } from './stored-batch.js'

/** Enough of a batch to tell it from another. */
const HEADER_BYTES = 61
/** Names that change within the same moment as a look may not show in the folder's time. */
const TIME_IS_SURE_MS = 2_000

export class CatchUp {
  /** The header of the last batch before `sizeInBytes` of the active segment; null before there is one. */
  #last: { readonly position: number; readonly header: Buffer } | null = null
  /** Of the folder, when its names were looked at last; NaN when it has to be looked at again. */
  #namesOf = Number.NaN
  /** Of the data files that take no more, by base offset: as large as they are below, damaged or not. */
  readonly #sizes = new Map<number, number>()

  private constructor(
    readonly state: LogState,
    readonly disk: OverlayDisk,
  ) {}

  /** From what was loaded just now. */
  static async from(state: LogState, disk: OverlayDisk): Promise<CatchUp> {
    const made = new CatchUp(state, disk)
    for (const segment of state.segments.all) if (segment !== state.segments.active) made.#whole(segment)
    const { active } = state.segments
    const { offsets } = active.indexes
    await active.data.pinned(async (file) => {
      for await (const batch of scanBatches(file, offsets.lookup(offsets.lastOffset).position, active.sizeInBytes))
        made.#seen(batch)
    })
    return made
  }

  /** @returns false when the view has to be loaded anew. @throws DiskError when the folder cannot be read any more */
  async run(): Promise<boolean> {
    const { state, disk } = this
    const bases = this.#basesIfChanged()
    if (bases !== null && !(this.#dropOldest(bases) && this.#areUnchanged())) return false
    for (;;) {
      const { active } = state.segments
      const path = active.pathOf('log')
      const size = disk.below.statNow(path)?.sizeInBytes
      if (size === undefined || size < active.sizeInBytes || !this.#isSame(path)) return false
      if (size > active.sizeInBytes) {
        disk.forget(path)
        // Until there is a batch to know it by, the file may be another of the same name.
        if (this.#last === null) active.data.closeNow()
        await this.#take(active, size)
      }
      const next = bases?.find((base) => base > active.baseOffset)
      // A segment is whole before the next one begins; if it is not, it is damaged, and what comes after it is not to be seen.
      if (next === undefined || active.sizeInBytes !== size) break
      this.#begin(next)
    }
    state.moveHighWatermark(state.logEndOffset)
    return true
  }

  /** The base offsets of the data files, in order; null when no name in the folder has changed. */
  #basesIfChanged(): number[] | null {
    const { state, disk } = this
    const { path } = state.folder
    const changedAt = disk.below.statNow(path)?.modifiedMs ?? Number.NaN
    if (changedAt === this.#namesOf) return null
    // A disk that keeps no times of folders says 0.
    const isSure = changedAt > 0 && state.context.clock.now() - changedAt > TIME_IS_SURE_MS
    this.#namesOf = isSure ? changedAt : Number.NaN
    const files = disk.below.listNow(path).map(({ name }) => segmentFile(name))
    return files
      .filter((file) => file?.kind === 'log' && file.suffix === '')
      .map((file) => file!.baseOffset)
      .sort((a, b) => a - b)
  }

  /** Retention takes the oldest segments away, and nothing else. */
  #dropOldest(bases: readonly number[]): boolean {
    const { segments } = this.state
    const there = new Set(bases)
    const gone = segments.all.filter(({ baseOffset }) => !there.has(baseOffset))
    if (gone.length === 0) return true
    if (gone.length === segments.count || gone.some((segment, at) => segment !== segments.all[at])) return false
    for (const segment of gone) {
      segments.remove(segment)
      this.state.context.indexMemory.forget(segment)
      this.#sizes.delete(segment.baseOffset)
      segment.closeNow()
    }
    const start = segments.first.baseOffset
    if (start > this.state.logStartOffset) this.state.moveLogStart(start)
    return true
  }

  #whole(segment: Segment): void {
    this.#sizes.set(segment.baseOffset, this.#sizeBelow(segment))
  }

  #sizeBelow(segment: Segment): number {
    return this.disk.below.statNow(segment.pathOf('log'))?.sizeInBytes ?? -1
  }

  /** A cleaned segment has the old one's name. */
  #areUnchanged(): boolean {
    const { all, active } = this.state.segments
    return all.every((segment) => segment === active || this.#sizes.get(segment.baseOffset) === this.#sizeBelow(segment))
  }

  #isSame(path: string): boolean {
    if (this.#last === null) return true
    const { position, header } = this.#last
    const now = Buffer.alloc(header.length)
    const file = this.disk.below.openNow(path, 'read')
    try {
      file.readNow(now, position)
    } finally {
      file.closeNow()
    }
    return now.equals(header)
  }

  #seen({ bytes, at, position, sizeInBytes }: StoredBatch): void {
    this.#last = { position, header: Buffer.from(bytes.subarray(at, at + Math.min(HEADER_BYTES, sizeInBytes))) }
  }

  /** Whole, sound batches from the segment's end on. */
  async #take(segment: Segment, size: number): Promise<void> {
    const { state } = this
    await segment.data.pinned(async (file) => {
      for await (const batch of scanBatches(file, segment.sizeInBytes, size)) {
        if (storedBatchProblem(batch) !== null || batch.lastOffset < state.logEndOffset) return
        this.#add(segment, batch)
      }
    })
  }

  #add(segment: Segment, batch: StoredBatch): void {
    const { state } = this
    const { bytes, at, magic, baseOffset, lastOffset, maxTimestamp, sizeInBytes } = batch
    if (magic === 2) {
      const view = new RecordBatch(bytes, at)
      if (view.partitionLeaderEpoch > state.epochs.latest) state.epochs.assign(view.partitionLeaderEpoch, baseOffset)
      const ofProducer = producerBatch(view)
      const aborted = ofProducer === null ? null : state.producers.apply(ofProducer)
      if (aborted !== null) segment.txns.append(aborted)
    }
    segment.appended({ lastOffset, maxTimestamp, sizeInBytes })
    state.logEndOffset = lastOffset + 1
    state.producers.endOffset = lastOffset + 1
    this.#seen(batch)
  }

  /** The one before is whole: its files have their last shape. */
  #begin(baseOffset: number): void {
    const { state, disk } = this
    const { active } = state.segments
    for (const kind of ['index', 'timeindex', 'txnindex'] as const) disk.forget(active.pathOf(kind))
    active.unloadIndexes()
    this.#whole(active)
    const segment = state.newSegment(baseOffset)
    disk.forget(segment.pathOf('log'))
    segment.beginEmpty()
    state.segments.add(segment)
    this.#last = null
  }
}
