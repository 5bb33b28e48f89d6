/**
 * What a cleaning knows of transactions while it walks the log (KIP-98, KIP-534): which batches belong to aborted ones and go at once,
 * and whether a marker still ends anything. A marker stays as long as a batch of its transaction does; then it has its delete horizon
 * like a tombstone. Pure.
 */
import type { AbortedEntry } from '../txn-index.js'

/** What the end of a transaction says. */
export type TransactionEnd = 'commit' | 'abort'

interface OngoingAborted {
  readonly entry: AbortedEntry
  hasBatches: boolean
}

export class CleanedTransactions {
  /** By first offset; those before `#next` were begun. */
  readonly #aborted: readonly AbortedEntry[]
  #next = 0
  /** By producer id: what was begun and has not met its marker. */
  readonly #ongoingAborted = new Map<number, OngoingAborted>()
  readonly #ongoingCommitted = new Set<number>()

  /**
   * @param aborted all aborted transactions of the log that reach into what is walked
   * @param whenMarkerStays called with an aborted transaction whose marker stays: the transaction index of the segment names it
   */
  constructor(
    aborted: readonly AbortedEntry[],
    readonly whenMarkerStays: (entry: AbortedEntry) => void = () => {},
  ) {
    this.#aborted = [...aborted].sort((a, b) => a.firstOffset - b.firstOffset)
  }

  #beginUpTo(offset: number): void {
    for (
      let next = this.#aborted[this.#next];
      next !== undefined && next.firstOffset <= offset;
      next = this.#aborted[++this.#next]
    ) {
      if (!this.#ongoingAborted.has(next.producerId))
        this.#ongoingAborted.set(next.producerId, { entry: next, hasBatches: false })
    }
  }

  /** A batch of records. @returns whether its transaction was aborted */
  isAborted({ producerId, lastOffset }: { readonly producerId: number; readonly lastOffset: number }): boolean {
    this.#beginUpTo(lastOffset)
    const aborted = this.#ongoingAborted.get(producerId)
    if (aborted === undefined) this.#ongoingCommitted.add(producerId)
    else aborted.hasBatches = true
    return aborted !== undefined
  }

  /** A marker. @returns whether nothing of its transaction is left */
  endsNothing(
    { producerId, lastOffset }: { readonly producerId: number; readonly lastOffset: number },
    end: TransactionEnd,
  ): boolean {
    this.#beginUpTo(lastOffset)
    if (end === 'commit') return !this.#ongoingCommitted.delete(producerId)
    const aborted = this.#ongoingAborted.get(producerId)
    this.#ongoingAborted.delete(producerId)
    if (aborted === undefined || !aborted.hasBatches) return true
    this.whenMarkerStays(aborted.entry)
    return false
  }
}
