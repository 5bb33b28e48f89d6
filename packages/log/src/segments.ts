/**
 * The segments of a log, ordered by base offset. Invariant: there is at least one, the last is the active one.
 */
import type { Segment } from './segment.js'

export class Segments {
  #list: Segment[] = []

  get count(): number {
    return this.#list.length
  }

  /** Another array whenever a segment was removed. */
  get all(): readonly Segment[] {
    return this.#list
  }

  get first(): Segment {
    return this.#list[0]!
  }

  get active(): Segment {
    return this.#list[this.#list.length - 1]!
  }

  get sizeInBytes(): number {
    let sum = 0
    for (const { sizeInBytes } of this.#list) sum += sizeInBytes
    return sum
  }

  add(segment: Segment): void {
    const at = this.#floor(segment.baseOffset)
    this.#list.splice(at + 1, 0, segment)
  }

  remove(segment: Segment): void {
    this.#list = this.#list.filter((other) => other !== segment)
  }

  /** One takes the place of neighbours. */
  replace(old: readonly Segment[], next: Segment): void {
    const left = this.#list.filter((segment) => !old.includes(segment))
    const at = left.findIndex(({ baseOffset }) => baseOffset > next.baseOffset)
    this.#list = left.toSpliced(at < 0 ? left.length : at, 0, next)
  }

  /** Number of the last segment that begins at or before the offset, -1 if none does. */
  #floor(offset: number): number {
    const list = this.#list
    if (list.length === 0 || list[0]!.baseOffset > offset) return -1
    let low = 0
    let high = list.length
    // Nearly every reader is in the active segment.
    if (list[high - 1]!.baseOffset <= offset) return high - 1
    while (high - low > 1) {
      const middle = (low + high) >>> 1
      if (list[middle]!.baseOffset <= offset) low = middle
      else high = middle
    }
    return low
  }

  floor(offset: number): Segment | undefined {
    return this.#list[this.#floor(offset)]
  }

  /** The segment after this one. */
  after(segment: Segment): Segment | undefined {
    return this.#list[this.#floor(segment.baseOffset) + 1]
  }

  /** From the segment that holds `from` (or the first) to the last that begins before `to`. */
  between(from: number, to: number): Segment[] {
    const start = Math.max(0, this.#floor(from))
    return this.#list.slice(start).filter((segment) => segment.baseOffset < to)
  }
}
