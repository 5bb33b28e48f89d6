/**
 * Sorted entries of a fixed size, and the floor search in them: what the offset index and the time index have in common.
 *
 * An index holds its file's own bytes and searches them in place (DESIGN 4.8): the warm end first, since most readers are near it,
 * then a guess by interpolation and a widening bracket around it. Nothing here touches the disk.
 */

/** Kafka's warm section: the last 8 KiB of an index answer nearly every lookup. */
const WARM_BYTES = 8192

/** A growing block of entries. `bytes` may be longer than what is filled. */
export abstract class SparseIndex {
  protected bytes: Buffer
  protected view: DataView
  #count: number

  /** `maxBytes` is `segment.index.bytes`; `bytes` are the entries of an existing file. */
  constructor(
    readonly baseOffset: number,
    readonly maxBytes: number,
    readonly entrySize: number,
    bytes: Buffer | null,
  ) {
    this.bytes = bytes ?? Buffer.alloc(0)
    this.view = viewOf(this.bytes)
    this.#count = Math.floor(this.bytes.length / entrySize)
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
    return this.bytes.subarray(from * this.entrySize, this.sizeInBytes)
  }

  /** Room for one more entry; the result is where it begins. */
  protected grow(): number {
    const at = this.sizeInBytes
    if (at + this.entrySize > this.bytes.length) {
      const larger = Buffer.alloc(Math.max(16 * this.entrySize, Math.min(at * 2, at + (1 << 20))))
      this.bytes.copy(larger, 0, 0, at)
      this.bytes = larger
      this.view = viewOf(larger)
    }
    this.#count++
    return at
  }

  protected cutTo(entryCount: number): void {
    this.#count = entryCount
  }

  protected get warmEntries(): number {
    return Math.floor(WARM_BYTES / this.entrySize)
  }

  /** Whether an offset fits the four bytes that an entry has for it. */
  canHold(offset: number): boolean {
    const relative = offset - this.baseOffset
    return relative >= 0 && relative <= 0x7fffffff
  }
}

const viewOf = (bytes: Buffer): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.length)

/** The last of the first `count` entries whose int32 at `at` is not above `target`; -1 if the first already is. */
export function floorSlot(view: DataView, stride: number, at: number, count: number, target: number, warm: number): number {
  if (count === 0) return -1
  let high = count - 1
  const top = view.getInt32(high * stride + at)
  if (top <= target) return high
  let low = Math.max(0, high - warm)
  let bottom = view.getInt32(low * stride + at)
  if (bottom > target) {
    if (low === 0) return -1
    high = low
    low = 0
    const first = view.getInt32(at)
    if (first > target) return -1
    const last = bottom
    bottom = first
    // Entries lie about evenly: guess, then widen a bracket around the guess until it holds the target.
    let guess = Math.min(high - 1, Math.max(1, Math.floor(((target - bottom) / (last - bottom)) * high)))
    let step = 4
    if (view.getInt32(guess * stride + at) <= target) {
      low = guess
      for (guess += step; guess < high && view.getInt32(guess * stride + at) <= target; guess += step) {
        low = guess
        step *= 2
      }
      high = Math.min(high, guess)
    } else {
      high = guess
      for (guess -= step; guess > low && view.getInt32(guess * stride + at) > target; guess -= step) {
        high = guess
        step *= 2
      }
      low = Math.max(low, guess)
    }
  }
  // value(low) <= target < value(high)
  while (high - low > 1) {
    const middle = (low + high) >>> 1
    if (view.getInt32(middle * stride + at) <= target) low = middle
    else high = middle
  }
  return low
}
