/**
 * Files that are opened when they are needed and closed when too many are: ten thousand partitions must not hold ten thousand
 * descriptors.
 */
import { type Disk, DiskError, type DiskFile, type OpenMode } from './ports.js'

const MOST_OPEN = 1000

export class OpenFiles {
  /** In the order in which they were opened; one that was used since it was looked at last is spared once. */
  readonly #open: Set<LazyFile>

  constructor(
    readonly disk: Disk,
    readonly limit: number = MOST_OPEN,
    open = new Set<LazyFile>(),
  ) {
    this.#open = open
  }

  /** Those of one log directory, which has a disk of its own: the limit is for all of them together. */
  on(disk: Disk): OpenFiles {
    return new OpenFiles(disk, this.limit, this.#open)
  }

  get count(): number {
    return this.#open.size
  }

  /** Opens a file; when the system has no descriptor left, those that are idle here make room. */
  open(path: string, mode: OpenMode): DiskFile {
    try {
      return this.disk.openNow(path, mode)
    } catch (error) {
      if (!(error instanceof DiskError) || error.code !== 'EMFILE') throw error
      for (const file of [...this.#open]) if (!file.isBusy) file.closeNow()
      return this.disk.openNow(path, mode)
    }
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

/** An open file and how much work is under way on it. */
interface Handle {
  readonly file: DiskFile
  pins: number
  /** Nobody uses it any more; it is closed when the work on it ends: its descriptor must not be another file's by then. */
  isAbandoned: boolean
}

/** One file by its path. */
export class LazyFile {
  #handle: Handle | null = null
  #used = false

  constructor(
    readonly files: OpenFiles,
    readonly pathOf: () => string,
  ) {}

  get isBusy(): boolean {
    return this.#handle !== null && this.#handle.pins > 0
  }

  get isOpen(): boolean {
    return this.#handle !== null
  }

  wasUsed(): boolean {
    const used = this.#used
    this.#used = false
    return used
  }

  /** The open file. It may be closed once this turn is over: use `pinned` for work that takes longer. */
  now(mode: OpenMode = 'readWrite'): DiskFile {
    return this.#open(mode).file
  }

  #open(mode: OpenMode): Handle {
    this.#used = true
    if (this.#handle !== null) return this.#handle
    const handle = { file: this.files.open(this.pathOf(), mode), pins: 0, isAbandoned: false }
    this.#handle = handle
    this.files.opened(this)
    return handle
  }

  /** Keeps the file open until `work` is done. */
  async pinned<R>(work: (file: DiskFile) => Promise<R>): Promise<R> {
    const handle = this.#open('readWrite')
    handle.pins++
    try {
      return await work(handle.file)
    } finally {
      handle.pins--
      if (handle.isAbandoned && handle.pins === 0) handle.file.closeNow()
    }
  }

  closeNow(): void {
    const handle = this.#handle
    if (handle === null) return
    this.#handle = null
    this.files.closed(this)
    if (handle.pins > 0) handle.isAbandoned = true
    else handle.file.closeNow()
  }
}
