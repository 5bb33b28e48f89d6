/** Keeps the indexes of closed segments in memory as long as they are used and there is room: the oldest used go first. */
import type { Segment } from './segment.js'

export class IndexMemory {
  readonly #used = new Map<Segment, number>()
  #sizeInBytes = 0

  constructor(readonly maxBytes: number) {}

  /** The indexes of a segment that is not active were used. */
  touch(segment: Segment): void {
    this.forget(segment)
    const { offsets, times } = segment.indexes
    const size = offsets.sizeInBytes + times.sizeInBytes
    this.#used.set(segment, size)
    this.#sizeInBytes += size
    for (const [oldest] of this.#used) {
      if (this.#sizeInBytes <= this.maxBytes || oldest === segment) break
      this.forget(oldest)
      oldest.unloadIndexes()
    }
  }

  forget(segment: Segment): void {
    this.#sizeInBytes -= this.#used.get(segment) ?? 0
    this.#used.delete(segment)
  }
}
