/**
 * What a partition knows of its producers (KIP-98): pure, and rebuilt from the log at any time.
 *
 *   log start          first unstable offset        high watermark       log end
 *      |---- decided ------|-- open, or ended above the high watermark --|------|
 *                          ^ last stable offset = min(first unstable, high watermark)
 *
 * Invariants: an open transaction's first offset is below the map's end; a transaction is in `open` from its first record to its
 * marker, then in `ended` until the high watermark has passed the marker. Every append is first checked, then applied.
 */
import { NO_PRODUCER_EPOCH } from '@mq/protocol'
import { type AppendOrigin, type ProducerStateView, type Refused, refused } from './outcomes.js'
import { type BatchMemory, type ProducerBatch, ProducerEntry } from './producer-entry.js'
import type { AbortedEntry } from './txn-index.js'

export interface Duplicate {
  readonly kind: 'duplicate'
  readonly firstOffset: number
  readonly lastOffset: number
  readonly timestamp: number
}

interface OpenTransaction {
  readonly producerId: number
  readonly firstOffset: number
}

export class ProducerStates {
  readonly #entries = new Map<number, ProducerEntry>()
  /** By first offset, which is also the order of the keys. */
  readonly #open = new Map<number, OpenTransaction>()
  /** Ended transactions whose marker is not yet below the high watermark: first offset → marker's offset. */
  readonly #ended = new Map<number, number>()
  /** Offset up to which the log is reflected here (exclusive). */
  endOffset = 0

  get entries(): IterableIterator<ProducerEntry> {
    return this.#entries.values()
  }

  get size(): number {
    return this.#entries.size
  }

  get openCount(): number {
    return this.#open.size
  }

  get isEmpty(): boolean {
    return this.#entries.size === 0 && this.#ended.size === 0
  }

  /** Ended transactions whose marker is not yet below the high watermark: first offset, offset of the marker. */
  get ended(): IterableIterator<[number, number]> {
    return this.#ended.entries()
  }

  entry(producerId: number): ProducerEntry | undefined {
    return this.#entries.get(producerId)
  }

  /** May this batch be appended? A duplicate is answered with what it got the first time. */
  check(batch: ProducerBatch, origin: AppendOrigin): Duplicate | Refused | null {
    const entry = this.#entries.get(batch.producerId)
    if (origin === 'client' && entry !== undefined) {
      const known = entry.find(batch.producerEpoch, batch.baseSequence, batch.lastSequence)
      if (known !== null) return duplicateOf(known)
    }
    if (origin === 'replication' || entry === undefined) return null
    if (batch.producerEpoch < entry.producerEpoch) {
      return refused(
        'INVALID_PRODUCER_EPOCH',
        `epoch ${batch.producerEpoch} of producer ${batch.producerId} is older than its epoch ${entry.producerEpoch} here`,
      )
    }
    if (batch.isControl) return checkCoordinator(batch, entry)
    if (origin === 'client') {
      const problem = sequenceProblem(batch, entry)
      if (problem !== null) return refused('OUT_OF_ORDER_SEQUENCE_NUMBER', problem)
    }
    if (entry.transactionFirstOffset >= 0 && !batch.isTransactional) {
      return refused('INVALID_TXN_STATE', `producer ${batch.producerId} has an open transaction and wrote outside of it`)
    }
    return null
  }

  /**
   * The batch is in the log.
   * @returns the aborted transaction that it ended, if it did: an entry for the transaction index
   */
  apply(batch: ProducerBatch): AbortedEntry | null {
    let entry = this.#entries.get(batch.producerId)
    if (batch.isControl && batch.marker === null) return null
    if (entry === undefined) {
      entry = new ProducerEntry(batch.producerId)
      this.#entries.set(batch.producerId, entry)
    }
    entry.enterEpoch(batch.producerEpoch)
    if (batch.marker !== null) return this.#endTransaction(entry, batch)
    entry.remember({
      lastSequence: batch.lastSequence,
      lastOffset: batch.lastOffset,
      offsetDelta: batch.lastOffset - batch.baseOffset,
      timestamp: batch.maxTimestamp,
    })
    if (batch.isTransactional && entry.transactionFirstOffset < 0) {
      entry.transactionFirstOffset = batch.baseOffset
      this.#open.set(batch.baseOffset, { producerId: batch.producerId, firstOffset: batch.baseOffset })
    }
    return null
  }

  #endTransaction(entry: ProducerEntry, batch: ProducerBatch): AbortedEntry | null {
    const { commit, coordinatorEpoch, timestamp } = batch.marker!
    const firstOffset = entry.transactionFirstOffset
    entry.coordinatorEpoch = coordinatorEpoch
    entry.lastTimestamp = timestamp
    entry.transactionFirstOffset = -1
    if (firstOffset < 0) return null
    this.#open.delete(firstOffset)
    this.#ended.set(firstOffset, batch.lastOffset)
    if (commit) return null
    const lastStableOffset = this.firstUndecidedOffset ?? batch.lastOffset + 1
    return { producerId: batch.producerId, firstOffset, lastOffset: batch.lastOffset, lastStableOffset }
  }

  /** First offset of the oldest open transaction. */
  get firstUndecidedOffset(): number | null {
    for (const { firstOffset } of this.#open.values()) return firstOffset
    return null
  }

  /** First offset of the oldest transaction that is open, or whose marker is not yet below the high watermark. */
  get firstUnstableOffset(): number | null {
    let first = this.firstUndecidedOffset
    for (const firstOffset of this.#ended.keys()) if (first === null || firstOffset < first) first = firstOffset
    return first
  }

  /** Transactions whose marker lies below the offset are decided for every reader. */
  highWatermarkMovedTo(offset: number): void {
    for (const [firstOffset, markerOffset] of this.#ended) if (markerOffset < offset) this.#ended.delete(firstOffset)
  }

  logStartMovedTo(offset: number): void {
    this.highWatermarkMovedTo(offset)
    if (this.endOffset < offset) this.endOffset = offset
  }

  /** Forgets producers that wrote nothing for so long (wall clock) and have no open transaction. */
  expire(now: number, expirationMs: number): void {
    for (const [producerId, entry] of this.#entries) if (isExpired(entry, now, expirationMs)) this.#entries.delete(producerId)
  }

  /** Starts again from what a snapshot holds; expired entries are left out. */
  load(entries: readonly ProducerEntry[], endOffset: number, now: number, expirationMs: number): void {
    this.replace(
      entries.filter((entry) => !isExpired(entry, now, expirationMs)),
      [],
      endOffset,
    )
  }

  /** Makes these the whole state. */
  replace(entries: readonly ProducerEntry[], ended: Iterable<readonly [number, number]>, endOffset: number): void {
    this.clear()
    for (const entry of entries) this.#entries.set(entry.producerId, entry)
    for (const [firstOffset, markerOffset] of ended) this.#ended.set(firstOffset, markerOffset)
    const open = entries.filter((entry) => entry.transactionFirstOffset >= 0)
    open.sort((a, b) => a.transactionFirstOffset - b.transactionFirstOffset)
    for (const { producerId, transactionFirstOffset: firstOffset } of open)
      this.#open.set(firstOffset, { producerId, firstOffset })
    this.endOffset = endOffset
  }

  clear(): void {
    this.#entries.clear()
    this.#open.clear()
    this.#ended.clear()
  }

  views(): ProducerStateView[] {
    return [...this.#entries.values()].map((entry) => ({
      producerId: entry.producerId,
      producerEpoch: entry.producerEpoch,
      lastSequence: entry.lastSequence,
      lastTimestamp: entry.lastTimestamp,
      coordinatorEpoch: entry.coordinatorEpoch,
      currentTransactionFirstOffset: entry.transactionFirstOffset,
    }))
  }
}

function duplicateOf(known: BatchMemory): Duplicate {
  const { lastOffset, offsetDelta, timestamp } = known
  return { kind: 'duplicate', firstOffset: lastOffset - offsetDelta, lastOffset, timestamp }
}

const isExpired = (entry: ProducerEntry, now: number, expirationMs: number): boolean =>
  entry.transactionFirstOffset < 0 && now - entry.lastTimestamp >= expirationMs

/** A coordinator that was replaced must not end transactions of its successor. */
function checkCoordinator(batch: ProducerBatch, entry: ProducerEntry): Refused | null {
  if (batch.marker === null || batch.marker.coordinatorEpoch >= entry.coordinatorEpoch) return null
  return refused(
    'TRANSACTION_COORDINATOR_FENCED',
    `coordinator epoch ${batch.marker.coordinatorEpoch} is older than ${entry.coordinatorEpoch}, seen for producer ${batch.producerId}`,
  )
}

/** An unknown producer may begin anywhere (its state may have expired); a known one goes on where it was, a new epoch at 0. */
function sequenceProblem(batch: ProducerBatch, entry: ProducerEntry): string | null {
  const { producerId, producerEpoch, baseSequence } = batch
  if (producerEpoch !== entry.producerEpoch) {
    if (baseSequence === 0 || entry.producerEpoch === NO_PRODUCER_EPOCH) return null
    return `producer ${producerId} begins epoch ${producerEpoch} with sequence ${baseSequence}`
  }
  const last = entry.lastSequence
  if (baseSequence === last + 1 || (baseSequence === 0 && last === 0x7fff_ffff)) return null
  return `producer ${producerId} sent sequence ${baseSequence} after ${last}`
}
