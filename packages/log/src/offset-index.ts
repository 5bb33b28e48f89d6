/**
 * The offset index of a segment (`.index`): from an offset to the place in the data file where to start looking for it.
 *
 *   entry (8 bytes):  | relative offset int32 | position int32 |
 *
 * Valid if and only if: the size is a multiple of 8, offsets rise, positions rise, none lies before the segment's base offset.
 * An entry says: the batch that begins at `position` ends with `offset`. Everything at or after an offset is at or after the
 * position of its floor entry, so a reader walks on from there. Rebuilt from the data file at any time.
 *
 * A look-up goes from the outside in, because what it costs is memory that is in no cache near by:
 *
 *   |s-----|s-----|s-----|s-----|s--www|     w: the warm end, where nearly all readers are, is tried first
 *      s: each 512th offset, once more in an array that fits a cache: finds the block. In it offsets lie about evenly, so the place is
 *      guessed, and a bracket around the guess widens until it holds the offset.
 */
import { floorSlot, SparseIndex, wordsOf } from './sparse-index.js'

export const OFFSET_ENTRY_BYTES = 8
const WORDS = 2
const POSITION_AT = 1
/** Kafka's warm section: the last 8 KiB of an index answer nearly every look-up. */
const WARM_ENTRIES = 1024
const BLOCK_ENTRIES = 512

export interface OffsetPosition {
  readonly offset: number
  readonly position: number
}

export class OffsetIndex extends SparseIndex {
  /** The relative offset of entries 0, 512, 1024 …; what lies beyond the last entry does not count. */
  #samples: Int32Array

  constructor(baseOffset: number, maxBytes: number, bytes: Buffer | null = null) {
    super(baseOffset, maxBytes, OFFSET_ENTRY_BYTES, bytes)
    this.#samples = new Int32Array(Math.ceil(this.entryCount / BLOCK_ENTRIES))
    for (let block = 0; block < this.#samples.length; block++) this.#samples[block] = this.words[block * BLOCK_ENTRIES * WORDS]!
  }

  get isFull(): boolean {
    return this.entryCount >= this.maxEntries
  }

  /** The base offset when it is empty. */
  get lastOffset(): number {
    return this.entryCount === 0 ? this.baseOffset : this.offsetAt(this.entryCount - 1)
  }

  offsetAt(slot: number): number {
    return this.baseOffset + this.words[slot * WORDS]!
  }

  positionAt(slot: number): number {
    return this.words[slot * WORDS + POSITION_AT]!
  }

  /** Offsets must rise; one that does not is left out (the entry before it is as good). */
  append(offset: number, position: number): void {
    const slot = this.entryCount
    if (slot > 0 && offset <= this.lastOffset) return
    const at = this.grow()
    this.words[at] = offset - this.baseOffset
    this.words[at + POSITION_AT] = position
    if (slot % BLOCK_ENTRIES === 0) this.#sample(slot / BLOCK_ENTRIES, offset - this.baseOffset)
  }

  #sample(block: number, relative: number): void {
    if (block >= this.#samples.length) {
      const larger = new Int32Array(Math.max(1, block * 2))
      larger.set(this.#samples)
      this.#samples = larger
    }
    this.#samples[block] = relative
  }

  /** Number of the last entry at or below `offset`, -1 if there is none. */
  floorSlot(offset: number): number {
    const { words } = this
    const target = Math.min(offset - this.baseOffset, 0x7fffffff)
    const last = this.entryCount - 1
    if (last < 0 || words[0]! > target) return -1
    const top = words[last * WORDS]!
    if (top <= target) return last
    const warm = Math.max(0, last - WARM_ENTRIES)
    const bottom = words[warm * WORDS]!
    if (bottom <= target) return floorBetween(words, { start: warm, bottom, end: last, top }, target)
    const samples = this.#samples
    const block = blockOf(samples, Math.ceil((last + 1) / BLOCK_ENTRIES), target)
    const start = block * BLOCK_ENTRIES
    const end = start + BLOCK_ENTRIES
    const range =
      end <= last
        ? { start, bottom: samples[block]!, end, top: samples[block + 1]! }
        : { start, bottom: samples[block]!, end: last, top }
    return floorBetween(words, range, target)
  }

  /** Where to begin a search for `offset`: the floor entry, or the start of the segment. */
  lookup(offset: number): OffsetPosition {
    const slot = this.floorSlot(offset)
    return slot < 0 ? { offset: this.baseOffset, position: 0 } : { offset: this.offsetAt(slot), position: this.positionAt(slot) }
  }

  /** The last entry that begins at or before `position`; null if none does. */
  floorPosition(position: number): OffsetPosition | null {
    const slot = floorSlot(this.words, WORDS, POSITION_AT, this.entryCount, Math.min(position, 0x7fffffff))
    return slot < 0 ? null : { offset: this.offsetAt(slot), position: this.positionAt(slot) }
  }

  /** Drops entries at and above `offset`. */
  truncateTo(offset: number): void {
    const slot = this.floorSlot(offset)
    this.cutTo(slot >= 0 && this.offsetAt(slot) === offset ? slot : slot + 1)
  }

  clear(): void {
    this.cutTo(0)
  }
}

/**
 * The last of the first `count` samples that is not above `target`; the first is not. Without a branch that depends on what is found: half
 * of these would be foretold wrongly, and each such one costs as much as three steps.
 */
function blockOf(samples: Int32Array, count: number, target: number): number {
  let block = 0
  for (let left = count; left > 1; ) {
    const half = left >>> 1
    const isAbove = (target - samples[block + half]!) >> 31 // all ones, or none
    block += half & ~isAbove
    left -= half
  }
  return block
}

/** Entries from number `start`, whose offset is `bottom`, to number `end`, whose offset is `top`. */
interface Range {
  readonly start: number
  readonly bottom: number
  readonly end: number
  readonly top: number
}

/** The last entry of the range that is not above `target`; its bottom is not, its top is. */
function floorBetween(words: Int32Array, { start, bottom, end, top }: Range, target: number): number {
  let low = start + Math.floor(((target - bottom) / (top - bottom)) * (end - start))
  let high: number
  let step = 4
  if (words[low * WORDS]! <= target) {
    for (high = low + step; high < end && words[high * WORDS]! <= target; high += step) {
      low = high
      step *= 2
    }
    high = Math.min(high, end)
  } else {
    high = low
    for (low = high - step; low > start && words[low * WORDS]! > target; low -= step) {
      high = low
      step *= 2
    }
    low = Math.max(low, start)
  }
  while (high - low > 1) {
    const middle = (low + high) >>> 1
    if (words[middle * WORDS]! <= target) low = middle
    else high = middle
  }
  return low
}

/** What is wrong with the bytes of a `.index` file; null if nothing is. */
export function offsetIndexProblem(bytes: Buffer, dataBytes: number): string | null {
  if (bytes.length % OFFSET_ENTRY_BYTES !== 0) return `size ${bytes.length} is no multiple of ${OFFSET_ENTRY_BYTES}`
  const words = wordsOf(bytes)
  let offset = -1
  let position = -1
  for (let at = 0; at < words.length; at += WORDS) {
    const nextOffset = words[at]!
    const nextPosition = words[at + POSITION_AT]!
    if (nextOffset <= offset && at > 0) return `entry ${at / WORDS}: offset does not rise`
    if (nextOffset < 0) return `entry ${at / WORDS}: offset before the base offset`
    if (nextPosition <= position || nextPosition >= dataBytes) return `entry ${at / WORDS}: position ${nextPosition}`
    offset = nextOffset
    position = nextPosition
  }
  return null
}
