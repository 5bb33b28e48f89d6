/**
 * The disk of one log directory: at most two syncs at a time, the rest in the order in which they came (DESIGN 4.11). More at a time
 * gain nothing from the device and take the threads that reads and writes need; what is appended to a log whose sync still waits is
 * durable with it.
 *
 * A sync that failed is fatal to the directory: nobody knows what is on the disk. Those that wait are not begun, later ones neither;
 * all fail with the same error. How many wait is bounded by the logs: each has one flush under way, one write of its epochs, one change
 * of its segments.
 */
import { type Disk, type DiskEntry, DiskError, type DiskFile, type DiskStat, type OpenMode } from './ports.js'
import { Turns } from './turns.js'

const SYNCS_AT_A_TIME = 2

export class PacedDisk implements Disk {
  readonly #disk: Disk
  readonly #syncs = new Syncs()

  constructor(disk: Disk) {
    this.#disk = disk
  }

  openNow(path: string, mode: OpenMode): DiskFile {
    return new PacedFile(this.#disk.openNow(path, mode), this.#syncs)
  }

  syncDirectory(path: string): Promise<void> {
    return this.#syncs.run(() => this.#disk.syncDirectory(path))
  }

  listNow(directory: string): DiskEntry[] {
    return this.#disk.listNow(directory)
  }

  statNow(path: string): DiskStat | null {
    return this.#disk.statNow(path)
  }

  makeDirectoryNow(path: string): void {
    this.#disk.makeDirectoryNow(path)
  }

  renameNow(from: string, to: string): void {
    this.#disk.renameNow(from, to)
  }

  touchNow(path: string, modifiedMs: number): void {
    this.#disk.touchNow(path, modifiedMs)
  }

  removeNow(path: string): void {
    this.#disk.removeNow(path)
  }

  remove(path: string): Promise<void> {
    return this.#disk.remove(path)
  }

  readFileNow(path: string): Buffer {
    return this.#disk.readFileNow(path)
  }

  space(path: string): { readonly totalBytes: number; readonly usableBytes: number } {
    return this.#disk.space(path)
  }
}

class PacedFile implements DiskFile {
  readonly path: string
  readonly #file: DiskFile
  readonly #syncs: Syncs

  constructor(file: DiskFile, syncs: Syncs) {
    this.path = file.path
    this.#file = file
    this.#syncs = syncs
  }

  dataSync(begins?: () => void): Promise<void> {
    return this.#syncs.run(() => {
      begins?.()
      return this.#file.dataSync()
    })
  }

  sizeNow(): number {
    return this.#file.sizeNow()
  }

  writevNow(slices: readonly Buffer[], position: number): number {
    return this.#file.writevNow(slices, position)
  }

  writev(slices: readonly Buffer[], position: number): Promise<number> {
    return this.#file.writev(slices, position)
  }

  readNow(into: Buffer, position: number): number {
    return this.#file.readNow(into, position)
  }

  read(into: Buffer, position: number): Promise<number> {
    return this.#file.read(into, position)
  }

  truncateNow(sizeInBytes: number): void {
    this.#file.truncateNow(sizeInBytes)
  }

  closeNow(): void {
    this.#file.closeNow()
  }
}

/** Those of one directory. */
class Syncs {
  readonly #turns = new Turns(SYNCS_AT_A_TIME)
  #failed: unknown = null

  async run(sync: () => Promise<void>): Promise<void> {
    await this.#turns.run(async () => {
      if (this.#failed !== null) throw this.#failed
      try {
        await sync()
      } catch (error) {
        // A folder that was deleted meanwhile says nothing of the disk.
        if (!(error instanceof DiskError && error.code === 'ENOENT')) this.#fail(error)
        throw error
      }
    })
  }

  #fail(error: unknown): void {
    this.#failed ??= error
    this.#turns.refuseWaiting(this.#failed)
  }
}
