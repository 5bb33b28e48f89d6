/**
 * What a partition remembers of one producer: its epoch, its last five batches, its open transaction.
 */
import { NO_PRODUCER_EPOCH, NO_SEQUENCE, NO_TIMESTAMP } from '@mq/protocol'

/** Kafka keeps five: as many requests as an idempotent producer may have in flight. */
export const BATCHES_KEPT = 5

export interface BatchMemory {
  readonly lastSequence: number
  readonly lastOffset: number
  /** Last offset minus first offset. */
  readonly offsetDelta: number
  readonly timestamp: number
}

/** Times that a number cannot hold exactly count as the nearest one that it can: they are stored and told again. */
export const exactly = (timestamp: number): number =>
  Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, timestamp))

/** Sequence numbers wrap from 2^31-1 to 0. */
export function firstSequenceOf(batch: BatchMemory): number {
  const first = batch.lastSequence - batch.offsetDelta
  return batch.lastSequence >= 0 && first < 0 ? first + 0x8000_0000 : first
}

/** One batch as the producer state sees it: header fields after offsets were given, and the marker of a control batch. */
export interface ProducerBatch {
  readonly producerId: number
  readonly producerEpoch: number
  readonly baseSequence: number
  readonly lastSequence: number
  readonly baseOffset: number
  readonly lastOffset: number
  readonly maxTimestamp: number
  readonly isTransactional: boolean
  /** Set for a control batch that ends a transaction. */
  readonly marker: TransactionMarker | null
  /** A control batch of another kind changes nothing. */
  readonly isControl: boolean
}

export interface TransactionMarker {
  readonly commit: boolean
  readonly coordinatorEpoch: number
  readonly timestamp: number
}

export class ProducerEntry {
  producerEpoch = NO_PRODUCER_EPOCH
  coordinatorEpoch = -1
  lastTimestamp = NO_TIMESTAMP
  /** First offset of the open transaction, -1 without one. */
  transactionFirstOffset = -1
  /** Oldest first, at most five, all of the current epoch. */
  readonly batches: BatchMemory[] = []

  constructor(readonly producerId: number) {}

  /** -1 when no batch of the current epoch is known. */
  get lastSequence(): number {
    return this.batches.at(-1)?.lastSequence ?? NO_SEQUENCE
  }

  get lastBatch(): BatchMemory | null {
    return this.batches.at(-1) ?? null
  }

  /** The batch with exactly these sequence numbers, if it is one of the last five. */
  find(producerEpoch: number, baseSequence: number, lastSequence: number): BatchMemory | null {
    if (producerEpoch !== this.producerEpoch) return null
    return this.batches.find((batch) => batch.lastSequence === lastSequence && firstSequenceOf(batch) === baseSequence) ?? null
  }

  enterEpoch(producerEpoch: number): void {
    if (producerEpoch === this.producerEpoch) return
    this.batches.length = 0
    this.producerEpoch = producerEpoch
  }

  remember(batch: BatchMemory): void {
    if (this.batches.length === BATCHES_KEPT) this.batches.shift()
    this.batches.push(batch)
    this.lastTimestamp = batch.timestamp
  }
}
