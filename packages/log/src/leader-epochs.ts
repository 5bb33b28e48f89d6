/**
 * Which leader epoch began at which offset (KIP-101), and where a follower must cut. Pure; the file is `leader-epoch-checkpoint`.
 *
 * Invariant: epochs rise and so do their start offsets, from entry to entry.
 */

export interface EpochEntry {
  readonly epoch: number
  readonly startOffset: number
}

export const NO_EPOCH = -1

export class LeaderEpochs {
  #entries: EpochEntry[]

  /** Entries that break the invariant are dropped, the later ones win. */
  constructor(entries: readonly EpochEntry[] = []) {
    this.#entries = []
    for (const entry of entries) this.assign(entry.epoch, entry.startOffset)
  }

  get entries(): readonly EpochEntry[] {
    return this.#entries
  }

  /** -1 when there is none. */
  get latest(): number {
    return this.#entries.at(-1)?.epoch ?? NO_EPOCH
  }

  get earliest(): EpochEntry | null {
    return this.#entries[0] ?? null
  }

  /**
   * The epoch begins at the offset; what contradicts it (a higher epoch, a later start) goes.
   * @returns whether anything changed
   */
  assign(epoch: number, startOffset: number): boolean {
    const last = this.#entries.at(-1)
    if (last !== undefined && last.epoch === epoch && startOffset >= last.startOffset) return false
    const keep = this.#entries.findIndex((entry) => entry.epoch >= epoch || entry.startOffset >= startOffset)
    if (keep >= 0) this.#entries.length = keep
    this.#entries.push({ epoch, startOffset })
    return true
  }

  /**
   * The largest known epoch not above the one asked for, and where it ends: at the log's end for the latest, else where the next
   * one starts. Null when the epoch is above all that is known, or nothing is known.
   */
  endOffsetFor(epoch: number, logEndOffset: number): { readonly epoch: number; readonly endOffset: number } | null {
    if (epoch < 0) return null
    if (epoch === this.latest) return { epoch, endOffset: logEndOffset }
    const higher = this.#entries.find((entry) => entry.epoch > epoch)
    if (higher === undefined) return null
    const floor = this.#entries.findLast((entry) => entry.epoch <= epoch)
    return { epoch: floor?.epoch ?? epoch, endOffset: higher.startOffset }
  }

  /** The epoch that holds the offset by what is known; -1 when none does. */
  epochAt(offset: number): number {
    return this.#entries.findLast(({ startOffset }) => startOffset <= offset)?.epoch ?? NO_EPOCH
  }

  /** A record of this epoch was found: an entry that has it begin later is from before records were lost. */
  found({ epoch, startOffset }: EpochEntry): void {
    const known = this.#entries.find((entry) => entry.epoch === epoch)
    if (known === undefined || known.startOffset > startOffset) this.assign(epoch, startOffset)
  }

  /** The log now ends at `endOffset`. @returns whether anything changed */
  truncateFromEnd(endOffset: number): boolean {
    const before = this.#entries.length
    this.#entries = this.#entries.filter((entry) => entry.startOffset < endOffset)
    return this.#entries.length !== before
  }

  /** The log now starts at `startOffset`: the epoch that holds it starts there. @returns whether anything changed */
  truncateFromStart(startOffset: number): boolean {
    const older = this.#entries.filter((entry) => entry.startOffset <= startOffset)
    const current = older.at(-1)
    if (current === undefined || (older.length === 1 && current.startOffset === startOffset)) return false
    this.#entries = [{ epoch: current.epoch, startOffset }, ...this.#entries.slice(older.length)]
    return true
  }

  clear(): void {
    this.#entries = []
  }
}
