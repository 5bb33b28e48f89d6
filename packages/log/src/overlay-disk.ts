/**
 * A disk laid over another one that is only ever read. What is written, cut, renamed or removed here is so for whoever looks
 * through it, and stays in memory; below, no byte, name or time changes. So a directory can be opened with all the repairs of a
 * start while somebody else holds it.
 */
import { posix } from 'node:path'
import { Pages } from './pages.js'
import { type Disk, type DiskEntry, DiskError, type DiskFile, type DiskStat, type OpenMode } from './ports.js'

/** A file that is not simply what lies below under its name. */
interface Content {
  /** The file below that shows through, its first bytes at most; null once it was written to. */
  below: { readonly path: string; bytes: number } | null
  /** What was written here. */
  readonly own: Pages
}

const REMOVED = 'removed'

export class OverlayDisk implements Disk {
  readonly #changes = new Map<string, Content | typeof REMOVED>()

  constructor(readonly below: Disk) {}

  /** Shows the file, or all files of the folder, as they are below again. */
  forget(path: string): void {
    const at = posix.normalize(path)
    for (const changed of [...this.#changes.keys()])
      if (changed === at || posix.dirname(changed) === at) this.#changes.delete(changed)
  }

  openNow(path: string, mode: OpenMode): DiskFile {
    const at = posix.normalize(path)
    const isBelow = this.#changes.get(at) === undefined && this.below.statNow(at) !== null
    if (this.#contentOf(at) === null && !isBelow) {
      if (mode !== 'create') throw new DiskError('ENOENT', 'open', at, 'no such file')
      this.#changes.set(at, { below: null, own: new Pages() })
    }
    return new OverlayFile(this, at)
  }

  /** Null when the name shows what is below, or nothing. */
  #contentOf(path: string): Content | null {
    const change = this.#changes.get(path)
    return change === undefined || change === REMOVED ? null : change
  }

  /** For an open file: what it holds now, made its own before it changes. */
  contentOf(path: string): Content | null {
    return this.#contentOf(path)
  }

  changing(path: string): Content {
    const known = this.#contentOf(path)
    if (known !== null) return known
    const bytes = this.below.statNow(path)?.sizeInBytes ?? 0
    const content: Content = { below: { path, bytes }, own: new Pages() }
    this.#changes.set(path, content)
    return content
  }

  listNow(directory: string): DiskEntry[] {
    const folder = posix.normalize(directory)
    const entries = new Map(this.below.listNow(folder).map((entry) => [entry.name, entry]))
    for (const [path, change] of this.#changes) {
      if (posix.dirname(path) !== folder) continue
      const name = posix.basename(path)
      if (change === REMOVED) entries.delete(name)
      else entries.set(name, { name, kind: 'file' })
    }
    return [...entries.values()].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
  }

  /** Times are those below. */
  touchNow(): void {}

  statNow(path: string): DiskStat | null {
    const at = posix.normalize(path)
    const change = this.#changes.get(at)
    if (change === undefined) return this.below.statNow(at)
    if (change === REMOVED) return null
    const modifiedMs = this.below.statNow(change.below?.path ?? at)?.modifiedMs ?? 0
    return { kind: 'file', sizeInBytes: sizeOf(change), modifiedMs }
  }

  makeDirectoryNow(path: string): void {
    if (this.statNow(path)?.kind !== 'directory') throw readOnly('mkdir', path)
  }

  renameNow(from: string, to: string): void {
    const source = posix.normalize(from)
    const stat = this.statNow(source)
    if (stat === null) throw new DiskError('ENOENT', 'rename', source, 'no such file')
    if (stat.kind !== 'file') throw readOnly('rename', source)
    this.#changes.set(posix.normalize(to), this.changing(source))
    this.#changes.set(source, REMOVED)
  }

  removeNow(path: string): void {
    const at = posix.normalize(path)
    const stat = this.statNow(at)
    if (stat === null) return
    if (stat.kind === 'directory') throw readOnly('remove', at)
    this.#changes.set(at, REMOVED)
  }

  async remove(path: string): Promise<void> {
    this.removeNow(path)
  }

  readFileNow(path: string): Buffer {
    const at = posix.normalize(path)
    if (this.#changes.get(at) === undefined) return this.below.readFileNow(at)
    const file = this.openNow(at, 'read')
    try {
      const bytes = Buffer.alloc(file.sizeNow())
      return bytes.subarray(0, file.readNow(bytes, 0))
    } finally {
      file.closeNow()
    }
  }

  async syncDirectory(): Promise<void> {}

  space(path: string): { readonly totalBytes: number; readonly usableBytes: number } {
    return this.below.space(path)
  }
}

const sizeOf = ({ below, own }: Content): number => below?.bytes ?? own.size

const readOnly = (operation: string, path: string): DiskError =>
  new DiskError('EROFS', operation, path, 'folders are not changed through a read-only view')

class OverlayFile implements DiskFile {
  /** Open on what is below, under the name that it had when it was first read. */
  #below: DiskFile | null = null

  constructor(
    readonly disk: OverlayDisk,
    readonly path: string,
  ) {}

  #belowNow(): DiskFile {
    const name = this.disk.contentOf(this.path)?.below?.path ?? this.path
    this.#below ??= this.disk.below.openNow(name, 'read')
    return this.#below
  }

  sizeNow(): number {
    const content = this.disk.contentOf(this.path)
    return content === null ? this.#belowNow().sizeNow() : sizeOf(content)
  }

  writevNow(slices: readonly Buffer[], position: number): number {
    const { own } = this.#ownNow()
    let at = position
    for (const slice of slices) {
      own.write(at, slice)
      at += slice.length
    }
    return at - position
  }

  async writev(slices: readonly Buffer[], position: number): Promise<number> {
    return this.writevNow(slices, position)
  }

  /** Brings what shows through into memory: only index files and smaller ones are ever written to. */
  #ownNow(): Content {
    const content = this.disk.changing(this.path)
    if (content.below === null) return content
    const bytes = Buffer.alloc(content.below.bytes)
    const filled = bytes.length === 0 ? 0 : this.#belowNow().readNow(bytes, 0)
    content.own.write(0, bytes.subarray(0, filled))
    content.below = null
    return content
  }

  /** Whether to read below, and how far. */
  #limit(): { readonly own: Pages } | { readonly end: number } {
    const content = this.disk.contentOf(this.path)
    if (content === null) return { end: Number.POSITIVE_INFINITY }
    return content.below === null ? { own: content.own } : { end: content.below.bytes }
  }

  readNow(into: Buffer, position: number): number {
    const limit = this.#limit()
    if ('own' in limit) return limit.own.read(into, position)
    const bytes = into.subarray(0, Math.max(0, limit.end - position))
    return bytes.length === 0 ? 0 : this.#belowNow().readNow(bytes, position)
  }

  async read(into: Buffer, position: number): Promise<number> {
    const limit = this.#limit()
    if ('own' in limit) return limit.own.read(into, position)
    const bytes = into.subarray(0, Math.max(0, limit.end - position))
    return bytes.length === 0 ? 0 : this.#belowNow().read(bytes, position)
  }

  truncateNow(sizeInBytes: number): void {
    const content = this.disk.changing(this.path)
    if (content.below !== null && sizeInBytes <= content.below.bytes) content.below.bytes = sizeInBytes
    else this.#ownNow().own.truncate(sizeInBytes)
  }

  async dataSync(): Promise<void> {}

  closeNow(): void {
    this.#below?.closeNow()
    this.#below = null
  }
}
