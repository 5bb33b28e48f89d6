/**
 * Opens the folder of a partition: finishes what an interrupted change left, finds the segments, repairs them where the last stop
 * was not clean, and builds the state that is kept in memory (producers, leader epochs).
 */
import { posix } from 'node:path'
import { formatTopicPartition, type TopicPartition } from '@mq/protocol'
import { LEADER_EPOCHS, readEpochs } from './checkpoint.js'
import { PARTITION_METADATA, readPartitionMetadata } from './directory-files.js'
import type { FolderListing } from './folder-listing.js'
import { type SegmentFileKind, segmentFileName } from './folder-names.js'
import { finishInterrupted } from './interrupted.js'
import { LeaderEpochs } from './leader-epochs.js'
import type { LogContext } from './log-context.js'
import { Snapshots } from './log-files.js'
import { OFFSET_ENTRY_BYTES } from './offset-index.js'
import { DiskError } from './ports.js'
import { ProducerStates } from './producer-state.js'
import { ensureIndexes, readEnd, recoverSegment, replayProducers } from './recover.js'
import { type Folder, Segment } from './segment.js'
import { Segments } from './segments.js'
import type { TopicConfig } from './topic-config.js'

export interface LoadRequest {
  readonly context: LogContext
  readonly partition: TopicPartition
  readonly folder: Folder
  readonly config: () => TopicConfig
  readonly hadCleanShutdown: boolean
  /** Everything below it is known to be on the disk. */
  readonly recoveryPoint: number
  /** Whether the checkpoint with the recovery points was there and sound: if not, 0 says nothing of what may lie in the log. */
  readonly recoveryPointIsKnown: boolean
  /** From the checkpoint: DeleteRecords may have moved the start into a segment. */
  readonly logStartOffset: number
  /** Called with the bytes that were scanned since the last call. */
  readonly scanned?: (bytes: number) => void
}

export interface LoadedLog {
  readonly folder: Folder
  readonly topicId: string | null
  readonly segments: Segments
  readonly producers: ProducerStates
  readonly snapshots: Snapshots
  readonly epochs: LeaderEpochs
  /** The epochs are not those of the file: it has to be written again. */
  readonly epochsChanged: boolean
  /** The highest epoch that the checkpoint file or a scanned batch had, also one without records; -1 without any. */
  readonly highestEpochFound: number
  readonly logStartOffset: number
  readonly logEndOffset: number
  readonly recoveryPoint: number
  /** Every file is on the disk as it is: nothing was built again. */
  readonly isSettled: boolean
  /** What was cut off or removed: null when nothing was. */
  readonly cut: { readonly bytes: number; readonly segments: number; readonly problem: string } | null
}

export async function loadLog(request: LoadRequest): Promise<LoadedLog> {
  const listing = await finishInterrupted(request.context, request.folder)
  const loading = new Loading(request, listing)
  try {
    return await loading.run()
  } catch (error) {
    loading.closeNow()
    throw error
  }
}

class Loading {
  readonly segments = new Segments()
  readonly producers = new ProducerStates()
  readonly snapshots: Snapshots
  readonly epochs: LeaderEpochs
  readonly #epochsBefore: string
  /** Segments that were looked at: each may have its file open. */
  readonly #opened: Segment[] = []
  readonly #highestEpochInFile: number
  /** Where scanned segments end: nothing of them is read again. */
  readonly #ends = new Map<Segment, number>()
  /** The active segment's index has room behind its entries, as Kafka leaves it when it is killed and MQ never does. */
  #wasInUseByKafka = false
  #hasRecovered = false
  #cutBytes = 0
  #cutSegments = 0
  #problem: string | null = null

  constructor(
    readonly request: LoadRequest,
    readonly listing: FolderListing,
  ) {
    const { context, folder } = request
    this.snapshots = new Snapshots(context.disk, folder, listing.offsetsOf('snapshot'))
    this.epochs = this.#readEpochs()
    this.#epochsBefore = JSON.stringify(this.epochs.entries)
    this.#highestEpochInFile = this.epochs.latest
  }

  get #name(): string {
    return formatTopicPartition(this.request.partition)
  }

  /** What is open stays with nobody when the loading fails. */
  closeNow(): void {
    for (const segment of this.#opened) segment.closeNow()
  }

  #open(baseOffset: number, state: ConstructorParameters<typeof Segment>[4]): Segment {
    const { context, folder, config } = this.request
    const segment = new Segment(context.files, folder, baseOffset, config, state)
    this.#opened.push(segment)
    return segment
  }

  async run(): Promise<LoadedLog> {
    const { context, folder, hadCleanShutdown, recoveryPoint, logStartOffset } = this.request
    await this.#findSegments()
    if (!hadCleanShutdown) await this.#recoverFrom(recoveryPoint)
    let logEndOffset = this.segments.count === 0 ? -1 : await this.#endOfLog()
    if (logEndOffset < logStartOffset) {
      this.#startOver(logStartOffset, logEndOffset)
      logEndOffset = logStartOffset
    }
    const highestEpochFound = Math.max(this.#highestEpochInFile, this.epochs.latest)
    this.epochs.truncateFromEnd(logEndOffset)
    this.epochs.truncateFromStart(logStartOffset)
    const start = Math.max(logStartOffset, this.segments.first.baseOffset)
    this.#dropStraySnapshots()
    await this.#loadProducers(start, logEndOffset)
    for (const segment of this.segments.all) if (segment !== this.segments.active) segment.unloadIndexes()
    // Segments that went must not come back beside what is written from now on.
    if (this.#cutSegments > 0) await context.disk.syncDirectory(folder.path)
    return {
      folder,
      topicId: this.#readTopicId(),
      segments: this.segments,
      producers: this.producers,
      snapshots: this.snapshots,
      epochs: this.epochs,
      epochsChanged: JSON.stringify(this.epochs.entries) !== this.#epochsBefore || !this.listing.has(LEADER_EPOCHS),
      highestEpochFound,
      logStartOffset: start,
      logEndOffset,
      recoveryPoint: hadCleanShutdown ? logEndOffset : Math.min(recoveryPoint, logEndOffset),
      isSettled: hadCleanShutdown && !this.#hasRecovered,
      cut: this.#problem === null ? null : { bytes: this.#cutBytes, segments: this.#cutSegments, problem: this.#problem },
    }
  }

  /** What follows the last whole batch would stand between it and the next one: such a segment is cut, whatever the mark said. */
  async #endOfLog(): Promise<number> {
    const { active } = this.segments
    const scanned = this.#ends.get(active)
    if (scanned !== undefined) return scanned
    const end = await readEnd(active)
    if (end.position === active.sizeInBytes) return end.nextOffset
    const fields = { partition: this.#name, segment: active.baseOffset, position: end.position }
    this.request.context.logger.warn(fields, 'there is no batch at the end of the log: the segment is scanned')
    await this.#recover(active)
    return this.#ends.get(active)!
  }

  #readEpochs(): LeaderEpochs {
    const { context, folder } = this.request
    if (!this.listing.has(LEADER_EPOCHS)) return new LeaderEpochs()
    const read = readEpochs(context.disk.readFileNow(posix.join(folder.path, LEADER_EPOCHS)))
    if (!('problem' in read)) return new LeaderEpochs(read)
    context.logger.warn(
      { partition: this.#name },
      `${LEADER_EPOCHS}: ${read.problem}; the epochs of scanned segments are found again`,
    )
    return new LeaderEpochs()
  }

  #readTopicId(): string | null {
    const { context, folder } = this.request
    if (!this.listing.has(PARTITION_METADATA)) return null
    const read = readPartitionMetadata(context.disk.readFileNow(posix.join(folder.path, PARTITION_METADATA)))
    if ('topicId' in read) return read.topicId
    context.logger.warn({ partition: this.#name }, `${PARTITION_METADATA}: ${read.problem}`)
    return null
  }

  async #findSegments(): Promise<void> {
    const { context, folder, config } = this.request
    const sorted = this.listing.offsetsOf('log')
    // What lay between such a snapshot and the first segment is gone, with the end of what was open then.
    if (sorted.length > 0) this.snapshots.removeWhereNow((offset) => offset < sorted[0]!)
    const bases = new Set(sorted)
    for (const { name, file } of this.listing.segmentFiles) {
      const isIndex = file.kind === 'index' || file.kind === 'timeindex' || file.kind === 'txnindex'
      if (isIndex && file.suffix === '' && !bases.has(file.baseOffset)) context.disk.removeNow(posix.join(folder.path, name))
    }
    const { hadCleanShutdown, recoveryPoint } = this.request
    const scannedFrom = hadCleanShutdown ? Number.POSITIVE_INFINITY : (sorted.findLast((base) => base <= recoveryPoint) ?? 0)
    for (const baseOffset of sorted) {
      const path = posix.join(folder.path, segmentFileName(baseOffset, 'log'))
      const stat = context.disk.statNow(path)
      // Whoever reads beside a broker may see it go.
      if (stat === null) throw new DiskError('ENOENT', 'stat', path, 'it was there before')
      const state = {
        sizeInBytes: stat.sizeInBytes,
        rollJitterMs: rollJitter(context, config()),
        createdAt: context.clock.now(),
      }
      const segment = this.#open(baseOffset, state)
      const isActive = baseOffset === sorted.at(-1)
      if (isActive && !hadCleanShutdown && this.#has(segment, 'index'))
        this.#wasInUseByKafka = endsWithZeros(context, segment.pathOf('index'))
      // What will be scanned anyway is scanned in the order of offsets: epochs begin where they are seen first.
      const problem = baseOffset >= scannedFrom ? null : this.#problemOf(segment, isActive)
      if (problem !== null) {
        context.logger.warn(
          { partition: this.#name, segment: baseOffset },
          `${problem}: the segment is scanned, its indexes built again`,
        )
        await this.#recover(segment)
      }
      this.segments.add(segment)
    }
  }

  /** Indexes of closed segments are looked at when they are first used; here only whether they are there. */
  #problemOf(segment: Segment, isActive: boolean): string | null {
    const txns = this.#has(segment, 'txnindex') ? segment.loadTxnsNow() : null
    if (txns !== null) return `transaction index: ${txns}`
    if (!this.#has(segment, 'index')) return 'no offset index'
    if (!this.#has(segment, 'timeindex')) return 'no time index'
    if (!isActive) return null
    const loaded = segment.loadIndexesNow()
    return 'problem' in loaded ? loaded.problem : null
  }

  #has({ baseOffset }: Segment, kind: SegmentFileKind): boolean {
    return this.listing.has(segmentFileName(baseOffset, kind))
  }

  async #recover(segment: Segment): Promise<number> {
    await this.#producersAt(segment.baseOffset)
    const { offload } = this.request.context
    let told = 0
    const tell = (done: number) => {
      this.request.scanned?.(done - told)
      told = done
    }
    const { sizeInBytes } = segment
    const { cutBytes, nextOffset, problem } = await recoverSegment(segment, this.producers, this.epochs, {
      offload,
      progress: tell,
    })
    tell(sizeInBytes)
    this.#ends.set(segment, nextOffset)
    this.#hasRecovered = true
    if (this.producers.endOffset > segment.baseOffset) this.snapshots.writeNow(this.producers.endOffset, this.producers.entries)
    this.#cutBytes += cutBytes
    this.#problem ??= problem
    if (cutBytes > 0) {
      const fields = { partition: this.#name, segment: segment.baseOffset, bytes: cutBytes, nextOffset: this.producers.endOffset }
      this.request.context.logger.warn(fields, `cut at the first bad batch: ${problem}`)
      // Sound batches behind the cut must not come back behind what is written there from now on.
      await segment.syncData()
    }
    // What lies below the recovery point is not flushed again, and not scanned again if this segment is closed by then.
    if (this.request.hadCleanShutdown || segment.baseOffset < this.request.recoveryPoint) await segment.sync()
    return cutBytes
  }

  async #recoverFrom(recoveryPoint: number): Promise<void> {
    const unflushed = this.segments.between(recoveryPoint, Number.POSITIVE_INFINITY)
    for (const [at, segment] of unflushed.entries()) {
      const cut = await this.#recover(segment)
      const next = unflushed[at + 1]
      if (next === undefined || (cut === 0 && !this.#beginsBehindHole(next))) continue
      for (const later of unflushed.slice(at + 1)) this.#remove(later)
      break
    }
    await this.#dropEmptyBeyondGap()
  }

  /**
   * A power cut may lose the end of a segment and keep the next one. Here a segment begins where the one before it ended, so what is
   * missing between them was written and lost; only compaction takes records away there, and only the topic's config, or a recovery
   * point that is not known, leaves room for it. In a log that Kafka wrote, such a gap may be as its leader had it.
   */
  #beginsBehindHole({ baseOffset }: Segment): boolean {
    const { config, recoveryPointIsKnown, context } = this.request
    const { endOffset } = this.producers
    const missing = baseOffset - endOffset
    if (missing <= 0 || missing > FARTHEST_HOLE || !recoveryPointIsKnown || this.#wasInUseByKafka) return false
    if (config()['cleanup.policy'].includes('compact')) return false
    this.#problem ??= `records ${endOffset} to ${baseOffset - 1} are missing before the segment that follows`
    context.logger.warn(
      { partition: this.#name, from: endOffset, to: baseOffset },
      'records were lost: what follows them is removed',
    )
    return true
  }

  /**
   * A power cut may leave the name of a new segment and lose what was written to it and before it. An empty segment that begins
   * after the end of the last records would have readers wait there for ever. Below the recovery point nothing is lost: there it was
   * compaction that took the records before it, and the log ends where it ended.
   */
  async #dropEmptyBeyondGap(): Promise<void> {
    while (this.segments.count > 1 && this.segments.active.sizeInBytes === 0) {
      const [before, empty] = this.segments.all.slice(-2)
      if (empty!.baseOffset <= this.request.recoveryPoint) return
      if ((await this.#endOf(before!)) >= empty!.baseOffset) return
      this.#problem ??= `segment ${empty!.baseOffset} is empty and the one before it ends earlier`
      this.#remove(empty!)
    }
  }

  async #endOf(segment: Segment): Promise<number> {
    const scanned = this.#ends.get(segment)
    if (scanned !== undefined) return scanned
    await ensureIndexes(segment, this.request.context.offload)
    return (await readEnd(segment)).nextOffset
  }

  #remove(segment: Segment): void {
    this.segments.remove(segment)
    this.#cutSegments++
    this.#cutBytes += segment.sizeInBytes
    segment.closeNow()
    for (const path of segment.paths()) this.request.context.disk.removeNow(path)
    this.snapshots.removeNow(segment.baseOffset)
  }

  /** Nothing is left at or after the start that the checkpoint knows: a new, empty segment begins there. */
  #startOver(logStartOffset: number, logEndOffset: number): void {
    const { context, config } = this.request
    if (this.segments.count > 0) {
      const fields = { partition: this.#name, logStartOffset, logEndOffset }
      context.logger.warn(fields, 'the log ends before its start offset: segments must have been lost; all are removed')
      this.#problem ??= 'the log ends before its start offset'
      for (const segment of [...this.segments.all]) this.#remove(segment)
      this.epochs.clear()
      this.snapshots.removeWhereNow(() => true)
    }
    const state = { sizeInBytes: 0, rollJitterMs: rollJitter(context, config()), createdAt: context.clock.now() }
    const segment = this.#open(logStartOffset, state)
    segment.createNow()
    this.segments.add(segment)
  }

  /** Snapshots that belong to no segment go, but for the latest, if it is not older than the segments. */
  #dropStraySnapshots(): void {
    const bases = new Set(this.segments.all.map(({ baseOffset }) => baseOffset))
    const strays = this.snapshots.offsets.filter((offset) => !bases.has(offset))
    const latest = strays.at(-1) ?? -1
    for (const offset of strays)
      if (offset !== latest || offset < this.segments.active.baseOffset) this.snapshots.removeNow(offset)
  }

  /** The state at an offset: from where it stands already, from the newest sound snapshot before it, or from the log's start. */
  async #producersAt(offset: number): Promise<void> {
    if (this.producers.endOffset === offset && offset > 0) return
    const { context, logStartOffset } = this.request
    const now = context.clock.now()
    this.producers.clear()
    this.producers.endOffset = Math.max(logStartOffset, this.segments.all[0]?.baseOffset ?? 0)
    for (const at of this.snapshots.offsets.reverse()) {
      if (at > offset || at <= logStartOffset) continue
      const read = this.snapshots.readNow(at)
      if (!('problem' in read)) {
        this.producers.load(read, at, now, context.producerIdExpirationMs())
        break
      }
      context.logger.warn({ partition: this.#name, snapshot: at }, `producer snapshot: ${read.problem}; it is built again`)
      this.snapshots.removeNow(at)
    }
    if (this.producers.endOffset > offset) this.producers.endOffset = offset
    await replayProducers(this.segments.all, this.producers, offset, context.offload)
  }

  async #loadProducers(logStartOffset: number, logEndOffset: number): Promise<void> {
    const { context } = this.request
    this.snapshots.removeWhereNow((offset) => offset > logEndOffset || offset <= logStartOffset)
    await this.#producersAt(logEndOffset)
    this.producers.expire(context.clock.now(), context.producerIdExpirationMs())
    if (logEndOffset > Math.max(this.snapshots.latest, logStartOffset))
      this.snapshots.writeNow(logEndOffset, this.producers.entries)
  }
}

/** A log that jumps farther than a segment reaches has a new segment at the batch behind the jump. */
const FARTHEST_HOLE = 2 ** 30

function endsWithZeros({ disk, files }: LogContext, path: string): boolean {
  const sizeInBytes = disk.statNow(path)?.sizeInBytes ?? 0
  if (sizeInBytes < OFFSET_ENTRY_BYTES) return false
  const last = Buffer.alloc(OFFSET_ENTRY_BYTES, 0xff)
  const file = files.open(path, 'read')
  try {
    file.readNow(last, sizeInBytes - last.length)
  } finally {
    file.closeNow()
  }
  return last.every((byte) => byte === 0)
}

export function rollJitter(context: LogContext, config: TopicConfig): number {
  const most = Math.min(config['segment.jitter.ms'], config['segment.ms'])
  return most === 0 ? 0 : Math.floor(context.random.next() * most)
}
