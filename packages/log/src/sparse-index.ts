/**
 * Sorted entries of a fixed size: what the offset index and the time index have in common. An index is decoded once, into words of this
 * machine's byte order (DESIGN 4.8): a search over an Int32Array takes half the time of one over the file's own bytes. Nothing here
 * touches the disk.
 */

const WORD_BYTES = 4
/** Files are big endian. */
const MUST_SWAP = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1

/** The words of an index file; bytes behind the last whole one are left out. */
export function wordsOf(bytes: Buffer): Int32Array {
  const words = new Int32Array(Math.floor(bytes.length / WORD_BYTES))
  const copy = Buffer.from(words.buffer)
  bytes.copy(copy)
  if (MUST_SWAP) copy.swap32()
  return words
}

/** A growing block of entries. `words` may be longer than what is filled. */
export abstract class SparseIndex {
  protected words: Int32Array
  readonly #wordsAnEntry: number
  #count: number

  /** `maxBytes` is `segment.index.bytes`; `bytes` are the entries of an existing file. */
  constructor(
    readonly baseOffset: number,
    readonly maxBytes: number,
    readonly entrySize: number,
    bytes: Buffer | null,
  ) {
    this.words = bytes === null ? new Int32Array(0) : wordsOf(bytes)
    this.#wordsAnEntry = entrySize / WORD_BYTES
    this.#count = Math.floor(this.words.length / this.#wordsAnEntry)
  }

  get entryCount(): number {
    return this.#count
  }

  get sizeInBytes(): number {
    return this.#count * this.entrySize
  }

  /** How many entries the file has room for: a full index makes the segment roll. */
  get maxEntries(): number {
    return Math.floor(this.maxBytes / this.entrySize)
  }

  /** The entries from number `from` on, as they stand in the file. */
  entryBytes(from = 0): Buffer {
    const bytes = Buffer.from(this.words.slice(from * this.#wordsAnEntry, this.#count * this.#wordsAnEntry).buffer)
    return MUST_SWAP ? bytes.swap32() : bytes
  }

  /** Room for one more entry; the result is the number of its first word. */
  protected grow(): number {
    const at = this.#count * this.#wordsAnEntry
    if (at + this.#wordsAnEntry > this.words.length) {
      const larger = new Int32Array(Math.max(16 * this.#wordsAnEntry, Math.min(at * 2, at + (1 << 18))))
      larger.set(this.words)
      this.words = larger
    }
    this.#count++
    return at
  }

  protected cutTo(entryCount: number): void {
    this.#count = entryCount
  }

  /** Whether an offset fits the four bytes that an entry has for it. */
  canHold(offset: number): boolean {
    const relative = offset - this.baseOffset
    return relative >= 0 && relative <= 0x7fffffff
  }
}

/** The last of the first `count` entries whose word at `at` is not above `target`; -1 if the first already is. */
export function floorSlot(words: Int32Array, stride: number, at: number, count: number, target: number): number {
  let low = -1
  let high = count
  while (high - low > 1) {
    const middle = (low + high) >>> 1
    if (words[middle * stride + at]! <= target) low = middle
    else high = middle
  }
  return low
}
