/**
 * How an index reaches its file: when its segment is closed, cut to its entries. While the segment is active the entries live in
 * memory; whatever a stop of the process loses lies after the recovery point and is built again.
 */
import type { Disk } from './ports.js'
import type { SparseIndex } from './sparse-index.js'
import { writeAllNow } from './write-all.js'

export class IndexFile {
  /** Entries that the file has, at its front. */
  #written = 0
  /** Whether the file may have other bytes behind them. */
  #isExact = false

  constructor(
    readonly disk: Disk,
    readonly pathOf: () => string,
  ) {}

  /** The file was read and holds these entries, nothing else. */
  hasEntries(count: number): void {
    this.#written = count
    this.#isExact = true
  }

  /** Looks whether the file holds this index already, as most do that a recovery builds again. */
  compareNow(index: SparseIndex): void {
    const path = this.pathOf()
    if (this.disk.statNow(path)?.sizeInBytes !== index.sizeInBytes) return
    if (index.sizeInBytes === 0 || this.disk.readFileNow(path).equals(index.entryBytes())) this.hasEntries(index.entryCount)
  }

  /** The index lost entries: what is in the file beyond them is written again. */
  cutTo(entryCount: number): void {
    this.#written = Math.min(this.#written, entryCount)
    this.#isExact = false
  }

  /** Whether the file holds all entries, and only them. */
  isComplete(index: SparseIndex): boolean {
    return this.#isExact && this.#written === index.entryCount
  }

  /** Writes the entries that the file lacks. */
  writeNow(index: SparseIndex): void {
    if (this.isComplete(index) && this.disk.statNow(this.pathOf()) !== null) return
    const file = this.disk.openNow(this.pathOf(), 'create')
    try {
      const start = this.#written * index.entrySize
      writeAllNow(file, [index.entryBytes(this.#written)], start)
      if (file.sizeNow() !== index.sizeInBytes) file.truncateNow(index.sizeInBytes)
      this.#written = index.entryCount
      this.#isExact = true
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
