/**
 * The transaction index of a segment (`.txnindex`): the aborted transactions whose abort marker lies in it. A segment without
 * one has no such file.
 *
 *   entry (34 bytes):  | version int16 = 0 | producer id int64 | first offset int64 | last offset int64 | last stable offset int64 |
 *
 * Valid if and only if: the size is a multiple of 34, every version is 0, last offsets rise and lie in the segment.
 * `lastOffset` is the marker's. `lastStableOffset` is what it was once the marker was written: no later entry, here or in a later
 * segment, can begin before it, so a search may stop there. Rebuilt from the data file and the producer state before it.
 */
import { fixed, layout } from '@mq/protocol'

const ABORTED = layout({
  version: fixed.int16, //           0
  producerId: fixed.int64, //        2
  firstOffset: fixed.int64, //      10
  lastOffset: fixed.int64, //       18
  lastStableOffset: fixed.int64, // 26
}) //                               34

export const TXN_ENTRY_BYTES: number = ABORTED.size

export interface AbortedEntry {
  readonly producerId: number
  readonly firstOffset: number
  readonly lastOffset: number
  readonly lastStableOffset: number
}

export class TxnIndex {
  readonly #entries: AbortedEntry[]
  /** Counts changes: whoever writes the file knows by it whether it is up to date. */
  changes = 0

  constructor(entries: readonly AbortedEntry[] = []) {
    this.#entries = [...entries]
  }

  get entries(): readonly AbortedEntry[] {
    return this.#entries
  }

  append(entry: AbortedEntry): void {
    this.#entries.push(entry)
    this.changes++
  }

  /** Drops transactions whose marker lies at or after `offset`. */
  truncateTo(offset: number): void {
    while ((this.#entries.at(-1)?.lastOffset ?? -1) >= offset) {
      this.#entries.pop()
      this.changes++
    }
  }

  clear(): void {
    this.#entries.length = 0
    this.changes++
  }

  /**
   * Adds to `found` what overlaps [from, upTo).
   * @returns whether no later segment can hold more
   */
  collect(from: number, upTo: number, found: { producerId: number; firstOffset: number }[]): boolean {
    for (const { producerId, firstOffset, lastOffset, lastStableOffset } of this.#entries) {
      if (lastOffset >= from && firstOffset < upTo) found.push({ producerId, firstOffset })
      if (lastStableOffset >= upTo) return true
    }
    return false
  }

  toBytes(): Buffer {
    const bytes = Buffer.alloc(this.#entries.length * TXN_ENTRY_BYTES)
    for (const [number, entry] of this.#entries.entries()) {
      const at = number * TXN_ENTRY_BYTES
      ABORTED.producerId.set(bytes, at, entry.producerId)
      ABORTED.firstOffset.set(bytes, at, entry.firstOffset)
      ABORTED.lastOffset.set(bytes, at, entry.lastOffset)
      ABORTED.lastStableOffset.set(bytes, at, entry.lastStableOffset)
    }
    return bytes
  }
}

/** The entries of a `.txnindex` file, or what is wrong with it. */
export function readTxnIndex(bytes: Buffer, baseOffset: number): TxnIndex | { readonly problem: string } {
  if (bytes.length % TXN_ENTRY_BYTES !== 0) return { problem: `size ${bytes.length} is no multiple of ${TXN_ENTRY_BYTES}` }
  const entries: AbortedEntry[] = []
  for (let at = 0; at < bytes.length; at += TXN_ENTRY_BYTES) {
    const entry = {
      producerId: ABORTED.producerId.get(bytes, at),
      firstOffset: ABORTED.firstOffset.get(bytes, at),
      lastOffset: ABORTED.lastOffset.get(bytes, at),
      lastStableOffset: ABORTED.lastStableOffset.get(bytes, at),
    }
    if (ABORTED.version.get(bytes, at) !== 0) return { problem: `entry ${entries.length}: unknown version` }
    if (entry.lastOffset < baseOffset || entry.lastOffset <= (entries.at(-1)?.lastOffset ?? -1)) {
      return { problem: `entry ${entries.length}: last offset ${entry.lastOffset}` }
    }
    if (entry.firstOffset > entry.lastOffset || entry.firstOffset < 0) return { problem: `entry ${entries.length}: first offset` }
    entries.push(entry)
  }
  return new TxnIndex(entries)
}
