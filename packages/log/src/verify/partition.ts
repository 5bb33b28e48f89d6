/**
 * Verifies the folder of a partition: its segments one after another with the state of producers going along, and the files of the
 * whole partition: snapshots, leader epochs, topic id, and what an interrupted change left behind.
 */
import { posix } from 'node:path'
import { LEADER_EPOCHS, readEpochs } from '../checkpoint.js'
import { PARTITION_METADATA, readPartitionMetadata } from '../directory-files.js'
import { type SegmentFile, segmentFile, segmentFileName } from '../folder-names.js'
import { LeaderEpochs } from '../leader-epochs.js'
import { offsetIndexProblem } from '../offset-index.js'
import type { Disk } from '../ports.js'
import { ProducerStates } from '../producer-state.js'
import { timeIndexProblem } from '../time-index.js'
import { readTxnIndex } from '../txn-index.js'
import { readIfThere } from '../whole-file.js'
import { AT_START, type Finding, type Report } from './finding.js'
import { type SegmentResult, verifySegment } from './segment.js'
import { type SnapshotFiles, verifySnapshot } from './snapshots.js'

export interface PartitionTask {
  readonly disk: Disk
  readonly folder: string
  /** Only this segment, by its base offset; null for all. */
  readonly only: number | null
  readonly wasClean: boolean
  readonly isInUse: boolean
  /** 0 when the checkpoint has none. */
  readonly recoveryPoint: number
  readonly logStartOffset: number
  readonly indexIntervalBytes: number
  readonly report: Report
  readonly progress: (bytes: number) => void
}

export interface PartitionResult {
  readonly segments: number
  readonly batches: number
  readonly sizeInBytes: number
  readonly firstOffset: number
  readonly logEndOffset: number
  /** Null when there is none, or it cannot be read. */
  readonly topicId: string | null
}

/** What the segments before one held. */
interface Sofar {
  readonly segments: number
  readonly batches: number
  readonly sizeInBytes: number
  readonly logEndOffset: number
  readonly hasGaps: boolean
  readonly hasEpochs: boolean
}

export function verifyPartition(task: PartitionTask): Promise<PartitionResult> {
  return new PartitionCheck(task).run()
}

const FINDS_EPOCHS = 'finds the epochs of scanned segments again; those of others stay unknown'

class PartitionCheck {
  readonly #name: string
  readonly #files = new Map<string, SegmentFile>()
  readonly #bases: number[]
  readonly #producers = new ProducerStates()
  readonly #snapshots: SnapshotFiles
  /** Nothing is known of producers before it: what lay there is gone, and no snapshot tells of it. */
  #knownFrom = 0

  constructor(readonly task: PartitionTask) {
    this.#name = posix.basename(task.folder)
    const snapshots = new Map<number, Buffer>()
    for (const { name, kind } of task.disk.listNow(task.folder)) {
      const file = kind === 'file' ? segmentFile(name) : null
      if (file !== null) this.#files.set(name, file)
      else this.#otherFile(name)
      if (file?.kind === 'snapshot' && file.suffix === '')
        snapshots.set(file.baseOffset, task.disk.readFileNow(posix.join(task.folder, name)))
    }
    const data = [...this.#files.values()].filter(({ kind, suffix }) => kind === 'log' && suffix === '')
    this.#bases = data.map(({ baseOffset }) => baseOffset).sort((a, b) => a - b)
    this.#snapshots = {
      bytes: snapshots,
      report: (offset, finding) => this.#reportOf(segmentFileName(offset, 'snapshot'), finding),
    }
  }

  #reportOf(name: string, finding: Omit<Finding, 'file'>): void {
    this.task.report({ file: posix.join(this.#name, name), ...finding })
  }

  async run(): Promise<PartitionResult> {
    const { task } = this
    const bases = task.only === null ? this.#bases : this.#bases.filter((base) => base === task.only)
    if (task.only === null) this.#leftovers()
    const topicId = task.only === null ? this.#topicId() : null
    const epochs = this.#epochs()
    const first = this.#bases[0] ?? 0
    this.#producers.endOffset = bases[0] ?? 0
    let total: Sofar = { segments: 0, batches: 0, sizeInBytes: 0, logEndOffset: first, hasGaps: false, hasEpochs: false }
    if (bases.length === 0) this.#reportOf('', { level: 'problem', problem: 'it has no segment', atStart: 'begins an empty one' })
    else this.#beginAt(bases[0]!)
    for (const base of bases) {
      const result = await this.#segment(base, epochs, total)
      total = {
        segments: total.segments + 1,
        batches: total.batches + result.batches,
        sizeInBytes: total.sizeInBytes + result.sizeInBytes,
        logEndOffset: result.nextOffset,
        hasGaps: total.hasGaps || result.hasGaps,
        hasEpochs: total.hasEpochs || result.hasEpochs,
      }
      if (result.isCut && this.#scanOf(base) === 'recovery') break
    }
    if (total.hasEpochs && task.disk.statNow(posix.join(task.folder, LEADER_EPOCHS)) === null)
      this.#reportOf(LEADER_EPOCHS, {
        level: task.isInUse ? 'note' : 'problem',
        problem: 'there is no checkpoint of leader epochs',
        atStart: FINDS_EPOCHS,
      })
    if (task.only === null) this.#ends(total.logEndOffset, total.hasGaps, epochs)
    return { ...total, firstOffset: Math.max(first, task.logStartOffset), topicId }
  }

  async #segment(base: number, epochs: LeaderEpochs | null, sofar: Sofar): Promise<SegmentResult> {
    const { task } = this
    const { disk, folder, isInUse, indexIntervalBytes, report, progress } = task
    const nextBase = this.#bases.find((other) => other > base) ?? null
    const before = this.#bases.findLast((other) => other < base)
    if (before !== undefined && task.only === null) {
      // A scan writes it where the segment's records end.
      const isRebuilt = this.#scanOf(before) !== null && sofar.logEndOffset === base && base > before
      verifySnapshot(this.#snapshots, base, {
        producers: this.#producers,
        isTaken: false,
        isNeeded: 'is',
        isRebuilt,
        hasGaps: sofar.hasGaps,
        knownFrom: this.#knownFrom,
      })
    }
    return verifySegment({
      disk,
      folder,
      baseOffset: base,
      nextBase,
      scan: this.#scanOf(base),
      isInUse,
      indexIntervalBytes,
      producers: this.#producers,
      epochs,
      logStartOffset: task.logStartOffset,
      report,
      progress,
    })
  }

  /** What an older part of the log, which is not here any more, left behind. */
  #beginAt(base: number): void {
    const isKnown = base === 0 || this.#snapshots.bytes.has(base)
    this.#knownFrom = isKnown ? 0 : base
    if (base > 0) verifySnapshot(this.#snapshots, base, { producers: this.#producers, isTaken: true })
  }

  /** As `log-load.ts` decides it. */
  #scanOf(base: number): 'recovery' | 'indexes' | null {
    if (this.#hasBadIndexes(base)) return 'indexes'
    const floor = this.#bases.findLast((other) => other <= this.task.recoveryPoint) ?? this.#bases[0]!
    return !this.task.wasClean && base >= floor ? 'recovery' : null
  }

  #hasBadIndexes(base: number): boolean {
    const bytesOf = (kind: 'index' | 'timeindex' | 'txnindex'): Buffer | null =>
      readIfThere(this.task.disk, posix.join(this.task.folder, segmentFileName(base, kind)))
    const txns = bytesOf('txnindex')
    if (txns !== null && 'problem' in readTxnIndex(txns, base)) return true
    const isThere = (kind: 'index' | 'timeindex'): boolean => this.#files.has(segmentFileName(base, kind))
    if (!isThere('index') || !isThere('timeindex')) return true
    if (base !== this.#bases.at(-1)) return false
    const dataBytes = this.task.disk.statNow(posix.join(this.task.folder, segmentFileName(base, 'log')))?.sizeInBytes ?? 0
    return offsetIndexProblem(bytesOf('index')!, dataBytes) !== null || timeIndexProblem(bytesOf('timeindex')!) !== null
  }

  #epochs(): LeaderEpochs | null {
    const bytes = readIfThere(this.task.disk, posix.join(this.task.folder, LEADER_EPOCHS))
    if (bytes === null) return null
    const read = readEpochs(bytes)
    if ('problem' in read) {
      this.#reportOf(LEADER_EPOCHS, { level: 'problem', problem: read.problem, atStart: FINDS_EPOCHS })
      return null
    }
    const epochs = new LeaderEpochs(read)
    if (epochs.entries.length !== read.length)
      this.#reportOf(LEADER_EPOCHS, {
        level: 'problem',
        problem: 'epochs and their start offsets do not rise',
        atStart: 'drops those that contradict a later one',
      })
    return epochs
  }

  #topicId(): string | null {
    const bytes = readIfThere(this.task.disk, posix.join(this.task.folder, PARTITION_METADATA))
    if (bytes === null) {
      this.#reportOf(PARTITION_METADATA, {
        level: 'note',
        problem: 'the partition has no topic id',
        atStart: 'writes it once the topic has one',
      })
      return null
    }
    const read = readPartitionMetadata(bytes)
    if ('topicId' in read) return read.topicId
    this.#reportOf(PARTITION_METADATA, {
      level: 'problem',
      problem: read.problem,
      atStart: 'takes the partition for one without a topic id',
    })
    return null
  }

  #otherFile(name: string): void {
    if (name === LEADER_EPOCHS || name === PARTITION_METADATA || this.task.only !== null) return
    const isTemporary = name.endsWith('.tmp')
    const problem = isTemporary ? 'what a write left that did not finish' : 'no file of a partition by its name'
    this.#reportOf(name, { level: 'note', problem, atStart: AT_START.nothing })
  }

  #leftovers(): void {
    const bases = new Set(this.#bases)
    for (const [name, { suffix, kind, baseOffset }] of this.#files) {
      if (suffix === '.deleted') this.#note(name, 'it waits to be removed', AT_START.removes)
      else if (suffix === '.cleaned') this.#note(name, 'a cleaning that did not finish', AT_START.removes)
      else if (suffix === '.swap') this.#note(name, 'the output of a cleaning', 'puts it in the place of what it was made from')
      else if (kind !== 'log' && kind !== 'snapshot' && !bases.has(baseOffset))
        this.#reportOf(name, { level: 'problem', problem: 'an index without its segment', atStart: AT_START.removes })
    }
  }

  #note(name: string, problem: string, atStart: string): void {
    this.#reportOf(name, { level: 'note', problem, atStart })
  }

  /** What must stand at the log's end, and must not stand beyond it. */
  #ends(logEndOffset: number, hasGaps: boolean, epochs: LeaderEpochs | null): void {
    const { wasClean, isInUse, logStartOffset } = this.task
    const bases = new Set(this.#bases)
    const hasRecords = logEndOffset > logStartOffset
    if (logEndOffset > (this.#bases[0] ?? 0) && !bases.has(logEndOffset) && !isInUse)
      verifySnapshot(this.#snapshots, logEndOffset, {
        producers: this.#producers,
        isTaken: false,
        isNeeded: wasClean && hasRecords ? 'is' : 'may be',
        isLast: hasRecords,
        isRebuilt: false,
        hasGaps,
        knownFrom: this.#knownFrom,
      })
    const strays = [...this.#snapshots.bytes.keys()].filter((offset) => !bases.has(offset) && offset !== logEndOffset)
    // The newest one that is not older than the active segment is where a start begins.
    const begun = Math.max(...strays.filter((offset) => offset < logEndOffset && offset >= (this.#bases.at(-1) ?? 0)))
    for (const offset of isInUse ? [] : strays) {
      if (offset === begun) continue
      const problem = offset > logEndOffset ? `it is beyond the log's end at ${logEndOffset}` : 'no segment begins at its offset'
      this.#note(segmentFileName(offset, 'snapshot'), problem, AT_START.removes)
    }
    const latest = epochs?.entries.at(-1)
    if (latest !== undefined && latest.startOffset > logEndOffset && !isInUse)
      this.#reportOf(LEADER_EPOCHS, {
        level: 'problem',
        offset: latest.startOffset,
        problem: `epoch ${latest.epoch} begins at ${latest.startOffset}, the log ends at ${logEndOffset}`,
        atStart: 'drops the epoch',
      })
    if (logStartOffset > logEndOffset)
      this.#reportOf('', {
        level: 'problem',
        offset: logStartOffset,
        problem: `the log ends at ${logEndOffset}, before its start offset ${logStartOffset}`,
        atStart: 'removes all segments and begins an empty one at the start offset',
      })
  }
}
