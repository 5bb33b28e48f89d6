/**
 * Verifies one segment: its batches (sizes, checksums, offsets), and all that stands beside them and could be built from them: offset
 * and time index, transaction index, leader epochs. Producer state goes along from segment to segment.
 */
import { posix } from 'node:path'
import { RecordBatch } from '@mq/protocol'
import { LEADER_EPOCHS } from '../checkpoint.js'
import { segmentFileName } from '../folder-names.js'
import type { LeaderEpochs } from '../leader-epochs.js'
import type { Disk } from '../ports.js'
import { producerBatch } from '../producer-batch.js'
import type { ProducerStates } from '../producer-state.js'
import { scanBatches } from '../segment-scan.js'
import { placeProblem, remainderProblem, type StoredBatch, storedBatchProblem } from '../stored-batch.js'
import { readIfThere } from '../whole-file.js'
import { AT_START, type Finding } from './finding.js'
import { type IndexFault, OffsetIndexWalk, TimeIndexWalk } from './index-walk.js'
import { TxnWalk } from './txn-walk.js'

export interface SegmentTask {
  readonly disk: Disk
  readonly folder: string
  readonly baseOffset: number
  /** Base offset of the segment after it; null for the active one. */
  readonly nextBase: number | null
  /**
   * Why a start scans it: `recovery`, the last stop was not clean and it is not known to be on the disk (a cut then takes later
   * segments along); `indexes`, these are missing or damaged. Null: it does not.
   */
  readonly scan: 'recovery' | 'indexes' | null
  /** Somebody is writing it now. */
  readonly isInUse: boolean
  readonly indexIntervalBytes: number
  /** Stand at the segment's start, and go along to its end. */
  readonly producers: ProducerStates
  /** Of the checkpoint file; null when there is none to hold the batches against. */
  readonly epochs: LeaderEpochs | null
  /** What lies below it is not to be read any more, and nobody remembers its epochs. */
  readonly logStartOffset: number
  readonly report: (finding: Finding) => void
  /** Called with the bytes that were looked at since the last time. */
  readonly progress: (bytes: number) => void
}

export interface SegmentResult {
  readonly batches: number
  readonly sizeInBytes: number
  /** One after the last sound offset. */
  readonly nextOffset: number
  /** A start cuts it: what comes after it goes as well. */
  readonly isCut: boolean
  /** Its batches have leader epochs: old formats do not. */
  readonly hasEpochs: boolean
  /** Offsets are missing between its records: it was cleaned. */
  readonly hasGaps: boolean
}

/** Bytes between two reports of progress. */
const STEP = 1 << 20

export function verifySegment(task: SegmentTask): Promise<SegmentResult> {
  return new SegmentCheck(task).run()
}

class SegmentCheck {
  #batches = 0
  #nextOffset: number
  #largestBatch = 0
  #hasGaps = false
  #isCut = false
  #hasEpochs = false
  #epochFault = false
  #unreported = 0

  constructor(readonly task: SegmentTask) {
    this.#nextOffset = task.baseOffset
  }

  async run(): Promise<SegmentResult> {
    const { task } = this
    const { disk, baseOffset } = task
    const file = disk.openNow(this.#path('log'), 'read')
    try {
      const sizeInBytes = file.sizeNow()
      const offsets = this.#offsetWalk(sizeInBytes)
      const times = this.#timeWalk()
      const txns = new TxnWalk(readIfThere(disk, this.#path('txnindex')), baseOffset, (fault) => this.#txnFault(fault))
      let end = 0
      for await (const batch of scanBatches(file, 0, sizeInBytes)) {
        end = batch.position + batch.sizeInBytes
        this.#progress(batch.sizeInBytes)
        if (!this.#isSound(batch)) {
          if (this.#isCut) break
          continue
        }
        this.#add(batch, txns)
        offsets?.batch(batch)
        times?.batch(batch)
      }
      if (!this.#isCut && end < sizeInBytes) this.#tail(end, sizeInBytes, await headerAt(file, end, sizeInBytes))
      this.#progress(sizeInBytes - end)
      if (!this.#isCut) this.#endOfIndexes(offsets, times, txns, end)
      this.task.progress(this.#unreported)
      return {
        batches: this.#batches,
        sizeInBytes,
        nextOffset: this.#nextOffset,
        isCut: this.#isCut,
        hasEpochs: this.#hasEpochs,
        hasGaps: this.#hasGaps,
      }
    } finally {
      file.closeNow()
    }
  }

  #path(kind: 'log' | 'index' | 'timeindex' | 'txnindex'): string {
    return posix.join(this.task.folder, segmentFileName(this.task.baseOffset, kind))
  }

  #progress(bytes: number): void {
    this.#unreported += bytes
    if (this.#unreported < STEP) return
    this.task.progress(this.#unreported)
    this.#unreported = 0
  }

  #report(kind: 'log' | 'index' | 'timeindex' | 'txnindex' | 'epochs', finding: Omit<Finding, 'file'>): void {
    const name = kind === 'epochs' ? LEADER_EPOCHS : segmentFileName(this.task.baseOffset, kind)
    this.task.report({ file: posix.join(posix.basename(this.task.folder), name), ...finding })
  }

  #offsetWalk(dataBytes: number): OffsetIndexWalk | null {
    const bytes = readIfThere(this.task.disk, this.#path('index'))
    if (bytes === null) {
      this.#missingIndex('index', 'there is no offset index')
      return null
    }
    const { baseOffset, indexIntervalBytes } = this.task
    return new OffsetIndexWalk(baseOffset, bytes, dataBytes, indexIntervalBytes, (fault) => this.#indexFault('index', fault))
  }

  #missingIndex(kind: 'index' | 'timeindex', problem: string): void {
    const { isInUse, nextBase } = this.task
    const level = isInUse && nextBase === null ? 'note' : 'problem'
    this.#report(kind, { level, problem, atStart: AT_START.rebuilds })
  }

  #timeWalk(): TimeIndexWalk | null {
    const bytes = readIfThere(this.task.disk, this.#path('timeindex'))
    if (bytes === null) {
      this.#missingIndex('timeindex', 'there is no time index')
      return null
    }
    return new TimeIndexWalk(this.task.baseOffset, bytes, (fault) => this.#indexFault('timeindex', fault))
  }

  #indexFault(kind: 'index' | 'timeindex', { position, offset, problem, isStructural, isPadding = false }: IndexFault): void {
    const { nextBase, scan, isInUse } = this.task
    const isActive = nextBase === null
    // What is built while records come is written when the segment ends: until then the file may have anything.
    const isUnfinished = isActive && (isInUse || (scan !== null && isPadding))
    const repaired = isActive ? AT_START.rebuilds : AT_START.rebuildsWhenUsed
    const kept =
      kind === 'index'
        ? 'nothing; the index is built again when a read finds no batch where it points'
        : 'nothing: searches by time may answer with a wrong offset'
    this.#report(kind, {
      level: isUnfinished ? 'note' : 'problem',
      ...(position === undefined ? {} : { position }),
      ...(offset === undefined ? {} : { offset }),
      problem: isInUse && isActive ? `${problem} (not written yet)` : problem,
      atStart: scan !== null ? AT_START.rebuilds : isStructural ? repaired : kept,
    })
  }

  #txnFault({ position, offset, problem, isStructural }: IndexFault): void {
    const { nextBase, scan, isInUse } = this.task
    const isUnfinished = nextBase === null && isInUse
    this.#report('txnindex', {
      level: isUnfinished ? 'note' : 'problem',
      ...(position === undefined ? {} : { position }),
      ...(offset === undefined ? {} : { offset }),
      problem: isUnfinished ? `${problem} (not written yet)` : problem,
      atStart:
        scan !== null || isStructural
          ? AT_START.rebuilds
          : 'nothing: readers of committed records may get aborted ones, or miss others',
    })
  }

  /** Whether the batch is what was written, where it may stand. A start that scans the segment cuts it at the first that is not. */
  #isSound(batch: StoredBatch): boolean {
    const problem = storedBatchProblem(batch) ?? placeProblem(batch, this.#nextOffset, this.task.baseOffset)
    if (problem === null) return true
    this.#damage(batch.position, problem, batch.baseOffset)
    return false
  }

  #damage(position: number, problem: string, offset?: number): void {
    const { scan, isInUse, nextBase } = this.task
    const place = { position, ...(offset === undefined ? {} : { offset }) }
    this.#isCut = scan !== null
    if (isInUse && nextBase === null) {
      this.#report('log', {
        level: 'note',
        ...place,
        problem: `${problem} (the broker may be writing it)`,
        atStart: AT_START.nothing,
      })
      return
    }
    const later = nextBase === null || scan !== 'recovery' ? '' : '; the later segments go as well'
    const atStart = scan !== null ? `cuts the segment at byte ${position}${later}` : AT_START.notSeen
    this.#report('log', { level: 'problem', ...place, problem, atStart })
  }

  /** What follows the last whole batch. Without a scan a start still looks whether the log ends with one. */
  #tail(position: number, sizeInBytes: number, header: Buffer): void {
    const problem = remainderProblem(header, sizeInBytes - position)
    const { scan, isInUse, nextBase } = this.task
    if (scan !== null || isInUse || nextBase !== null) {
      this.#damage(position, problem)
      return
    }
    this.#isCut = true
    this.#report('log', { level: 'problem', position, problem, atStart: `scans the segment and cuts it at byte ${position}` })
  }

  #add(batch: StoredBatch, txns: TxnWalk): void {
    const { magic, bytes, at, baseOffset, lastOffset, sizeInBytes } = batch
    this.#batches++
    this.#largestBatch = Math.max(this.#largestBatch, sizeInBytes)
    if (magic === 2) {
      const view = new RecordBatch(bytes, at)
      if (baseOffset > this.#nextOffset || view.recordCount <= lastOffset - baseOffset) this.#hasGaps = true
      this.#checkEpoch(batch, view.partitionLeaderEpoch)
      const ofProducer = producerBatch(view)
      const aborted = ofProducer === null ? null : this.task.producers.apply(ofProducer)
      if (ofProducer !== null && ofProducer.marker?.commit === false) txns.marker(ofProducer, aborted)
    }
    this.#nextOffset = lastOffset + 1
    this.task.producers.endOffset = this.#nextOffset
  }

  #checkEpoch({ position, baseOffset, lastOffset }: StoredBatch, epoch: number): void {
    const { epochs, scan, logStartOffset } = this.task
    if (epoch >= 0) this.#hasEpochs = true
    if (epochs === null || epoch < 0 || this.#epochFault || lastOffset < logStartOffset) return
    const offset = Math.max(baseOffset, logStartOffset)
    const entry = epochs.entries.findLast(({ startOffset }) => startOffset <= offset)
    if (entry?.epoch === epoch) return
    this.#epochFault = true
    const told = entry === undefined ? 'none' : `epoch ${entry.epoch}`
    // A scan adds epochs that are higher than all it knows; a lower one stays missing.
    const atStart = scan !== null && epoch > epochs.latest ? 'scans the segment and adds the epoch' : AT_START.nothing
    this.#report('epochs', {
      level: 'problem',
      offset,
      problem: `it has ${told} for offset ${offset}, the batch at byte ${position} of segment ${this.task.baseOffset} has epoch ${epoch}`,
      atStart,
    })
  }

  #endOfIndexes(offsets: OffsetIndexWalk | null, times: TimeIndexWalk | null, txns: TxnWalk, end: number): void {
    const { nextBase, isInUse, scan } = this.task
    const gap = offsets?.end(end, this.#largestBatch) ?? null
    if (gap !== null && !(nextBase === null && (isInUse || scan !== null))) {
      this.#report('index', {
        level: 'note',
        problem: `no entry for ${gap.sizeInBytes} bytes of data from byte ${gap.position} on: reads there take longer`,
        atStart: AT_START.nothing,
      })
    }
    if (nextBase !== null && this.#nextOffset < nextBase) this.#hasGaps = true
    times?.end(nextBase !== null)
    txns.end()
    if (nextBase !== null && this.#nextOffset > nextBase) {
      this.#report('log', {
        level: 'problem',
        offset: this.#nextOffset - 1,
        problem: `it reaches offset ${this.#nextOffset - 1}, the next segment begins at ${nextBase}`,
        atStart: AT_START.nothing,
      })
    }
  }
}

async function headerAt(
  file: { read(into: Buffer, position: number): Promise<number> },
  at: number,
  end: number,
): Promise<Buffer> {
  const bytes = Buffer.alloc(Math.min(64, end - at))
  return bytes.subarray(0, await file.read(bytes, at))
}
