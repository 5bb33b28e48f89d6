/**
 * A segment: a data file (`.log`), named after the first offset that it may hold, and its indexes.
 *
 *   00000000000000000240.log        batches, one after another; nothing else
 *   00000000000000000240.index      offset → position         (offset-index.ts)
 *   00000000000000000240.timeindex  timestamp → offset        (time-index.ts)
 *   00000000000000000240.txnindex   aborted transactions      (txn-index.ts), only if there are any
 *
 * The data file is valid if and only if it is a row of whole batches with right checksums and rising offsets, the first not below
 * the name. A reader finds an offset by the index's floor entry and walks headers from there. All but the data file can be rebuilt
 * (recover.ts). Invariant: `sizeInBytes` ends a batch; bytes of the file beyond it belong to a write that failed or is under way.
 */
import { posix } from 'node:path'
import { type SegmentFileKind, segmentFileName } from './folder-names.js'
import { IndexFile } from './index-file.js'
import { OFFSET_ENTRY_BYTES, OffsetIndex, offsetIndexProblem } from './offset-index.js'
import { LazyFile, type OpenFiles } from './open-files.js'
import type { RebuiltIndexes } from './segment-rebuild.js'
import { TIME_ENTRY_BYTES, TimeIndex, timeIndexProblem } from './time-index.js'
import type { TopicConfig } from './topic-config.js'
import { readTxnIndex, TxnIndex } from './txn-index.js'
import { readIfThere } from './whole-file.js'
import { writeAllNow } from './write-all.js'

/** The folder of a partition. */
export interface Folder {
  readonly path: string
}

/** What an append tells its segment of each batch. */
export interface AppendedBatch {
  readonly lastOffset: number
  readonly maxTimestamp: number
  readonly sizeInBytes: number
}

export interface SegmentIndexes {
  readonly offsets: OffsetIndex
  readonly times: TimeIndex
}

export type SegmentSuffix = '' | '.cleaned' | '.swap'

const NO_TIMESTAMP = -1

export class Segment {
  readonly data: LazyFile
  sizeInBytes: number
  /** Taken off `segment.ms`, so that segments do not all roll at once. */
  readonly rollJitterMs: number
  createdAt: number
  /** While it is made by a cleaning and takes the place of others, its files have it behind their names: the data file, the others. */
  dataSuffix: SegmentSuffix = ''
  indexSuffix: SegmentSuffix = ''
  txns = new TxnIndex()
  /** The largest timestamp in the segment and the last offset of its batch; -1 when there is none or it is not known yet. */
  maxTimestamp = NO_TIMESTAMP
  offsetOfMaxTimestamp: number
  /** Largest timestamp of the first batch; undefined until it is known. */
  firstBatchTimestamp: number | undefined
  #indexes: SegmentIndexes | null = null
  readonly #offsetFile: IndexFile
  readonly #timeFile: IndexFile
  /** Which state of the transaction index the file has. */
  #txnsWritten = 0
  #bytesSinceIndexEntry = 0

  constructor(
    readonly files: OpenFiles,
    readonly folder: Folder,
    readonly baseOffset: number,
    readonly config: () => TopicConfig,
    state: { readonly sizeInBytes: number; readonly rollJitterMs: number; readonly createdAt: number },
  ) {
    this.data = new LazyFile(files, () => this.pathOf('log'))
    this.sizeInBytes = state.sizeInBytes
    this.rollJitterMs = state.rollJitterMs
    this.createdAt = state.createdAt
    this.offsetOfMaxTimestamp = baseOffset
    this.#offsetFile = new IndexFile(files.disk, () => this.pathOf('index'))
    this.#timeFile = new IndexFile(files.disk, () => this.pathOf('timeindex'))
  }

  pathOf(kind: SegmentFileKind): string {
    return posix.join(
      this.folder.path,
      segmentFileName(this.baseOffset, kind) + (kind === 'log' ? this.dataSuffix : this.indexSuffix),
    )
  }

  /** Makes the data file. */
  createNow(): void {
    const { preallocate, 'segment.bytes': segmentBytes } = this.config()
    const file = this.data.now('create')
    file.truncateNow(0)
    if (preallocate) file.truncateNow(segmentBytes)
    this.#indexes = this.#emptyIndexes()
    this.firstBatchTimestamp = undefined
  }

  /** Nothing of it was read yet; the files are somebody else's and stay as they are. */
  beginEmpty(): void {
    this.#indexes = this.#emptyIndexes()
  }

  #emptyIndexes(): SegmentIndexes {
    const maxBytes = this.config()['segment.index.bytes']
    return { offsets: new OffsetIndex(this.baseOffset, maxBytes), times: new TimeIndex(this.baseOffset, maxBytes) }
  }

  /** The indexes, read from their files on first use; what is wrong with these, if anything is. */
  loadIndexesNow(): SegmentIndexes | { readonly problem: string } {
    if (this.#indexes !== null) return this.#indexes
    const disk = this.files.disk
    const offsetBytes = readIfThere(disk, this.pathOf('index'))
    if (offsetBytes === null) return { problem: 'no offset index' }
    const timeBytes = readIfThere(disk, this.pathOf('timeindex'))
    if (timeBytes === null) return { problem: 'no time index' }
    const problem = offsetIndexProblem(offsetBytes, this.sizeInBytes) ?? timeIndexProblem(timeBytes)
    if (problem !== null) return { problem }
    const maxBytes = this.config()['segment.index.bytes']
    this.#indexes = {
      offsets: new OffsetIndex(this.baseOffset, maxBytes, offsetBytes),
      times: new TimeIndex(this.baseOffset, maxBytes, timeBytes),
    }
    this.#offsetFile.hasEntries(offsetBytes.length / OFFSET_ENTRY_BYTES)
    this.#timeFile.hasEntries(timeBytes.length / TIME_ENTRY_BYTES)
    const { timestamp, offset } = this.#indexes.times.lastEntry
    if (timestamp > this.maxTimestamp) {
      this.maxTimestamp = timestamp
      this.offsetOfMaxTimestamp = offset
    }
    return this.#indexes
  }

  /** The indexes of a segment whose indexes are known to be sound: the active one's, or one that was just rebuilt. */
  get indexes(): SegmentIndexes {
    const loaded = this.loadIndexesNow()
    if ('problem' in loaded) throw new Error(`${this.pathOf('index')}: ${loaded.problem}`)
    return loaded
  }

  get hasLoadedIndexes(): boolean {
    return this.#indexes !== null
  }

  /** Of offset and time index; 0 as long as they are not loaded. */
  get indexMemoryBytes(): number {
    return this.#indexes === null ? 0 : this.#indexes.offsets.sizeInBytes + this.#indexes.times.sizeInBytes
  }

  /** Gives the memory back; the files have everything. Not for the active segment. */
  unloadIndexes(): void {
    this.#indexes = null
  }

  /** Null when the file is sound, or missing. */
  loadTxnsNow(): string | null {
    const bytes = readIfThere(this.files.disk, this.pathOf('txnindex'))
    if (bytes === null) return null
    const read = readTxnIndex(bytes, this.baseOffset)
    if ('problem' in read) return read.problem
    this.txns = read
    this.#txnsWritten = read.changes
    return null
  }

  /** Offset and time index as a scan of the data file found them: they replace what there was, in the files too. */
  takeIndexesNow(found: RebuiltIndexes): void {
    this.resetIndexesNow()
    const bytesOf = ({ buffer, byteOffset, byteLength }: Uint8Array) => Buffer.from(buffer, byteOffset, byteLength)
    const maxBytes = this.config()['segment.index.bytes']
    this.#indexes = {
      offsets: new OffsetIndex(this.baseOffset, maxBytes, bytesOf(found.offsets)),
      times: new TimeIndex(this.baseOffset, maxBytes, bytesOf(found.times)),
    }
    this.maxTimestamp = found.maxTimestamp
    this.offsetOfMaxTimestamp = found.offsetOfMaxTimestamp
    this.firstBatchTimestamp = found.firstBatchTimestamp
    this.#offsetFile.compareNow(this.#indexes.offsets)
    this.#timeFile.compareNow(this.#indexes.times)
    this.writeIndexesNow()
  }

  /** Empties offset and time index, in memory and in their files. */
  resetIndexesNow(): void {
    this.#indexes = this.#emptyIndexes()
    this.#offsetFile.cutTo(0)
    this.#timeFile.cutTo(0)
    this.maxTimestamp = NO_TIMESTAMP
    this.offsetOfMaxTimestamp = this.baseOffset
    this.firstBatchTimestamp = undefined
    this.#bytesSinceIndexEntry = 0
  }

  shouldRoll(next: { sizeInBytes: number; maxTimestamp: number; lastOffset: number }, now: number): boolean {
    const config = this.config()
    if (this.sizeInBytes + next.sizeInBytes > config['segment.bytes']) return true
    if (this.sizeInBytes > 0 && this.waitedForRoll(now, next.maxTimestamp) > config['segment.ms'] - this.rollJitterMs) return true
    const { offsets, times } = this.indexes
    return offsets.isFull || times.isFull || !offsets.canHold(next.lastOffset)
  }

  /** Milliseconds since the first batch by its own time, or since the segment was made if it has none. */
  waitedForRoll(now: number, messageTimestamp: number): number {
    const first = this.firstBatchTimestamp ?? NO_TIMESTAMP
    return first >= 0 ? messageTimestamp - first : now - this.createdAt
  }

  /** A batch that an append put at the end of the file is now part of the segment. Each that is due has its index entries. */
  appended({ lastOffset, maxTimestamp, sizeInBytes }: AppendedBatch): void {
    const { offsets, times } = this.indexes
    const position = this.sizeInBytes
    if (position === 0) this.firstBatchTimestamp = maxTimestamp
    if (maxTimestamp > this.maxTimestamp) {
      this.maxTimestamp = maxTimestamp
      this.offsetOfMaxTimestamp = lastOffset
    }
    if (this.#bytesSinceIndexEntry > this.config()['index.interval.bytes']) {
      offsets.append(lastOffset, position)
      times.append(this.maxTimestamp, this.offsetOfMaxTimestamp)
      this.#bytesSinceIndexEntry = 0
    }
    this.#bytesSinceIndexEntry += sizeInBytes
    this.sizeInBytes += sizeInBytes
  }

  /** Whether the files hold all that memory does, as they should after a clean stop. */
  get isWritten(): boolean {
    if (this.#indexes === null) return true
    const { offsets, times } = this.#indexes
    const timesEnd = this.maxTimestamp <= times.lastEntry.timestamp
    return timesEnd && this.#offsetFile.isComplete(offsets) && this.#timeFile.isComplete(times) && this.areTransactionsWritten
  }

  get areTransactionsWritten(): boolean {
    return this.#txnsWritten === this.txns.changes
  }

  /** Writes what the index files lack. */
  writeIndexesNow(): void {
    if (this.#indexes === null) return
    this.#offsetFile.writeNow(this.#indexes.offsets)
    this.#timeFile.writeNow(this.#indexes.times)
    if (!this.areTransactionsWritten) this.#writeTxnsNow()
  }

  #writeTxnsNow(): void {
    const path = this.pathOf('txnindex')
    if (this.txns.entries.length === 0) {
      if (this.files.disk.statNow(path) !== null) this.files.disk.removeNow(path)
    } else {
      const file = this.files.disk.openNow(path, 'create')
      try {
        const bytes = this.txns.toBytes()
        writeAllNow(file, [bytes], 0)
        file.truncateNow(bytes.length)
      } finally {
        file.closeNow()
      }
    }
    this.#txnsWritten = this.txns.changes
  }

  /** The segment takes no more: its largest timestamp ends the time index, files are cut to what they hold. */
  becomeInactiveNow(): void {
    this.indexes.times.append(this.maxTimestamp, this.offsetOfMaxTimestamp)
    this.writeIndexesNow()
    if (this.config().preallocate) this.data.now().truncateNow(this.sizeInBytes)
  }

  /**
   * The batches survive a stop of the machine once this resolves; the indexes may have to be built again.
   * @param begins called when it begins, if it had to wait: those that were appended before then survive, too
   */
  async syncData(begins?: () => void): Promise<void> {
    await this.data.pinned((file) => file.dataSync(begins))
  }

  /** Everything that was appended survives a stop of the machine once this resolves. */
  async sync(): Promise<void> {
    await this.syncData()
    await this.syncIndexes()
  }

  /** What the index files hold survives a stop of the machine once this resolves. */
  async syncIndexes(): Promise<void> {
    await this.#offsetFile.sync()
    await this.#timeFile.sync()
    if (this.txns.entries.length > 0) {
      const file = this.files.disk.openNow(this.pathOf('txnindex'), 'readWrite')
      try {
        await file.dataSync()
      } finally {
        file.closeNow()
      }
    }
  }

  /** Cuts the data file at a batch boundary and drops index entries at and above `offset`. */
  truncateNow(position: number, offset: number, now: number): void {
    const { offsets, times } = this.indexes
    offsets.truncateTo(offset)
    times.truncateTo(offset)
    this.#offsetFile.cutTo(offsets.entryCount)
    this.#timeFile.cutTo(times.entryCount)
    this.txns.truncateTo(offset)
    this.data.now().truncateNow(position)
    this.sizeInBytes = position
    this.#bytesSinceIndexEntry = 0
    const last = times.lastEntry
    this.maxTimestamp = last.timestamp
    this.offsetOfMaxTimestamp = last.offset
    if (position === 0) {
      this.createdAt = now
      this.firstBatchTimestamp = undefined
    }
  }

  closeNow(): void {
    this.data.closeNow()
  }

  /** All files that may exist. */
  paths(): string[] {
    return (['log', 'index', 'timeindex', 'txnindex'] as const).map((kind) => this.pathOf(kind))
  }

  /** When the file was written last, by the wall clock. */
  modifiedMs(): number {
    return this.files.disk.statNow(this.pathOf('log'))?.modifiedMs ?? this.createdAt
  }

  /**
   * The largest timestamp from the end of the time index, without reading the rest: retention asks every segment. False when the
   * file does not look sound there.
   */
  peekTimesNow(): boolean {
    if (this.#indexes !== null || this.maxTimestamp >= 0) return true
    const path = this.pathOf('timeindex')
    const sizeInBytes = this.files.disk.statNow(path)?.sizeInBytes ?? -1
    if (sizeInBytes < 0 || sizeInBytes % TIME_ENTRY_BYTES !== 0) return false
    if (sizeInBytes === 0) return true
    const bytes = Buffer.alloc(Math.min(sizeInBytes, 2 * TIME_ENTRY_BYTES))
    const file = this.files.open(path, 'read')
    try {
      file.readNow(bytes, sizeInBytes - bytes.length)
    } finally {
      file.closeNow()
    }
    if (timeIndexProblem(bytes) !== null) return false
    const { timestamp, offset } = new TimeIndex(this.baseOffset, bytes.length, bytes).lastEntry
    this.maxTimestamp = timestamp
    this.offsetOfMaxTimestamp = offset
    return true
  }

  /** The largest record time, or when the file was written last if no record has a time. Ask `peekTimesNow` before. */
  largestTimestamp(): number {
    return this.maxTimestamp >= 0
      ? this.maxTimestamp
      : (this.files.disk.statNow(this.pathOf('log'))?.modifiedMs ?? this.createdAt)
  }
}
