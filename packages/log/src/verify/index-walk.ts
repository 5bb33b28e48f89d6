/**
 * Holds the entries of a segment's offset and time index against its batches, in one pass beside a scan: both are in the order of the
 * data, so that only the place in each index is remembered.
 */
import { OFFSET_ENTRY_BYTES, OffsetIndex, offsetIndexProblem } from '../offset-index.js'
import type { StoredBatch } from '../stored-batch.js'
import { TIME_ENTRY_BYTES, TimeIndex, timeIndexProblem } from '../time-index.js'

/** One wrong place in an index. */
export interface IndexFault {
  readonly position?: number
  readonly offset?: number
  readonly problem: string
  /** The file cannot be an index: a start sees it. Otherwise only a reader or a search may. */
  readonly isStructural: boolean
  /** Zeros up to where the file was made large enough beforehand: as every index of a running broker has them. */
  readonly isPadding?: boolean
}

/** What an append may gather: an index has at most one entry for it. */
const LARGEST_APPEND = 1024 * 1024

/** Zeros at the end are room that was made beforehand, but for a single entry: a record may have time 0. */
function withoutPadding(bytes: Buffer, entryBytes: number): Buffer {
  if (bytes.length === entryBytes) return bytes
  let end = bytes.length
  while (end > 0 && bytes[end - 1] === 0) end--
  const whole = Math.ceil(end / entryBytes) * entryBytes
  return whole >= bytes.length ? bytes : bytes.subarray(0, whole)
}

function paddingFault(bytes: Buffer, entries: Buffer): IndexFault {
  return {
    position: entries.length,
    problem: `${bytes.length - entries.length} zero bytes behind the entries`,
    isStructural: true,
    isPadding: true,
  }
}

export class OffsetIndexWalk {
  readonly #index: OffsetIndex | null
  #slot = 0
  /** Entries whose batch has begun and whose offset has not come yet: an append of several batches has one entry. */
  #open: { readonly offset: number; readonly slot: number } | null = null
  #lastCovered = 0
  #largestGap = 0
  #gapAt = 0

  constructor(
    baseOffset: number,
    bytes: Buffer,
    dataBytes: number,
    readonly intervalBytes: number,
    readonly report: (fault: IndexFault) => void,
  ) {
    const entries = withoutPadding(bytes, OFFSET_ENTRY_BYTES)
    if (entries.length < bytes.length && bytes.length % OFFSET_ENTRY_BYTES === 0) report(paddingFault(bytes, entries))
    const problem = offsetIndexProblem(entries, dataBytes)
    if (problem !== null) report({ problem, isStructural: true })
    this.#index = problem === null ? new OffsetIndex(baseOffset, entries.length, entries) : null
  }

  batch({ position, baseOffset, lastOffset, magic }: StoredBatch): void {
    const index = this.#index
    if (index === null) return
    while (this.#slot < index.entryCount && index.positionAt(this.#slot) < position) {
      this.#wrong(this.#slot, `no batch begins at position ${index.positionAt(this.#slot)}`)
      this.#slot++
    }
    if (this.#slot < index.entryCount && index.positionAt(this.#slot) === position) {
      const offset = index.offsetAt(this.#slot)
      const first = magic === 2 ? baseOffset : lastOffset
      if (first > offset)
        this.#wrong(this.#slot, `the batch at position ${position} begins at offset ${first}, the entry says ${offset}`)
      else this.#open = { offset, slot: this.#slot }
      this.#cover(position)
      this.#slot++
    }
    if (this.#open === null || lastOffset < this.#open.offset) return
    if (lastOffset > this.#open.offset) this.#wrong(this.#open.slot, `no batch ends with offset ${this.#open.offset}`)
    this.#open = null
  }

  #cover(position: number): void {
    if (position - this.#lastCovered > this.#largestGap) {
      this.#largestGap = position - this.#lastCovered
      this.#gapAt = this.#lastCovered
    }
    this.#lastCovered = position
  }

  /** `largestBatch` tells how far entries may lie apart. */
  end(dataBytes: number, largestBatch: number): { readonly position: number; readonly sizeInBytes: number } | null {
    const index = this.#index
    if (index === null) return null
    for (; this.#slot < index.entryCount; this.#slot++) {
      this.#wrong(this.#slot, `no batch begins at position ${index.positionAt(this.#slot)}`)
    }
    if (this.#open !== null) this.#wrong(this.#open.slot, `no batch ends with offset ${this.#open.offset}`)
    this.#cover(dataBytes)
    const allowed = this.intervalBytes + largestBatch + LARGEST_APPEND
    return this.#largestGap > allowed ? { position: this.#gapAt, sizeInBytes: this.#largestGap } : null
  }

  #wrong(slot: number, problem: string): void {
    const offset = this.#index!.offsetAt(slot)
    this.report({ position: slot * OFFSET_ENTRY_BYTES, offset, problem: `entry ${slot}: ${problem}`, isStructural: false })
  }
}

export class TimeIndexWalk {
  readonly #index: TimeIndex | null
  #slot = 0
  #maxTimestamp = -1
  #nextOffset: number

  constructor(
    baseOffset: number,
    bytes: Buffer,
    readonly report: (fault: IndexFault) => void,
  ) {
    const entries = withoutPadding(bytes, TIME_ENTRY_BYTES)
    if (entries.length < bytes.length && bytes.length % TIME_ENTRY_BYTES === 0) report(paddingFault(bytes, entries))
    const problem = timeIndexProblem(entries)
    if (problem !== null) report({ problem, isStructural: true })
    this.#index = problem === null ? new TimeIndex(baseOffset, entries.length, entries) : null
    this.#nextOffset = baseOffset
  }

  batch({ lastOffset, maxTimestamp }: StoredBatch): void {
    if (maxTimestamp > this.#maxTimestamp) this.#maxTimestamp = maxTimestamp
    const index = this.#index
    for (; index !== null && this.#slot < index.entryCount; this.#slot++) {
      const { timestamp, offset } = index.entryAt(this.#slot)
      if (offset > lastOffset) break
      if (timestamp < this.#maxTimestamp) this.#wrong(`a record up to offset ${offset} has the later time ${this.#maxTimestamp}`)
      else if (timestamp > this.#maxTimestamp) this.#wrong(`no record up to offset ${offset} has time ${timestamp}`)
    }
    this.#nextOffset = lastOffset + 1
  }

  /** A segment that takes no more ends with its largest time: retention and searches go by it. */
  end(isClosed: boolean): void {
    const index = this.#index
    if (index === null) return
    for (; this.#slot < index.entryCount; this.#slot++)
      this.#wrong(`offset ${index.entryAt(this.#slot).offset} is not in the segment`)
    const { timestamp } = index.lastEntry
    if (!isClosed || this.#maxTimestamp < 0 || timestamp >= this.#maxTimestamp) return
    this.report({
      position: index.sizeInBytes,
      offset: this.#nextOffset - 1,
      problem: `the last entry has time ${timestamp}, the segment's largest is ${this.#maxTimestamp}`,
      isStructural: false,
    })
  }

  #wrong(problem: string): void {
    const { offset } = this.#index!.entryAt(this.#slot)
    this.report({
      position: this.#slot * TIME_ENTRY_BYTES,
      offset,
      problem: `entry ${this.#slot}: ${problem}`,
      isStructural: false,
    })
  }
}
