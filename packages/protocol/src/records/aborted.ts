/**
 * Pure: which batches of a fetched range belong to aborted transactions (read_committed only).
 * The broker lists (producer, first offset) of the aborted transactions that overlap the range; a producer's batches are dropped from there
 * until its abort marker. Source: the Fetch API's `abortedTransactions`.
 */
import type { RecordBatch } from './batch.js'
import { readControlRecord } from './control.js'

export interface AbortedTransaction {
  readonly producerId: number
  readonly firstOffset: number
}

export class AbortedTransactions {
  readonly #waiting: AbortedTransaction[]
  readonly #open = new Set<number>()

  constructor(aborted: readonly AbortedTransaction[] | null) {
    this.#waiting = [...(aborted ?? [])].sort((one, other) => other.firstOffset - one.firstOffset)
  }

  /** To be asked for each batch in order. `abortMarker`: the batch is the control batch that ends an aborted transaction. */
  hides(batch: { lastOffset: number; producerId: number; isTransactional: boolean; abortMarker: boolean }): boolean {
    while (this.#waiting.length > 0 && this.#waiting[this.#waiting.length - 1]!.firstOffset <= batch.lastOffset)
      this.#open.add(this.#waiting.pop()!.producerId)
    if (batch.abortMarker) {
      this.#open.delete(batch.producerId)
      return true
    }
    return batch.isTransactional && this.#open.has(batch.producerId)
  }
  /**
   * The same for a batch as it was read.
   * @throws RecordsError for a control batch whose record cannot be read
   */
  hidesBatch(batch: RecordBatch): boolean {
    const { lastOffset, producerId, isTransactional } = batch
    return this.hides({ lastOffset, producerId, isTransactional, abortMarker: batch.isControl && isAbortMarker(batch) })
  }
}

function isAbortMarker(batch: RecordBatch): boolean {
  for (const record of batch.records()) return readControlRecord(record).type === 'ABORT'
  return false
}
