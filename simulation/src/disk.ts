/**
 * The disk as one process sees it: a disk in memory behind it that outlives the process, operations that take time, and faults at any of
 * them. What the process was killed in the middle of may have happened, in part, or not.
 */
import {
  type Disk,
  type DiskEntry,
  DiskError,
  type DiskErrorCode,
  type DiskFile,
  type DiskStat,
  type MemoryDisk,
  type OpenMode,
} from '@mq/log'
import type { Chance } from './chance.js'
import type { BrokenRule } from './chaos.js'
import { type Process, ProcessKilled } from './process.js'

export type OperationKind =
  | 'open'
  | 'list'
  | 'stat'
  | 'mkdir'
  | 'rename'
  | 'remove'
  | 'read'
  | 'write'
  | 'truncate'
  | 'sync'
  | 'syncDirectory'

export interface Operation {
  readonly kind: OperationKind
  readonly path: string
  /** Of those that change something; counts from the start of the process. */
  readonly number: number
}

/** What becomes of one operation. `kill` says how much of it still happens. */
export type Fate =
  | { readonly kind: 'done' }
  | { readonly kind: 'fail'; readonly code: DiskErrorCode }
  | { readonly kind: 'short'; readonly share: number }
  | { readonly kind: 'slow'; readonly ms: number }
  | { readonly kind: 'kill'; readonly share: number }

const CHANGING: ReadonlySet<OperationKind> = new Set(['mkdir', 'rename', 'remove', 'write', 'truncate', 'sync', 'syncDirectory'])

const DONE: Fate = { kind: 'done' }

export class ProcessDisk implements Disk {
  #changes = 0
  readonly #openFiles = new Set<ProcessFile>()
  readonly #underway = new Set<() => void>()
  /** Asked before each operation. */
  fate: (operation: Operation) => Fate = () => DONE

  constructor(
    readonly process: Process,
    readonly platter: MemoryDisk,
    readonly chance: Chance,
    /** A rule that this disk does not keep. */
    readonly without?: BrokenRule,
  ) {
    // What was on its way to the kernel may have arrived.
    process.onKill(() => {
      for (const finish of this.#underway) if (chance.happens(0.5)) finish()
      this.#underway.clear()
    })
  }

  /** Paths of the files that are open. */
  get openFiles(): string[] {
    return Array.from(this.#openFiles, ({ path }) => path)
  }

  get changes(): number {
    return this.#changes
  }

  #asked(kind: OperationKind, path: string): Fate {
    if (!this.process.isAlive) throw new ProcessKilled(`${kind} ${path}`)
    const fate = this.fate({ kind, path, number: CHANGING.has(kind) ? this.#changes++ : -1 })
    if (CHANGING.has(kind) || fate.kind !== 'done')
      this.process.world.tell(`${this.process.name} disk ${kind} ${path}${said(fate)}`)
    return fate
  }

  now<R>(kind: OperationKind, path: string, run: (share: number) => R): R {
    const fate = this.#asked(kind, path)
    return this.#carryOut(fate, kind, path, run)
  }

  #carryOut<R>(fate: Fate, kind: OperationKind, path: string, run: (share: number) => R): R {
    switch (fate.kind) {
      case 'fail':
        throw new DiskError(fate.code, kind, path, 'injected')
      case 'kill':
        if (fate.share > 0) run(fate.share)
        this.process.kill()
        throw new ProcessKilled(`${kind} ${path}`)
      case 'short':
        return run(kind === 'write' ? fate.share : 1)
      default:
        return run(1)
    }
  }

  /** An operation that waits for the device. In a process that is killed meanwhile it never ends. */
  later<R>(kind: OperationKind, path: string, run: (share: number) => R | Promise<R>): Promise<R> {
    return new Promise((resolve, reject) => {
      if (!this.process.isAlive) return
      const fate = this.#asked(kind, path)
      if (fate.kind === 'kill') {
        if (fate.share > 0) run(fate.share)
        this.process.kill()
        return
      }
      const finish = () => void run(1)
      this.#underway.add(finish)
      const delayMs =
        fate.kind === 'slow' ? fate.ms : this.chance.between(0.05, kind === 'sync' || kind === 'syncDirectory' ? 4 : 0.6)
      this.process.after(delayMs, `disk ${kind} ${path}`, () => {
        this.#underway.delete(finish)
        try {
          resolve(this.#carryOut(fate, kind, path, run))
        } catch (error) {
          reject(error)
        }
      })
    })
  }

  openNow(path: string, mode: OpenMode): DiskFile {
    const file = this.now('open', path, () => this.platter.openNow(path, mode))
    const opened: ProcessFile = new ProcessFile(this, file, () => void this.#openFiles.delete(opened))
    this.#openFiles.add(opened)
    return opened
  }

  listNow(directory: string): DiskEntry[] {
    return this.now('list', directory, () => this.platter.listNow(directory))
  }

  statNow(path: string): DiskStat | null {
    return this.now('stat', path, () => this.platter.statNow(path))
  }

  makeDirectoryNow(path: string): void {
    this.now('mkdir', path, () => this.platter.makeDirectoryNow(path))
  }

  renameNow(from: string, to: string): void {
    this.now('rename', from, () => this.platter.renameNow(from, to))
  }

  touchNow(path: string, modifiedMs: number): void {
    if (this.process.isAlive) this.platter.touchNow(path, modifiedMs)
  }

  removeNow(path: string): void {
    this.now('remove', path, () => this.platter.removeNow(path))
  }

  remove(path: string): Promise<void> {
    return this.later('remove', path, () => this.platter.removeNow(path))
  }

  readFileNow(path: string): Buffer {
    return this.now('read', path, () => this.platter.readFileNow(path))
  }

  syncDirectory(path: string): Promise<void> {
    return this.later('syncDirectory', path, () => this.platter.syncDirectory(path))
  }

  space(): { totalBytes: number; usableBytes: number } {
    return this.platter.space()
  }
}

function said(fate: Fate): string {
  switch (fate.kind) {
    case 'done':
      return ''
    case 'fail':
      return `: fails with ${fate.code}`
    case 'slow':
      return `: takes ${fate.ms.toFixed(0)} ms`
    case 'short':
      return `: short, ${fate.share.toFixed(2)}`
    case 'kill':
      return `: the process is killed, ${fate.share.toFixed(2)} done`
  }
}

class ProcessFile implements DiskFile {
  #isOpen = true

  constructor(
    readonly disk: ProcessDisk,
    readonly file: DiskFile,
    readonly closed: () => void,
  ) {}

  get path(): string {
    return this.file.path
  }

  /** Whether records are in it. */
  get #isData(): boolean {
    return this.path.endsWith('.log')
  }

  sizeNow(): number {
    return this.disk.now('stat', this.path, () => this.file.sizeNow())
  }

  writevNow(slices: readonly Buffer[], position: number): number {
    return this.disk.now('write', this.path, (share) => {
      if (this.#isData && this.disk.without === 'written before acknowledged')
        return slices.reduce((sum, { length }) => sum + length, 0)
      return this.file.writevNow(part(slices, share), position)
    })
  }

  writev(slices: readonly Buffer[], position: number): Promise<number> {
    return this.disk.later('write', this.path, (share) => this.file.writevNow(part(slices, share), position))
  }

  readNow(into: Buffer, position: number): number {
    return this.disk.now('read', this.path, () => this.file.readNow(into, position))
  }

  read(into: Buffer, position: number): Promise<number> {
    return this.disk.later('read', this.path, () => this.file.readNow(into, position))
  }

  truncateNow(sizeInBytes: number): void {
    this.disk.now('truncate', this.path, () => {
      if (!this.#isData || this.disk.without !== 'cut in recovery') this.file.truncateNow(sizeInBytes)
    })
  }

  dataSync(): Promise<void> {
    return this.disk.later('sync', this.path, () => {
      if (!this.#isData || this.disk.without !== 'synced before acknowledged') return this.file.dataSync()
    })
  }

  closeNow(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.closed()
    if (this.disk.process.isAlive) this.file.closeNow()
  }
}

/** The first `share` of the bytes, at least one. */
function part(slices: readonly Buffer[], share: number): readonly Buffer[] {
  if (share >= 1) return slices
  const bytes = Buffer.concat(slices)
  return [bytes.subarray(0, Math.max(1, Math.floor(bytes.length * share)))]
}
