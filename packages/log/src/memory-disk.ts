/**
 * A disk in memory that remembers what was made durable, so that a test can stop the machine at any operation, lose what was
 * not synced, and open it again. Faults (no space, input/output errors, short writes) are injected by a function.
 */
import { posix } from 'node:path'
import { Content, copyOf, Folder, type Kept, type Lost, type LostName, type NameChange, type Node } from './memory-tree.js'
import { type Disk, type DiskEntry, DiskError, type DiskErrorCode, type DiskFile, type DiskStat, type OpenMode } from './ports.js'

/** What is about to happen; a fault function may answer with a failure, or, for a write, with how many bytes are taken (a sync that takes 0 does nothing and says it did). */
export interface DiskOperation {
  readonly kind:
    | 'open'
    | 'write'
    | 'read'
    | 'truncate'
    | 'sync'
    | 'rename'
    | 'remove'
    | 'mkdir'
    | 'list'
    | 'stat'
    | 'syncDirectory'
  readonly path: string
  /** Counts all operations since the disk was made. */
  readonly number: number
  readonly sizeInBytes: number
}

export type Fault = { readonly fail: DiskErrorCode } | { readonly take: number } | undefined
export type Faults = (operation: DiskOperation) => Fault
/** For operations with a promise: what they wait for before they happen, if for anything. */
export type Delays = (operation: DiskOperation) => Promise<void> | undefined

/** What every operation ends with once the machine stopped. */
export class MachineStopped extends Error {}

export class MemoryDisk implements Disk {
  #root: Folder
  #nameChanges: NameChange[] = []
  #operations = 0
  #isStopped = false
  #faults: Faults
  #delays: Delays = () => undefined
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
    this.#root = new Folder()
  }

  set faults(faults: Faults) {
    this.#faults = faults
  }

  set delays(delays: Delays) {
    this.#delays = delays
  }

  get operations(): number {
    return this.#operations
  }

  /**
   * Stops the machine. What comes up again is a new disk: only durable names and bytes are left, and what `keep` says of each
   * unsynced write: how many of its first bytes, or which part of it, reached the platter. Names not synced live when `keepName` says
   * so; it is asked in the order of the changes. This disk does nothing any more.
   */
  crash(keep?: (change: Lost) => Kept, keepName?: (change: LostName) => boolean): MemoryDisk {
    const again = this.afterCrash(keep, keepName)
    this.stop()
    this.#root = new Folder()
    this.#nameChanges = []
    return again
  }

  /** The disk that would come up if the machine stopped now; this one goes on. */
  afterCrash(keep: (change: Lost) => Kept = () => 0, keepName: (change: LostName) => boolean = () => false): MemoryDisk {
    const again = new MemoryDisk({ now: this.#now, durability: this.#durability })
    const namesOf = new Map<Folder, Map<string, Node>>()
    for (const { folder, path, what, apply } of this.#nameChanges) {
      if (!keepName({ folder: path, what })) continue
      const names = namesOf.get(folder) ?? new Map(folder.durable)
      namesOf.set(folder, names)
      apply(names)
    }
    again.#root = copyOf(this.#root, (folder) => namesOf.get(folder) ?? folder.durable, keep)
    return again
  }

  /** Every operation throws MachineStopped from now on. */
  stop(): void {
    this.#isStopped = true
  }

  /** Everything as it is becomes durable. */
  syncAll(): void {
    this.#nameChanges = []
    this.#root.syncAll()
  }

  ask(kind: DiskOperation['kind'], path: string, sizeInBytes = 0): number {
    return this.#asked({ kind, path, number: this.#operations++, sizeInBytes })
  }

  #asked(operation: DiskOperation): number {
    this.#mustRun()
    const fault = this.#faults(operation)
    // A fault function may stop the machine at the operation.
    this.#mustRun()
    if (fault === undefined) return operation.sizeInBytes
    if ('fail' in fault) throw new DiskError(fault.fail, operation.kind, operation.path, 'injected')
    return Math.min(fault.take, operation.sizeInBytes)
  }

  /** As `ask`, for an operation that may have to wait: it happens once `delay` is over. */
  askToWait(kind: DiskOperation['kind'], path: string, sizeInBytes = 0): { taken: number; delay: Promise<void> | undefined } {
    const operation = { kind, path, number: this.#operations++, sizeInBytes }
    const taken = this.#asked(operation)
    return { taken, delay: this.#delays(operation)?.then(() => this.#mustRun()) }
  }

  #mustRun(): void {
    if (this.#isStopped) throw new MachineStopped('the machine stopped')
  }

  openNow(path: string, mode: OpenMode): DiskFile {
    const at = posix.normalize(path)
    this.ask('open', at)
    let content = this.#find(at)
    if (content instanceof Folder) throw new DiskError('EOTHER', 'open', path, 'is a folder')
    if (content === undefined) {
      if (mode !== 'create') throw new DiskError('ENOENT', 'open', path, 'no such file')
      const folder = this.#folderAt(posix.dirname(at), 'open')
      content = new Content(this.#durability)
      content.modifiedMs = this.#now()
      this.#set(folder, at, content)
    }
    return new MemoryFile(this, at, content, this.#now)
  }

  #find(path: string): Node | undefined {
    let node: Node | undefined = this.#root
    for (let from = 1; from < path.length; ) {
      if (!(node instanceof Folder)) return undefined
      const slash = path.indexOf('/', from)
      const end = slash < 0 ? path.length : slash
      node = node.names.get(path.slice(from, end))
      from = end + 1
    }
    return node
  }

  #folderAt(path: string, operation: string): Folder {
    const node = this.#find(path)
    if (!(node instanceof Folder)) throw new DiskError('ENOENT', operation, path, 'no such folder')
    return node
  }

  #set(folder: Folder, path: string, node: Node): void {
    const name = posix.basename(path)
    this.#change({ folder, path: posix.dirname(path), what: `made ${name}`, apply: (names) => names.set(name, node) })
  }

  #change(change: NameChange): void {
    change.apply(change.folder.names)
    if (this.#durability === 'watched') this.#nameChanges.push(change)
  }

  listNow(directory: string): DiskEntry[] {
    const at = posix.normalize(directory)
    this.ask('list', at)
    const found: DiskEntry[] = []
    for (const [name, node] of this.#folderAt(at, 'list').names)
      found.push({ name, kind: node instanceof Folder ? 'directory' : 'file' })
    return found.sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  statNow(path: string): DiskStat | null {
    const at = posix.normalize(path)
    this.ask('stat', at)
    const node = this.#find(at)
    if (node === undefined) return null
    if (node instanceof Folder) return { kind: 'directory', sizeInBytes: 0, modifiedMs: 0 }
    return { kind: 'file', sizeInBytes: node.now.size, modifiedMs: node.modifiedMs }
  }

  makeDirectoryNow(path: string): void {
    const at = posix.normalize(path)
    this.ask('mkdir', at)
    let folder = this.#root
    let made = '/'
    for (const name of at.split('/')) {
      if (name === '') continue
      made = posix.join(made, name)
      let next = folder.names.get(name)
      if (next instanceof Content) throw new DiskError('EEXIST', 'mkdir', path, 'is a file')
      if (next === undefined) {
        next = new Folder()
        this.#set(folder, made, next)
      }
      folder = next
    }
  }

  renameNow(from: string, to: string): void {
    const [source, target] = [posix.normalize(from), posix.normalize(to)]
    this.ask('rename', source)
    const node = this.#find(source)
    if (node === undefined) throw new DiskError('ENOENT', 'rename', from, 'no such file')
    const [oldName, newName] = [posix.basename(source), posix.basename(target)]
    const folder = this.#folderAt(posix.dirname(target), 'rename')
    const before = this.#folderAt(posix.dirname(source), 'rename')
    const inTheWay = folder.names.get(newName)
    if (inTheWay instanceof Folder && inTheWay !== node && inTheWay.names.size > 0) {
      throw new DiskError('EOTHER', 'rename', from, `${to} is a folder that is not empty`)
    }
    if (before !== folder) {
      this.#set(folder, target, node)
      this.#change({
        folder: before,
        path: posix.dirname(source),
        what: `moved ${oldName} away`,
        apply: (names) => names.delete(oldName),
      })
      return
    }
    const apply = (names: Map<string, Node>) => {
      names.delete(oldName)
      names.set(newName, node)
    }
    this.#change({ folder, path: posix.dirname(target), what: `renamed ${oldName} to ${newName}`, apply })
  }

  touchNow(path: string, modifiedMs: number): void {
    const content = this.#find(posix.normalize(path))
    if (!(content instanceof Content)) throw new DiskError('ENOENT', 'touch', path, 'no such file')
    content.modifiedMs = modifiedMs
  }

  removeNow(path: string): void {
    const at = posix.normalize(path)
    this.ask('remove', at)
    this.#unname(at)
  }

  #unname(path: string): void {
    const name = posix.basename(path)
    const folder = this.#find(posix.dirname(path))
    if (!(folder instanceof Folder) || !folder.names.has(name)) return
    this.#change({ folder, path: posix.dirname(path), what: `removed ${name}`, apply: (names) => names.delete(name) })
  }

  async remove(path: string): Promise<void> {
    const at = posix.normalize(path)
    const { delay } = this.askToWait('remove', at)
    if (delay !== undefined) await delay
    this.#unname(at)
  }

  readFileNow(path: string): Buffer {
    const at = posix.normalize(path)
    this.ask('read', at)
    const content = this.#find(at)
    if (!(content instanceof Content)) throw new DiskError('ENOENT', 'read', path, 'no such file')
    const bytes = Buffer.alloc(content.now.size)
    content.now.read(bytes, 0)
    return bytes
  }

  async syncDirectory(path: string): Promise<void> {
    const at = posix.normalize(path)
    const folder = this.#find(at)
    const before = new Set(this.#nameChanges)
    const { taken, delay } = this.askToWait('syncDirectory', at, 1)
    if (delay !== undefined) await delay
    if (taken === 0 || !(folder instanceof Folder)) return
    const isSynced = (change: NameChange) => change.folder === folder && before.has(change)
    for (const change of this.#nameChanges) if (isSynced(change)) change.apply(folder.durable)
    this.#nameChanges = this.#nameChanges.filter((change) => !isSynced(change))
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
    return this.#write(bytes, position, this.disk.ask('write', this.path, bytes.length))
  }

  async writev(slices: readonly Buffer[], position: number): Promise<number> {
    const bytes = slices.length === 1 ? slices[0]! : Buffer.concat(slices)
    const { taken, delay } = this.disk.askToWait('write', this.path, bytes.length)
    if (delay !== undefined) await delay
    return this.#write(bytes, position, taken)
  }

  #write(bytes: Buffer, position: number, taken: number): number {
    if (taken > 0) this.content.write(position, bytes.subarray(0, taken))
    this.content.modifiedMs = this.now()
    return taken
  }

  readNow(into: Buffer, position: number): number {
    this.disk.ask('read', this.path, into.length)
    return this.content.now.read(into, position)
  }

  async read(into: Buffer, position: number): Promise<number> {
    const { delay } = this.disk.askToWait('read', this.path, into.length)
    if (delay !== undefined) await delay
    return this.content.now.read(into, position)
  }

  truncateNow(sizeInBytes: number): void {
    this.disk.ask('truncate', this.path, sizeInBytes)
    this.content.truncate(sizeInBytes)
    this.content.modifiedMs = this.now()
  }

  async dataSync(): Promise<void> {
    const changes = this.content.changes
    const { taken, delay } = this.disk.askToWait('sync', this.path, 1)
    if (delay !== undefined) await delay
    if (taken > 0) this.content.sync(changes)
  }

  closeNow(): void {}
}
