/** Holds the entries of a transaction index against the abort markers in its segment, in one pass beside a scan. */
import type { ProducerBatch } from '../producer-entry.js'
import { type AbortedEntry, readTxnIndex, TXN_ENTRY_BYTES } from '../txn-index.js'
import type { IndexFault } from './index-walk.js'

export class TxnWalk {
  readonly #entries: readonly AbortedEntry[]
  readonly #isSound: boolean
  #slot = 0

  /** `bytes` null: there is no file, as of most segments. */
  constructor(
    bytes: Buffer | null,
    baseOffset: number,
    readonly report: (fault: IndexFault) => void,
  ) {
    const read = bytes === null ? null : readTxnIndex(bytes, baseOffset)
    this.#isSound = read === null || !('problem' in read)
    this.#entries = read === null || 'problem' in read ? [] : read.entries
    if (read !== null && 'problem' in read) report({ problem: read.problem, isStructural: true })
  }

  /** An abort marker; `expected` is the entry that it makes, null when no record of its transaction is known here. */
  marker({ producerId, lastOffset }: ProducerBatch, expected: AbortedEntry | null): void {
    if (!this.#isSound) return
    for (; (this.#entries[this.#slot]?.lastOffset ?? Number.POSITIVE_INFINITY) < lastOffset; this.#slot++) this.#stray()
    const entry = this.#entries[this.#slot]
    if (entry?.lastOffset !== lastOffset) {
      if (expected === null) return
      const problem = `no entry for the transaction of producer ${producerId} from offset ${expected.firstOffset} on`
      this.report({ offset: lastOffset, problem: `${problem}, aborted at ${lastOffset}`, isStructural: false })
      return
    }
    const problem = entryProblem(entry, producerId, expected)
    if (problem !== null) this.#wrong(problem)
    this.#slot++
  }

  end(): void {
    for (; this.#slot < this.#entries.length; this.#slot++) this.#stray()
  }

  #stray(): void {
    this.#wrong(`there is no abort marker at offset ${this.#entries[this.#slot]!.lastOffset}`)
  }

  #wrong(problem: string): void {
    const position = this.#slot * TXN_ENTRY_BYTES
    const offset = this.#entries[this.#slot]!.lastOffset
    this.report({ position, offset, problem: `entry ${this.#slot}: ${problem}`, isStructural: false })
  }
}

/** A cleaned segment may have lost the first records of a transaction: an entry may begin earlier than what is left, never later. */
function entryProblem(entry: AbortedEntry, producerId: number, expected: AbortedEntry | null): string | null {
  if (entry.producerId !== producerId) return `producer ${entry.producerId}, the marker is of ${producerId}`
  if (expected === null) return null
  if (entry.firstOffset > expected.firstOffset) return `first offset ${entry.firstOffset}, it began at ${expected.firstOffset}`
  if (entry.lastStableOffset > expected.lastStableOffset)
    return `last stable offset ${entry.lastStableOffset}, it was ${expected.lastStableOffset}`
  return null
}
