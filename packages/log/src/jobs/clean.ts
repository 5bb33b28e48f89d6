/**
 * Cleans the segments of one log: maps the keys of the dirty ones to their last offsets, then copies what is to stay, a group of
 * segments after another, into new ones with the suffix `.cleaned`, which are on the disk with their names when they are reported. The
 * log itself puts them in the place of the old ones. Changes no file of the log.
 */
import { posix } from 'node:path'
import { RecordBatch, RecordsError } from '@mq/protocol'
import { type ActiveProducer, endOf, type FilterRules, leftOf } from '../compaction/batch-filter.js'
import { CleanedTransactions } from '../compaction/cleaned-transactions.js'
import { OffsetMap, type OffsetMapOptions } from '../compaction/offset-map.js'
import { type ChunkOptions, SegmentChunks, UncleanableError } from '../compaction/segment-chunks.js'
import { segmentGroups } from '../compaction/segment-groups.js'
import { Throttle } from '../compaction/throttle.js'
import { OpenFiles } from '../open-files.js'
import { DiskError } from '../ports.js'
import { Segment } from '../segment.js'
import { lastOffsetAt, maxTimestampAt, type StoredBatch } from '../stored-batch.js'
import { recordsOfStoredBatch } from '../stored-records.js'
import type { TopicConfig } from '../topic-config.js'
import type { AbortedEntry } from '../txn-index.js'
import { writeAll } from '../write-all.js'
import type { Job, JobContext } from './job.js'

export interface CleanSegment {
  readonly baseOffset: number
  readonly sizeInBytes: number
  /** When its data file was written last. */
  readonly modifiedMs: number
}

export interface CleanInput {
  /** The folder of the partition. */
  readonly folder: string
  readonly config: TopicConfig
  /** By the wall clock. */
  readonly now: number
  /** All below `endOffset`, in order, with sound index files. */
  readonly segments: readonly CleanSegment[]
  readonly firstDirtyOffset: number
  /** Base offset of the segment after the last one. */
  readonly endOffset: number
  /** All aborted transactions that reach below `endOffset`. */
  readonly aborted: readonly AbortedEntry[]
  readonly activeProducers: readonly ActiveProducer[]
  readonly map: Pick<OffsetMapOptions, 'memoryBytes' | 'loadFactor' | 'seed'>
  readonly chunkBytes: number
  readonly bytesPerSecond: number
}

/** A new segment, and those whose place it takes. */
export interface CleanedGroup {
  readonly baseOffset: number
  readonly sizeInBytes: number
  readonly replaces: readonly number[]
}

export interface CleanCounts {
  readonly bytesRead: number
  readonly bytesWritten: number
  /** Share of the map's room that was used. */
  readonly mapUse: number
}

export type CleanOutput =
  | ({ readonly kind: 'cleaned'; readonly cleanedTo: number } & CleanCounts)
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'uncleanable'; readonly segment: number; readonly position: number; readonly problem: string }

export const cleanJob: Job<CleanInput, CleanOutput, CleanedGroup> = async (input, context) => {
  const cleaning = new Cleaning(input, context)
  try {
    return await cleaning.run()
  } catch (error) {
    if (error instanceof Cancelled) return { kind: 'cancelled' }
    if (!(error instanceof UncleanableError)) throw error
    const { segment, position, problem } = error
    return { kind: 'uncleanable', segment, position, problem }
  }
}

class Cancelled extends Error {}

class Cleaning {
  readonly #files: OpenFiles
  readonly #throttle: Throttle
  readonly #map: OffsetMap
  readonly #groups: Segment[] = []
  #bytesRead = 0
  #bytesWritten = 0

  constructor(
    readonly input: CleanInput,
    readonly context: JobContext<CleanedGroup>,
  ) {
    const { clock, timers, disk } = context
    this.#files = new OpenFiles(disk)
    this.#throttle = new Throttle(input.bytesPerSecond, clock, timers)
    this.#map = new OffsetMap({ ...input.map, mostKeys: input.endOffset - input.firstDirtyOffset })
  }

  async run(): Promise<CleanOutput> {
    const { input } = this
    this.#removeLeftOver()
    await this.#mapKeys()
    const cleanedTo = this.#map.latestOffset + 1
    const aborted = new CleanedTransactions(input.aborted, (entry) => this.#groups.at(-1)!.txns.append(entry))
    const rules = {
      map: this.#map,
      transactions: aborted,
      activeProducers: new Map(input.activeProducers.map((one) => [one.producerId, one])),
      now: input.now,
      deleteRetentionMs: input.config['delete.retention.ms'],
    }
    for (const group of this.#groupsBelow(cleanedTo)) await this.#cleanGroup(group, rules)
    return {
      kind: 'cleaned',
      cleanedTo,
      bytesRead: this.#bytesRead,
      bytesWritten: this.#bytesWritten,
      mapUse: this.#map.size / Math.max(1, this.#map.capacity),
    }
  }

  /** Of a cleaning that was given up: one with a lower offset would make a restart take a finished segment for an unfinished one. */
  #removeLeftOver(): void {
    const { disk } = this.context
    const { folder } = this.input
    for (const { name } of disk.listNow(folder)) if (name.endsWith('.cleaned')) disk.removeNow(posix.join(folder, name))
  }

  // --- the map ---------------------------------------------------------------------------------------------------------------------

  async #mapKeys(): Promise<void> {
    const { segments, firstDirtyOffset, endOffset, aborted } = this.input
    // Those that ended before would never meet their marker here, and take a later one of the same producer for theirs.
    const transactions = new CleanedTransactions(aborted.filter(({ lastOffset }) => lastOffset >= firstDirtyOffset))
    for (const [at, segment] of segments.entries()) {
      const next = segments[at + 1]?.baseOffset ?? endOffset
      if (next <= firstDirtyOffset) continue
      if (!(await this.#mapSegment(segment, transactions))) return
      // Offsets at its end may be gone.
      this.#map.latestOffset = next - 1
    }
  }

  /** False when the map is full: what comes from there on is not known. */
  async #mapSegment(found: CleanSegment, transactions: CleanedTransactions): Promise<boolean> {
    const { firstDirtyOffset } = this.input
    const segment = this.#open(found)
    const indexes = segment.loadIndexesNow()
    const start = 'problem' in indexes ? 0 : indexes.offsets.lookup(firstDirtyOffset).position
    return this.#reading(segment, async (chunks) => {
      for (let position = start; position < found.sizeInBytes; ) {
        const { batches, sizeInBytes } = await this.#next(chunks, position)
        for (const batch of batches) if (!this.#mapBatch(found, batch, transactions)) return false
        position += sizeInBytes
      }
      return true
    })
  }

  #mapBatch({ baseOffset }: CleanSegment, batch: StoredBatch, transactions: CleanedTransactions): boolean {
    const { firstDirtyOffset } = this.input
    const map = this.#map
    return sound(baseOffset, batch, () => {
      if (!this.#isUndecided(batch, transactions)) {
        for (const { key, offset } of recordsOfStoredBatch(batch)) {
          if (key !== null && offset >= firstDirtyOffset && !map.put(key, offset)) return false
        }
      }
      if (batch.lastOffset >= firstDirtyOffset) map.latestOffset = batch.lastOffset
      return true
    })
  }

  /** Whether the batch has no keys that count: a marker, or records of an aborted transaction. */
  #isUndecided({ magic, bytes, at }: StoredBatch, transactions: CleanedTransactions): boolean {
    if (magic !== 2) return false
    const batch = new RecordBatch(bytes, at)
    if (!batch.isControl) return batch.isTransactional && transactions.isAborted(batch)
    const end = endOf(batch)
    if (end === 'commit' || end === 'abort') transactions.endsNothing(batch, end)
    return true
  }

  // --- the segments ----------------------------------------------------------------------------------------------------------------

  #groupsBelow(cleanedTo: number): (readonly CleanSegment[])[] {
    const { segments, config, endOffset } = this.input
    const indexBytes = (segment: CleanSegment, kind: 'index' | 'timeindex') =>
      this.context.disk.statNow(this.#open(segment).pathOf(kind))?.sizeInBytes ?? 0
    const sized = segments
      .filter(({ baseOffset }) => baseOffset < cleanedTo)
      .map((segment) => ({
        ...segment,
        offsetIndexBytes: indexBytes(segment, 'index'),
        timeIndexBytes: indexBytes(segment, 'timeindex'),
      }))
    return segmentGroups(sized, {
      segmentBytes: config['segment.bytes'],
      indexBytes: config['segment.index.bytes'],
      endOffset,
    })
  }

  async #cleanGroup(group: readonly CleanSegment[], rules: Omit<FilterRules, 'keepsOldTombstones'>): Promise<void> {
    const { disk } = this.context
    const last = group.at(-1)!
    const target = this.#newSegment(group[0]!.baseOffset)
    this.#groups.push(target)
    try {
      for (const source of group) await this.#cleanInto(target, source, rules)
      target.becomeInactiveNow()
      // The age of an empty segment, and of tombstones in the old formats, is that of its file.
      disk.touchNow(target.pathOf('log'), last.modifiedMs)
      target.closeNow()
      this.#goOn()
    } catch (error) {
      target.closeNow()
      this.#remove(target)
      throw error
    }
    const replaces = group.map(({ baseOffset }) => baseOffset)
    this.context.progress({ baseOffset: target.baseOffset, sizeInBytes: target.sizeInBytes, replaces })
  }

  /** What a cleaning that ends here has made goes; a disk that does not work any more keeps it until the next start. */
  #remove(segment: Segment): void {
    try {
      for (const path of segment.paths()) this.context.disk.removeNow(path)
    } catch (error) {
      if (!(error instanceof DiskError)) throw error
    }
  }

  #newSegment(baseOffset: number): Segment {
    const segment = this.#open({ baseOffset, sizeInBytes: 0 })
    segment.dataSuffix = '.cleaned'
    segment.indexSuffix = '.cleaned'
    for (const path of segment.paths()) this.context.disk.removeNow(path)
    segment.createNow()
    return segment
  }

  async #cleanInto(target: Segment, source: CleanSegment, rules: Omit<FilterRules, 'keepsOldTombstones'>): Promise<void> {
    const all = { ...rules, keepsOldTombstones: source.modifiedMs > this.#oldTombstonesUntil() }
    await this.#reading(this.#open(source), async (chunks) => {
      for (let position = 0; position < source.sizeInBytes; ) {
        const { batches, sizeInBytes } = await this.#next(chunks, position)
        this.#bytesRead += sizeInBytes
        position += sizeInBytes
        await this.#copy(target, source, batches, all)
      }
    })
  }

  /** Tombstones of magic 0 and 1 go from segments written before: so long before the last clean one. */
  #oldTombstonesUntil(): number {
    const { segments, firstDirtyOffset, config } = this.input
    const clean = segments.findLast(({ baseOffset }) => baseOffset < firstDirtyOffset)
    return clean === undefined ? 0 : clean.modifiedMs - config['delete.retention.ms']
  }

  async #copy(target: Segment, source: CleanSegment, batches: readonly StoredBatch[], rules: FilterRules): Promise<void> {
    const left: Buffer[] = []
    for (const batch of batches) {
      const bytes = sound(source.baseOffset, batch, () => leftOf(batch, rules))
      if (bytes === null) continue
      if (!target.indexes.offsets.canHold(lastOffsetAt(bytes, 0))) {
        throw new UncleanableError(source.baseOffset, batch.position, `offset ${batch.lastOffset} is too far from the base`)
      }
      left.push(bytes)
    }
    if (left.length === 0) return
    const start = target.sizeInBytes
    // Of small batches there are thousands: one piece costs less.
    const bytes = left.length === 1 ? left : [Buffer.concat(left)]
    await target.data.pinned((file) => writeAll(file, bytes, start))
    for (const bytes of left) {
      target.appended({ lastOffset: lastOffsetAt(bytes, 0), maxTimestamp: maxTimestampAt(bytes, 0), sizeInBytes: bytes.length })
    }
    const written = target.sizeInBytes - start
    this.#bytesWritten += written
    await this.#moved(written)
  }

  // --- reading ---------------------------------------------------------------------------------------------------------------------

  #open({ baseOffset, sizeInBytes }: { readonly baseOffset: number; readonly sizeInBytes: number }): Segment {
    const { folder, config } = this.input
    const state = { sizeInBytes, rollJitterMs: 0, createdAt: this.input.now }
    return new Segment(this.#files, { path: posix.normalize(folder) }, baseOffset, () => config, state)
  }

  async #reading<R>(segment: Segment, read: (chunks: SegmentChunks) => Promise<R>): Promise<R> {
    const { baseOffset, sizeInBytes } = segment
    const options: ChunkOptions = { baseOffset, sizeInBytes, chunkBytes: this.input.chunkBytes }
    try {
      return await segment.data.pinned((file) => read(new SegmentChunks(file, options)))
    } finally {
      segment.closeNow()
    }
  }

  async #next(chunks: SegmentChunks, position: number) {
    const { turn } = this.context
    if (turn !== undefined) await new Promise<void>((resume) => turn.afterThisTurn(resume))
    this.#goOn()
    const chunk = await chunks.read(position)
    await this.#moved(chunk.sizeInBytes)
    return chunk
  }

  async #moved(bytes: number): Promise<void> {
    await this.#throttle.moved(bytes, () => this.context.isCancelled())
    this.#goOn()
  }

  #goOn(): void {
    if (this.context.isCancelled()) throw new Cancelled()
  }
}

/** Says of records that cannot be read where they stand. */
function sound<R>(segment: number, { position }: StoredBatch, look: () => R): R {
  try {
    return look()
  } catch (error) {
    if (error instanceof RecordsError) throw new UncleanableError(segment, position, error.message)
    throw error
  }
}
