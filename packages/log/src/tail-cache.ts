/**
 * What was appended last, kept in memory for the readers at the end of the logs: bounded by bytes for the whole broker, the
 * oldest goes first. Nearly all fetches are answered from here without the disk (DESIGN 4.6).
 *
 * What counts is the memory that is held: a batch is a view into the slab that a connection read into, and one batch keeps all of its slab.
 * A slab that no entry views any more is released; readers take a hold of their own.
 *
 * Invariant: the entries of one log are what was appended to it from some offset on, without a gap, to its end.
 */
import * as protocol from '@mq/protocol'

/** Bound once: a use through the package's door is a look-up in a large table. */
const { hold, release } = protocol

/** Memory that entries are views into. */
interface Piece {
  readonly memory: ArrayBufferLike
  views: number
}

interface Entry {
  readonly owner: TailOfLog
  readonly firstOffset: number
  readonly lastOffset: number
  /** Null once it is dropped. */
  bytes: Buffer | null
  piece: Piece | null
}

/** What an entry costs beside its bytes: itself, its Buffer, its places in two lists. Of small batches that is the most. */
const ENTRY_BYTES = 256
/** A cache of a few bytes, as tests have it, holds as many all the same. */
const FEWEST_ENTRIES = 64

export class TailCache {
  /** From `#oldest` on; those that are dropped stay in it for a while. */
  #order: Entry[] = []
  #oldest = 0
  #kept = 0
  #sizeInBytes = 0
  readonly #pieces = new Map<ArrayBufferLike, Piece>()
  /** The one that was viewed last: what comes next mostly lies in it, too. */
  #latest: Piece | null = null

  readonly #mostEntries: number

  constructor(readonly maxBytes: number) {
    this.#mostEntries = Math.max(FEWEST_ENTRIES, Math.floor(maxBytes / ENTRY_BYTES))
  }

  get sizeInBytes(): number {
    return this.#sizeInBytes
  }

  /** Entries in memory, dropped ones that were not cleared away yet among them. */
  get entryCount(): number {
    return this.#order.length
  }

  tailOf(): TailOfLog {
    return new TailOfLog(this)
  }

  add(entry: Entry): void {
    const bytes = entry.bytes!
    this.#order.push(entry)
    this.#kept++
    hold(bytes)
    const piece = this.#pieceOf(bytes.buffer)
    piece.views++
    entry.piece = piece
    while (this.#sizeInBytes > this.maxBytes || this.#kept > this.#mostEntries) {
      const oldest = this.#order[this.#oldest++]!
      if (oldest.bytes !== null) oldest.owner.dropOldest()
    }
    // Logs that are deleted leave dropped entries between those of others.
    if (this.#order.length > 1024 && this.#order.length > this.#kept * 2) {
      this.#order = this.#order.filter((each) => each.bytes !== null)
      this.#oldest = 0
    }
  }

  #pieceOf(memory: ArrayBufferLike): Piece {
    if (this.#latest?.memory === memory) return this.#latest
    let piece = this.#pieces.get(memory)
    if (piece === undefined) {
      piece = { memory, views: 0 }
      this.#pieces.set(memory, piece)
      this.#sizeInBytes += memory.byteLength
    }
    this.#latest = piece
    return piece
  }

  release(entry: Entry): void {
    const piece = entry.piece!
    if (--piece.views === 0) {
      this.#pieces.delete(piece.memory)
      this.#sizeInBytes -= piece.memory.byteLength
      if (this.#latest === piece) this.#latest = null
    }
    release(entry.bytes!)
    entry.bytes = null
    entry.piece = null
    this.#kept--
  }
}

export interface TailRead {
  readonly slices: readonly Buffer[]
  readonly sizeInBytes: number
  /** One after the last offset of the last slice. */
  readonly nextOffset: number
}

export class TailOfLog {
  #entries: Entry[] = []
  #start = 0

  constructor(readonly cache: TailCache) {}

  /** Exactly one batch, as it went to the disk. */
  add(firstOffset: number, lastOffset: number, bytes: Buffer): void {
    if (bytes.buffer.byteLength > this.cache.maxBytes) {
      this.clear()
      return
    }
    const entry: Entry = { owner: this, firstOffset, lastOffset, bytes, piece: null }
    this.#entries.push(entry)
    this.cache.add(entry)
  }

  dropOldest(): void {
    this.cache.release(this.#entries[this.#start++]!)
    if (this.#start > 64 && this.#start * 2 > this.#entries.length) {
      this.#entries = this.#entries.slice(this.#start)
      this.#start = 0
    }
  }

  /** What lies before the offset is read from the disk from now on. */
  dropBefore(offset: number): void {
    while ((this.#entries[this.#start]?.lastOffset ?? offset) < offset) this.dropOldest()
  }

  clear(): void {
    for (let at = this.#start; at < this.#entries.length; at++) this.cache.release(this.#entries[at]!)
    this.#entries = []
    this.#start = 0
  }

  /**
   * Whole batches from the one that holds `offset` on, none of which reaches `limitOffset`; null when it is no longer here.
   * With `minOneMessage` the first is taken whatever its size. Each slice is held for the reader.
   */
  read(offset: number, limitOffset: number, maxBytes: number, minOneMessage: boolean): TailRead | null {
    const entries = this.#entries
    let low = this.#start
    if (low >= entries.length || entries[low]!.firstOffset > offset) return null
    let high = entries.length - 1
    while (low < high) {
      const middle = (low + high) >>> 1
      if (entries[middle]!.lastOffset < offset) low = middle + 1
      else high = middle
    }
    const slices: Buffer[] = []
    let sizeInBytes = 0
    let nextOffset = offset
    for (let at = low; at < entries.length; at++) {
      const { lastOffset, bytes } = entries[at]!
      if (lastOffset < offset) break
      if (lastOffset >= limitOffset) break
      if (sizeInBytes + bytes!.length > maxBytes && !(minOneMessage && slices.length === 0)) break
      hold(bytes!)
      slices.push(bytes!)
      sizeInBytes += bytes!.length
      nextOffset = lastOffset + 1
    }
    return { slices, sizeInBytes, nextOffset }
  }
}
