/**
 * The small files of one partition's folder that change while it is in use: producer snapshots and the leader-epoch checkpoint.
 */
import { posix } from 'node:path'
import { epochsToText, LEADER_EPOCHS, writeAtomically } from './checkpoint.js'
import { segmentFileName } from './folder-names.js'
import type { LeaderEpochs } from './leader-epochs.js'
import type { Disk } from './ports.js'
import type { ProducerEntry } from './producer-entry.js'
import { readProducerSnapshot, writeProducerSnapshot } from './producer-snapshot.js'
import type { Folder } from './segment.js'
import { writeAllNow } from './write-all.js'

/** The snapshots of a folder, by the offset in their names. */
export class Snapshots {
  readonly #offsets: Set<number>

  /** `offsets` are those of the files that are there. */
  constructor(
    readonly disk: Disk,
    readonly folder: Folder,
    offsets: Iterable<number>,
  ) {
    this.#offsets = new Set(offsets)
  }

  get offsets(): number[] {
    return [...this.#offsets].sort((a, b) => a - b)
  }

  /** -1 when there is none. */
  get latest(): number {
    return this.offsets.at(-1) ?? -1
  }

  pathOf(offset: number): string {
    return posix.join(this.folder.path, segmentFileName(offset, 'snapshot'))
  }

  /** Not durable before `sync`: a torn one is dropped when it is read. */
  writeNow(offset: number, entries: Iterable<ProducerEntry>): void {
    const bytes = writeProducerSnapshot(entries)
    // A recovery finds most of them as they are.
    if (this.#offsets.has(offset) && this.disk.readFileNow(this.pathOf(offset)).equals(bytes)) return
    const file = this.disk.openNow(this.pathOf(offset), 'create')
    try {
      writeAllNow(file, [bytes], 0)
      file.truncateNow(bytes.length)
    } finally {
      file.closeNow()
    }
    this.#offsets.add(offset)
  }

  async sync(offset: number): Promise<void> {
    if (!this.#offsets.has(offset)) return
    const file = this.disk.openNow(this.pathOf(offset), 'readWrite')
    try {
      await file.dataSync()
    } finally {
      file.closeNow()
    }
  }

  readNow(offset: number): ProducerEntry[] | { readonly problem: string } {
    return readProducerSnapshot(this.disk.readFileNow(this.pathOf(offset)))
  }

  removeNow(offset: number): void {
    if (this.#offsets.delete(offset)) this.disk.removeNow(this.pathOf(offset))
  }

  removeWhereNow(unwanted: (offset: number) => boolean): void {
    for (const offset of this.offsets) if (unwanted(offset)) this.removeNow(offset)
  }
}

/** Writes the epochs one after another, leaving out what a later write holds anyway. */
export class EpochFile {
  #written: Promise<void> = Promise.resolve()
  #waiting: Promise<void> | null = null

  constructor(
    readonly disk: Disk,
    readonly folder: Folder,
    readonly epochs: LeaderEpochs,
  ) {}

  /** Resolves when the file holds what the epochs are now, or later ones. */
  write(): Promise<void> {
    if (this.#waiting !== null) return this.#waiting
    const next = this.#written.then(() => {
      this.#waiting = null
      return writeAtomically(this.disk, posix.join(this.folder.path, LEADER_EPOCHS), epochsToText(this.epochs.entries))
    })
    this.#waiting = next
    this.#written = next.catch(() => {})
    return next
  }

  /** Resolves when no write is under way. */
  async settled(): Promise<void> {
    await (this.#waiting ?? this.#written)
  }
}
