/**
 * How an index reaches its file. While a segment is active the entries live in memory and the file has its full size, zeros at its
 * end; it is written when the segment is flushed, rolled or closed, and then cut to its entries. Whatever a stop of the
 * process loses lies after the recovery point and is rebuilt.
 */
import { writeFully } from './checkpoint.js'
import type { Disk } from './ports.js'
import type { SparseIndex } from './sparse-index.js'

export class IndexFile {
  /** Entries that the file has. */
  #written = 0
  #trimmed = false

  constructor(
    readonly disk: Disk,
    readonly pathOf: () => string,
  ) {}

  /** The file was read and holds these entries, nothing else. */
  hasEntries(count: number): void {
    this.#written = count
    this.#trimmed = true
  }

  /** The index lost entries: what is in the file beyond them is written again. */
  cutTo(entryCount: number): void {
    this.#written = Math.min(this.#written, entryCount)
    this.#trimmed = false
  }

  /** Whether the file, cut to its entries, holds all of them. */
  isComplete(index: SparseIndex): boolean {
    return this.#trimmed && this.#written === index.entryCount
  }

  /** Writes the entries that the file lacks. `size`: `full` with room for all that may come, `trimmed` to the entries. */
  writeNow(index: SparseIndex, size: 'full' | 'trimmed'): void {
    const complete = this.#written === index.entryCount
    if (complete && (size === 'full' || this.#trimmed) && this.disk.statNow(this.pathOf()) !== null) return
    const file = this.disk.openNow(this.pathOf(), 'create')
    try {
      const start = this.#written * index.entrySize
      const bytes = index.entryBytes(this.#written)
      writeFully({ writevNow: (slices, position) => file.writevNow(slices, start + position) }, bytes)
      const wanted = size === 'trimmed' ? index.sizeInBytes : Math.max(index.sizeInBytes, index.maxEntries * index.entrySize)
      if (file.sizeNow() !== wanted) file.truncateNow(wanted)
      this.#written = index.entryCount
      this.#trimmed = size === 'trimmed'
    } finally {
      file.closeNow()
    }
  }

  async sync(): Promise<void> {
    if (this.disk.statNow(this.pathOf()) === null) return
    const file = this.disk.openNow(this.pathOf(), 'readWrite')
    try {
      await file.dataSync()
    } finally {
      file.closeNow()
    }
  }
}
