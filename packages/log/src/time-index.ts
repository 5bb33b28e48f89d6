/**
 * The time index of a segment (`.timeindex`): from a timestamp to an offset.
 *
 *   entry (12 bytes):  | timestamp int64 | relative offset int32 |
 *
 * Valid if and only if: the size is a multiple of 12, timestamps rise, offsets do not fall, none lies before the base offset.
 * An entry (t, o) says: no record before the batch that ends with o (o included) is later than t. The last entry of a segment
 * that is no longer active is its largest timestamp. Rebuilt from the data file at any time.
 */
import { floorSlot, SparseIndex, wordsOf } from './sparse-index.js'

export const TIME_ENTRY_BYTES = 12
const WORDS = 3
const OFFSET_AT = 2
const NO_TIMESTAMP = -1
/** What the largest int64 becomes as a number. */
const LARGEST = 2 ** 63

export interface TimeEntry {
  readonly timestamp: number
  readonly offset: number
}

const timestampAt = (words: Int32Array, slot: number): number =>
  words[slot * WORDS]! * 0x1_0000_0000 + (words[slot * WORDS + 1]! >>> 0)

export class TimeIndex extends SparseIndex {
  constructor(baseOffset: number, maxBytes: number, bytes: Buffer | null = null) {
    super(baseOffset, maxBytes, TIME_ENTRY_BYTES, bytes)
  }

  /** One entry is kept free: the largest timestamp is put in when the segment ends. */
  get isFull(): boolean {
    return this.entryCount >= this.maxEntries - 1
  }

  entryAt(slot: number): TimeEntry {
    return { timestamp: timestampAt(this.words, slot), offset: this.baseOffset + this.words[slot * WORDS + OFFSET_AT]! }
  }

  get lastEntry(): TimeEntry {
    return this.entryCount === 0 ? { timestamp: NO_TIMESTAMP, offset: this.baseOffset } : this.entryAt(this.entryCount - 1)
  }

  /** Only a timestamp later than the last one makes an entry. */
  append(timestamp: number, offset: number): void {
    const last = this.lastEntry
    if (timestamp <= last.timestamp || offset < last.offset) return
    const at = this.grow()
    const high = timestamp < LARGEST ? Math.floor(timestamp / 0x1_0000_0000) : 0x7fff_ffff
    this.words[at] = high
    this.words[at + 1] = timestamp < LARGEST ? timestamp - high * 0x1_0000_0000 : 0xffff_ffff
    this.words[at + OFFSET_AT] = offset - this.baseOffset
  }

  /** The last entry whose timestamp is not above the one asked for; the start of the segment when there is none. */
  lookup(timestamp: number): TimeEntry {
    const count = this.entryCount
    if (count === 0 || timestampAt(this.words, 0) > timestamp) return { timestamp: NO_TIMESTAMP, offset: this.baseOffset }
    let low = 0
    let high = count
    while (high - low > 1) {
      const middle = (low + high) >>> 1
      if (timestampAt(this.words, middle) <= timestamp) low = middle
      else high = middle
    }
    return this.entryAt(low)
  }

  /** Drops entries at and above `offset`. */
  truncateTo(offset: number): void {
    const relative = Math.min(offset - this.baseOffset, 0x7fffffff)
    const slot = floorSlot(this.words, WORDS, OFFSET_AT, this.entryCount, relative)
    this.cutTo(slot >= 0 && this.entryAt(slot).offset === offset ? slot : slot + 1)
  }

  clear(): void {
    this.cutTo(0)
  }
}

/** What is wrong with the bytes of a `.timeindex` file; null if nothing is. */
export function timeIndexProblem(bytes: Buffer): string | null {
  if (bytes.length % TIME_ENTRY_BYTES !== 0) return `size ${bytes.length} is no multiple of ${TIME_ENTRY_BYTES}`
  const words = wordsOf(bytes)
  for (let slot = 0; slot < words.length / WORDS; slot++) {
    const relative = words[slot * WORDS + OFFSET_AT]!
    if (relative < 0) return `entry ${slot}: offset before the base offset`
    if (slot === 0) continue
    if (timestampAt(words, slot) <= timestampAt(words, slot - 1)) return `entry ${slot}: timestamp does not rise`
    if (relative < words[(slot - 1) * WORDS + OFFSET_AT]!) return `entry ${slot}: offset falls`
  }
  return null
}
