/** Batches in the order of their offsets, and everything that follows from them, found the slow and obvious way. */
import { RecordBatch } from '@mq/protocol'
import { producerBatch } from '../producer-batch.js'
import type { ProducerBatch } from '../producer-entry.js'

export interface HistoryRecord {
  readonly offset: number
  readonly timestamp: number
  readonly key: string | null
  readonly value: string | null
}

export interface HistoryBatch {
  readonly bytes: Buffer
  readonly baseOffset: number
  readonly lastOffset: number
  readonly leaderEpoch: number
  readonly records: readonly HistoryRecord[]
  readonly isControl: boolean
  readonly ofProducer: ProducerBatch | null
}

/** A producer as the log's end sees it. */
export interface ProducerFacts {
  readonly producerId: number
  producerEpoch: number
  lastSequence: number
  coordinatorEpoch: number
  /** -1 when no transaction is open. */
  firstOffset: number
  /** Offset of its newest batch, marker or not. */
  lastOffset: number
}

export interface AbortedFacts {
  readonly producerId: number
  readonly firstOffset: number
  readonly lastOffset: number
}

export interface Replay {
  readonly producers: Map<number, ProducerFacts>
  readonly aborted: AbortedFacts[]
}

export class History {
  #batches: HistoryBatch[] = []
  /** With what compaction took away or a hole swallowed: a snapshot of producers may know of it. Null as long as there is nothing. */
  #written: HistoryBatch[] | null = null
  /** The log's end when it was begun anew. */
  #base = 0

  get batches(): readonly HistoryBatch[] {
    return this.#batches
  }

  /** Also those that compaction took away or a hole swallowed, each as it was written. */
  get written(): readonly HistoryBatch[] {
    return this.#written ?? this.#batches
  }

  get end(): number {
    return Math.max(this.#base, (this.#batches.at(-1)?.lastOffset ?? -1) + 1)
  }

  clone(): History {
    const copy = new History()
    copy.#batches = [...this.#batches]
    copy.#written = this.#written === null ? null : [...this.#written]
    copy.#base = this.#base
    return copy
  }

  /** The bytes of one batch; they must not change any more. */
  add(bytes: Buffer): void {
    const batch = new RecordBatch(bytes)
    const added: HistoryBatch = {
      bytes,
      baseOffset: batch.baseOffset,
      lastOffset: batch.lastOffset,
      leaderEpoch: batch.partitionLeaderEpoch,
      records: [...batch.records()].map(({ offset, timestamp, key, value }) => ({
        offset,
        timestamp: Number(timestamp),
        key: key === null ? null : String(key),
        value: value === null ? null : String(value),
      })),
      isControl: batch.isControl,
      ofProducer: producerBatch(batch),
    }
    this.#batches.push(added)
    this.#written?.push(added)
  }

  /** @returns where it ends now: earlier, where there is a gap */
  cutTo(end: number): number {
    const isLeft = ({ lastOffset }: HistoryBatch) => lastOffset < end
    this.#batches = this.#batches.filter(isLeft)
    if (this.#written === null) this.#base = Math.min(this.#base, end)
    else {
      this.#written = this.#written.filter(isLeft)
      // Nobody knows where the segment began that ends it now.
      if (end < this.#base) this.#base = 0
    }
    return this.end
  }

  /** The log has lost its records and goes on here; what is known of producers may stay. */
  emptyAt(end: number): void {
    this.cutTo(end)
    this.#base = end
  }

  /** Nothing of it counts any more. */
  startOver(at: number): void {
    this.#batches = []
    this.#written = null
    this.#base = at
  }

  /**
   * A cut of the power may lose the end of a segment and keep the next one. In a compacted log a hole cannot be told from what was
   * compacted, so that what lies behind it stays.
   * @returns whether any of those from `from` on is missing in what was found
   */
  lose(from: number, found: History): boolean {
    const left = new Set(found.#batches.map(({ baseOffset }) => baseOffset))
    const isLeft = ({ baseOffset, lastOffset }: HistoryBatch) => lastOffset < from || left.has(baseOffset)
    const before = this.#batches.length
    this.#written ??= this.#batches
    this.#batches = this.#batches.filter(isLeft)
    return this.#batches.length < before
  }

  /** Compaction left these batches from the log's start on. */
  cleanedTo(left: History, { start, activeBase }: { readonly start: number; readonly activeBase: number }): void {
    this.#written ??= this.#batches
    this.#batches = [...this.#batches.filter(({ lastOffset }) => lastOffset < start), ...left.#batches]
    // The log's end even if nothing is left before it.
    this.#base = activeBase
  }

  /** The first batch with the offset, or behind it. */
  indexAt(offset: number): number {
    const at = this.#batches.findIndex(({ lastOffset }) => lastOffset >= offset)
    return at < 0 ? this.#batches.length : at
  }

  /** Producers at the end, and the transactions that were aborted, by what lies at `from` or later. */
  replay(from = 0): Replay {
    return replayOf(this.#batches.slice(this.indexAt(from)))
  }

  /** The same by what was written there, whether compaction left it or not; from `snapshot` on by what is there. */
  replayWritten(from = 0, snapshot = Number.POSITIVE_INFINITY): Replay {
    const before = this.written.filter(({ lastOffset }) => lastOffset >= from && lastOffset < snapshot)
    const behind = this.#batches.filter(({ lastOffset }) => lastOffset >= snapshot)
    return replayOf([...before, ...behind])
  }

  /** Offsets of the records that count: those of a transaction once it is committed. */
  committed(): Set<number> {
    const committed = new Set<number>()
    const open = new Map<number, number[]>()
    for (const { ofProducer, records, isControl } of this.written) {
      const offsets = records.map(({ offset }) => offset)
      if (ofProducer === null || (!isControl && !ofProducer.isTransactional)) for (const one of offsets) committed.add(one)
      else if (ofProducer.marker === null)
        open.set(ofProducer.producerId, [...(open.get(ofProducer.producerId) ?? []), ...offsets])
      else {
        if (ofProducer.marker.commit) for (const one of open.get(ofProducer.producerId) ?? []) committed.add(one)
        open.delete(ofProducer.producerId)
      }
    }
    return committed
  }

  /** The first record at or after `start` that is not earlier than the timestamp. */
  firstAt(timestamp: number, start: number): { offset: number; timestamp: number } | null {
    for (const { records } of this.#batches.slice(this.indexAt(start)))
      for (const record of records) if (record.offset >= start && record.timestamp >= timestamp) return record
    return null
  }

  /** Between which offsets each leader epoch with records at or after `start` ends: it may be anywhere in a gap. */
  epochEnds(start: number): Map<number, { readonly from: number; readonly to: number }> {
    const ends = new Map<number, { from: number; to: number }>()
    const batches = this.#batches.slice(this.indexAt(start))
    for (const [at, { leaderEpoch, lastOffset }] of batches.entries()) {
      const next = batches[at + 1]
      if (next?.leaderEpoch !== leaderEpoch) ends.set(leaderEpoch, { from: lastOffset + 1, to: next?.baseOffset ?? this.end })
    }
    return ends
  }
}

function replayOf(batches: readonly HistoryBatch[]): Replay {
  const producers = new Map<number, ProducerFacts>()
  const aborted: AbortedFacts[] = []
  for (const { ofProducer: batch } of batches) {
    if (batch === null) continue
    const facts = producers.get(batch.producerId) ?? unknown(batch.producerId)
    producers.set(batch.producerId, facts)
    if (facts.producerEpoch !== batch.producerEpoch) facts.lastSequence = -1
    facts.producerEpoch = batch.producerEpoch
    facts.lastOffset = batch.lastOffset
    if (batch.marker !== null) {
      if (facts.firstOffset >= 0 && !batch.marker.commit)
        aborted.push({ producerId: batch.producerId, firstOffset: facts.firstOffset, lastOffset: batch.lastOffset })
      facts.firstOffset = -1
      facts.coordinatorEpoch = batch.marker.coordinatorEpoch
    } else {
      facts.lastSequence = batch.lastSequence
      if (batch.isTransactional && facts.firstOffset < 0) facts.firstOffset = batch.baseOffset
    }
  }
  return { producers, aborted }
}

function unknown(producerId: number): ProducerFacts {
  return { producerId, producerEpoch: -1, lastSequence: -1, coordinatorEpoch: -1, firstOffset: -1, lastOffset: -1 }
}
