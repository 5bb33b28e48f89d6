/**
 * A disk in memory that remembers what was made durable, so that a test can stop the machine at any operation, lose what was
 * not synced, and open it again. Faults (no space, input/output errors, short writes) are injected by a function.
 */
import { posix } from 'node:path'
import { Pages } from './pages.js'
import { PathIndex } from './path-index.js'
import { type Disk, type DiskEntry, DiskError, type DiskErrorCode, type DiskFile, type DiskStat, type OpenMode } from './ports.js'

/** What is about to happen; a fault function may answer with a failure, or, for a write, with how many bytes are taken (a sync that takes 0 does nothing and says it did). */
export interface DiskOperation {
  readonly kind: 'open' | 'write' | 'read' | 'truncate' | 'sync' | 'rename' | 'remove' | 'mkdir' | 'list' | 'syncDirectory'
  readonly path: string
  /** Counts all operations since the disk was made. */
  readonly number: number
  readonly sizeInBytes: number
}

export type Fault = { readonly fail: DiskErrorCode } | { readonly take: number } | undefined
export type Faults = (operation: DiskOperation) => Fault

/** Thrown by a fault function to stop the machine in the middle of an operation. */
export class MachineStopped extends Error {}

/** A write that is not yet durable. */
interface Unsynced {
  readonly position: number
  /** Null for a truncation to `position`. */
  readonly bytes: Buffer | null
}

/** What a file holds now and, when durability is watched, what it would hold after the machine stopped. */
class Content {
  readonly now = new Pages()
  readonly durable: Pages | null
  unsynced: Unsynced[] = []
  modifiedMs = 0

  constructor(durability: 'watched' | 'ignored') {
    this.durable = durability === 'watched' ? new Pages() : null
  }

  write(position: number, bytes: Buffer): void {
    this.now.write(position, bytes)
    if (this.durable !== null) this.unsynced.push({ position, bytes: Buffer.from(bytes) })
  }

  truncate(size: number): void {
    this.now.truncate(size)
    if (this.durable !== null) this.unsynced.push({ position: size, bytes: null })
  }

  sync(): void {
    for (const change of this.unsynced) this.#makeDurable(change)
    this.unsynced = []
  }

  #makeDurable(change: Unsynced): void {
    if (change.bytes === null) this.durable?.truncate(change.position)
    else this.durable?.write(change.position, change.bytes)
  }

  /** After a stop of the machine: durable bytes and, of what was not synced, what `keep` lets live (a write may be torn). */
  crash(keep: (change: { readonly sizeInBytes: number }) => number): void {
    for (const { position, bytes } of this.unsynced) {
      const kept = keep({ sizeInBytes: bytes?.length ?? 1 })
      if (kept > 0) this.#makeDurable({ position, bytes: bytes === null ? null : bytes.subarray(0, kept) })
    }
    this.unsynced = []
    if (this.durable !== null) this.now.copyOf(this.durable)
  }
}

/** A change of names: durable once the folder is synced. */
type NameChange = { readonly folder: string; readonly apply: (names: Map<string, Content>) => void }

export class MemoryDisk implements Disk {
  #files = new PathIndex<Content>()
  #durableFiles = new Map<string, Content>()
  #nameChanges: NameChange[] = []
  #folders = PathIndex.of<true>([['/', true]])
  #operations = 0
  #faults: Faults
  readonly #now: () => number
  readonly #durability: 'watched' | 'ignored'

  /**
   * `now` stamps what is written; `faults` is asked before each operation. With `durability` ignored nothing is remembered
   * for `crash`: for a broker that keeps its data in memory.
   */
  constructor(
    options: { readonly now?: () => number; readonly faults?: Faults; readonly durability?: 'watched' | 'ignored' } = {},
  ) {
    this.#now = options.now ?? (() => 0)
    this.#faults = options.faults ?? (() => undefined)
    this.#durability = options.durability ?? 'watched'
  }

  set faults(faults: Faults) {
    this.#faults = faults
  }

  get operations(): number {
    return this.#operations
  }

  /**
   * Stops the machine. What comes up again is a new disk: only durable names and bytes are left, and what `keep` says of each
   * unsynced write: how many of its bytes reached the platter (0 none; less than its size tears it). Names not synced live when
   * `keepName` says so. This disk does nothing any more.
   */
  crash(keep: (change: { readonly sizeInBytes: number }) => number = () => 0, keepName: () => boolean = () => false): MemoryDisk {
    for (const change of this.#nameChanges) if (keepName()) change.apply(this.#durableFiles)
    const again = new MemoryDisk({ now: this.#now, durability: this.#durability })
    for (const content of new Set(this.#durableFiles.values())) content.crash(keep)
    again.#files = PathIndex.of(this.#durableFiles)
    again.#durableFiles = new Map(this.#durableFiles)
    again.#folders = PathIndex.of(this.#folders.entries())
    this.#files = new PathIndex()
    this.#durableFiles = new Map()
    this.stop()
    return again
  }

  /** Every operation throws MachineStopped from now on. */
  stop(): void {
    this.#faults = () => {
      throw new MachineStopped('the machine stopped')
    }
  }

  /** Everything as it is becomes durable. */
  syncAll(): void {
    for (const content of this.#files.values()) content.sync()
    this.#nameChanges = []
    this.#durableFiles = new Map(this.#files.entries())
  }

  ask(kind: DiskOperation['kind'], path: string, sizeInBytes = 0): number {
    const fault = this.#faults({ kind, path, number: this.#operations++, sizeInBytes })
    if (fault === undefined) return sizeInBytes
    if ('fail' in fault) throw new DiskError(fault.fail, kind, path, 'injected')
    return Math.min(fault.take, sizeInBytes)
  }

  openNow(path: string, mode: OpenMode): DiskFile {
    const at = posix.normalize(path)
    this.ask('open', at)
    let content = this.#files.get(at)
    if (content === undefined) {
      if (mode !== 'create') throw new DiskError('ENOENT', 'open', path, 'no such file')
      if (!this.#folders.has(posix.dirname(at))) throw new DiskError('ENOENT', 'open', path, 'no such folder')
      content = new Content(this.#durability)
      content.modifiedMs = this.#now()
      this.#name(at, content)
    }
    return new MemoryFile(this, at, content, this.#now)
  }

  #name(path: string, content: Content): void {
    this.#files.set(path, content)
    this.#renamed({ folder: posix.dirname(path), apply: (names) => names.set(path, content) })
  }

  #unname(path: string): void {
    this.#files.delete(path)
    this.#renamed({ folder: posix.dirname(path), apply: (names) => names.delete(path) })
  }

  #renamed(change: NameChange): void {
    if (this.#durability === 'watched') this.#nameChanges.push(change)
  }

  listNow(directory: string): DiskEntry[] {
    const folder = posix.normalize(directory)
    this.ask('list', folder)
    if (!this.#folders.has(folder)) throw new DiskError('ENOENT', 'list', directory, 'no such folder')
    const found: DiskEntry[] = []
    for (const name of this.#folders.namesIn(folder)) found.push({ name, kind: 'directory' })
    for (const name of this.#files.namesIn(folder)) found.push({ name, kind: 'file' })
    return found.sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  statNow(path: string): DiskStat | null {
    const at = posix.normalize(path)
    if (this.#folders.has(at)) return { kind: 'directory', sizeInBytes: 0, modifiedMs: 0 }
    const content = this.#files.get(at)
    return content === undefined ? null : { kind: 'file', sizeInBytes: content.now.size, modifiedMs: content.modifiedMs }
  }

  /** Folders are durable at once: losing whole folders is the business of `rename` and `remove`. */
  makeDirectoryNow(path: string): void {
    this.ask('mkdir', path)
    for (let at = posix.normalize(path); !this.#folders.has(at); at = posix.dirname(at)) this.#folders.set(at, true)
  }

  renameNow(from: string, to: string): void {
    const [source, target] = [posix.normalize(from), posix.normalize(to)]
    this.ask('rename', source)
    const content = this.#files.get(source)
    if (content !== undefined) {
      this.#files.delete(source)
      this.#files.set(target, content)
      const apply = (names: Map<string, Content>) => {
        names.delete(source)
        names.set(target, content)
      }
      this.#renamed({ folder: posix.dirname(target), apply })
      return
    }
    if (!this.#folders.has(source)) throw new DiskError('ENOENT', 'rename', from, 'no such file')
    const moved = (path: string) => target + path.slice(source.length)
    const inside = (path: string) => path === source || path.startsWith(`${source}/`)
    for (const folder of this.#foldersFrom(source)) {
      for (const path of this.#files.pathsIn(folder)) {
        const held = this.#files.get(path)!
        this.#files.delete(path)
        this.#files.set(moved(path), held)
      }
      this.#folders.delete(folder)
      this.#folders.set(moved(folder), true)
    }
    for (const [path, held] of [...this.#durableFiles]) {
      if (!inside(path)) continue
      this.#durableFiles.delete(path)
      this.#durableFiles.set(moved(path), held)
    }
    this.#nameChanges = this.#nameChanges.filter((change) => !inside(change.folder))
  }

  removeNow(path: string): void {
    const at = posix.normalize(path)
    this.ask('remove', at)
    if (this.#files.has(at)) this.#unname(at)
    if (!this.#folders.has(at)) return
    for (const folder of this.#foldersFrom(at)) {
      for (const file of this.#files.pathsIn(folder)) this.#unname(file)
      this.#folders.delete(folder)
    }
  }

  /** The folder and all folders in it, at any depth. */
  #foldersFrom(folder: string): string[] {
    return [folder, ...this.#folders.pathsIn(folder).flatMap((inside) => this.#foldersFrom(inside))]
  }

  async remove(path: string): Promise<void> {
    this.removeNow(path)
  }

  readFileNow(path: string): Buffer {
    const at = posix.normalize(path)
    this.ask('read', at)
    const content = this.#files.get(at)
    if (content === undefined) throw new DiskError('ENOENT', 'read', path, 'no such file')
    const bytes = Buffer.alloc(content.now.size)
    content.now.read(bytes, 0)
    return bytes
  }

  async syncDirectory(path: string): Promise<void> {
    const folder = posix.normalize(path)
    if (this.ask('syncDirectory', folder, 1) === 0) return
    for (const change of this.#nameChanges) if (change.folder === folder) change.apply(this.#durableFiles)
    this.#nameChanges = this.#nameChanges.filter((change) => change.folder !== folder)
  }

  space(): { totalBytes: number; usableBytes: number } {
    return { totalBytes: 2 ** 40, usableBytes: 2 ** 40 }
  }
}

class MemoryFile implements DiskFile {
  constructor(
    readonly disk: MemoryDisk,
    readonly path: string,
    readonly content: Content,
    readonly now: () => number,
  ) {}

  sizeNow(): number {
    return this.content.now.size
  }

  writevNow(slices: readonly Buffer[], position: number): number {
    const bytes = slices.length === 1 ? slices[0]! : Buffer.concat(slices)
    const taken = this.disk.ask('write', this.path, bytes.length)
    if (taken > 0) this.content.write(position, bytes.subarray(0, taken))
    this.content.modifiedMs = this.now()
    return taken
  }

  async writev(slices: readonly Buffer[], position: number): Promise<number> {
    return this.writevNow(slices, position)
  }

  readNow(into: Buffer, position: number): number {
    this.disk.ask('read', this.path, into.length)
    return this.content.now.read(into, position)
  }

  async read(into: Buffer, position: number): Promise<number> {
    return this.readNow(into, position)
  }

  truncateNow(sizeInBytes: number): void {
    this.disk.ask('truncate', this.path, sizeInBytes)
    this.content.truncate(sizeInBytes)
    this.content.modifiedMs = this.now()
  }

  async dataSync(): Promise<void> {
    if (this.disk.ask('sync', this.path, 1) > 0) this.content.sync()
  }

  closeNow(): void {}
}
