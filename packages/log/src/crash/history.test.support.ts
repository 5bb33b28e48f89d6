/** Batches in the order of their offsets, and everything that follows from them, found the slow and obvious way. */
import { RecordBatch } from '@mq/protocol'
import { producerBatch } from '../producer-batch.js'
import type { ProducerBatch } from '../producer-entry.js'

export interface HistoryBatch {
  readonly bytes: Buffer
  readonly baseOffset: number
  readonly lastOffset: number
  readonly leaderEpoch: number
  readonly records: readonly { readonly offset: number; readonly timestamp: number; readonly key: string | null }[]
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

export class History {
  #batches: HistoryBatch[] = []
  /** The log's end when it was begun anew. */
  #base = 0

  get batches(): readonly HistoryBatch[] {
    return this.#batches
  }

  get end(): number {
    return Math.max(this.#base, (this.#batches.at(-1)?.lastOffset ?? -1) + 1)
  }

  clone(): History {
    const copy = new History()
    copy.#batches = [...this.#batches]
    copy.#base = this.#base
    return copy
  }

  /** The bytes of one batch; they must not change any more. */
  add(bytes: Buffer): void {
    const batch = new RecordBatch(bytes)
    this.#batches.push({
      bytes,
      baseOffset: batch.baseOffset,
      lastOffset: batch.lastOffset,
      leaderEpoch: batch.partitionLeaderEpoch,
      records: [...batch.records()].map(({ offset, timestamp, key }) => ({
        offset,
        timestamp: Number(timestamp),
        key: key === null ? null : String(key),
      })),
      isControl: batch.isControl,
      ofProducer: producerBatch(batch),
    })
  }

  /** @returns where it ends now: earlier, where there is a gap */
  cutTo(end: number): number {
    this.#batches = this.#batches.filter(({ lastOffset }) => lastOffset < end)
    this.#base = Math.min(this.#base, end)
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
    this.#base = at
  }

  /** The first batch with the offset, or behind it. */
  indexAt(offset: number): number {
    const at = this.#batches.findIndex(({ lastOffset }) => lastOffset >= offset)
    return at < 0 ? this.#batches.length : at
  }

  /** Producers at the end, and the transactions that were aborted, by what lies at `from` or later. */
  replay(from = 0): { producers: Map<number, ProducerFacts>; aborted: AbortedFacts[] } {
    const producers = new Map<number, ProducerFacts>()
    const aborted: AbortedFacts[] = []
    for (const { ofProducer: batch } of this.#batches.slice(this.indexAt(from))) {
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

function unknown(producerId: number): ProducerFacts {
  return { producerId, producerEpoch: -1, lastSequence: -1, coordinatorEpoch: -1, firstOffset: -1, lastOffset: -1 }
}
