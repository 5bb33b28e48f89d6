/**
 * Files that are opened when they are needed and closed when too many are: ten thousand partitions must not hold ten thousand
 * descriptors.
 */
import type { Disk, DiskFile, OpenMode } from './ports.js'

const MOST_OPEN = 1000

export class OpenFiles {
  /** In the order in which they were opened; one that was used since it was looked at last is spared once. */
  readonly #open = new Set<LazyFile>()

  constructor(
    readonly disk: Disk,
    readonly limit: number = MOST_OPEN,
  ) {}

  get count(): number {
    return this.#open.size
  }

  opened(file: LazyFile): void {
    this.#open.add(file)
    for (let looked = this.#open.size * 2; this.#open.size > this.limit && looked > 0; looked--) {
      const [oldest] = this.#open
      this.#open.delete(oldest!)
      if (oldest === file || oldest!.isBusy || oldest!.wasUsed()) this.#open.add(oldest!)
      else oldest!.closeNow()
    }
  }

  closed(file: LazyFile): void {
    this.#open.delete(file)
  }
}

/** One file by its path. */
export class LazyFile {
  #file: DiskFile | null = null
  #used = false
  #pins = 0

  constructor(
    readonly files: OpenFiles,
    readonly pathOf: () => string,
  ) {}

  get isBusy(): boolean {
    return this.#pins > 0
  }

  wasUsed(): boolean {
    const used = this.#used
    this.#used = false
    return used
  }

  /** The open file. It may be closed once this turn is over: use `pinned` for work that takes longer. */
  now(mode: OpenMode = 'readWrite'): DiskFile {
    this.#used = true
    if (this.#file === null) {
      this.#file = this.files.disk.openNow(this.pathOf(), mode)
      this.files.opened(this)
    }
    return this.#file
  }

  /** Keeps the file open until `work` is done. */
  async pinned<R>(work: (file: DiskFile) => Promise<R>): Promise<R> {
    const file = this.now()
    this.#pins++
    try {
      return await work(file)
    } finally {
      this.#pins--
    }
  }

  closeNow(): void {
    const file = this.#file
    this.#file = null
    this.files.closed(this)
    file?.closeNow()
  }
}
