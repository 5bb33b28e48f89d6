/**
 * What a log needs of the outside: clock, timers, random numbers, a disk, and threads for long work. Real ones live at the edge
 * (`disk-node.ts`, `offload-node.ts`, `node-environment.ts`), simulated ones in `memory-disk.ts`, `offload.ts`, `testing.ts` and the
 * simulator; nothing else here touches the machine.
 */
import type { Jobs } from './jobs/table.js'

/** Wall clock for record times and retention; monotonic for everything that measures how long something took. */
export interface Clock {
  /** Milliseconds since 1970, as the wall says: may jump. */
  now(): number
  /** Milliseconds since some start: never goes back. */
  monotonic(): number
}

export interface Timers {
  /** Calls `fire` once after `delayMs` (any delay, longer than 2^31 ms too); the result cancels it. */
  after(delayMs: number, fire: () => void): () => void
}

/** What tells the time and waits for it. */
export interface Time {
  readonly clock: Clock
  readonly timers: Timers
  /** With it, long work on the event loop lets others have their turn. */
  readonly turn?: Turn | undefined
}

/** Runs a piece of work after what runs now has ended, so that writes which arrive together leave together. */
export interface Turn {
  afterThisTurn(run: () => void): void
}

export interface Random {
  /** A number in [0, 1). */
  next(): number
  bytes(count: number): Buffer
}

/** How a file is opened: `read` and `readWrite` want it to exist, `create` makes it when it is missing. */
export type OpenMode = 'read' | 'readWrite' | 'create'

export interface DiskEntry {
  readonly name: string
  readonly kind: 'file' | 'directory' | 'other'
}

export interface DiskStat {
  readonly kind: 'file' | 'directory' | 'other'
  readonly sizeInBytes: number
  readonly modifiedMs: number
}

/**
 * Files and folders. Failures are thrown as `DiskError`, or rejected with it.
 *
 * What a crash of the machine may undo: bytes written since the file's last `dataSync`, and names made, changed or removed
 * since the folder's last `syncDirectory`. What a crash of the process undoes: nothing that returned.
 * Names ending in `Now` are synchronous and short; everything that may wait for the device has a promise.
 */
export interface Disk {
  openNow(path: string, mode: OpenMode): DiskFile
  /** Sorted by name. */
  listNow(directory: string): DiskEntry[]
  /** Null when there is nothing of that name. */
  statNow(path: string): DiskStat | null
  /** Makes missing parents too; an existing folder is fine. */
  makeDirectoryNow(path: string): void
  /** Replaces what is at `to`, at once: a reader sees the old or the new file. */
  renameNow(from: string, to: string): void
  /** Sets when the file was written last, as `statNow` tells it. Nothing relies on it after a crash. */
  touchNow(path: string, modifiedMs: number): void
  /** A file, or a folder with all that is in it; nothing there is fine. */
  removeNow(path: string): void
  remove(path: string): Promise<void>
  readFileNow(path: string): Buffer
  /** Makes the names in a folder durable. */
  syncDirectory(path: string): Promise<void>
  space(path: string): { readonly totalBytes: number; readonly usableBytes: number }
}

/** An open file. Writes are positional and may be short: the result is how many bytes were taken. */
export interface DiskFile {
  readonly path: string
  sizeNow(): number
  writevNow(slices: readonly Buffer[], position: number): number
  writev(slices: readonly Buffer[], position: number): Promise<number>
  /** Fills `into` as far as the file goes; the result is how many bytes there were. */
  readNow(into: Buffer, position: number): number
  read(into: Buffer, position: number): Promise<number>
  /** Cuts, or extends by zeros. */
  truncateNow(sizeInBytes: number): void
  /**
   * Makes the bytes, and the size, durable. After it failed once nothing can be promised of this file any more.
   * @param begins called by a disk that has it wait: what is written before then is made durable, too
   */
  dataSync(begins?: () => void): Promise<void>
  closeNow(): void
}

export type DiskErrorCode =
  | 'ENOSPC'
  | 'EIO'
  | 'ENOENT'
  | 'EEXIST'
  | 'EACCES'
  | 'EMFILE'
  | 'EROFS'
  | 'ENOTDIR'
  | 'EDQUOT'
  | 'EOTHER'

/** A failed operation on the disk: which, on what, and why. */
export class DiskError extends Error {
  override readonly name = 'DiskError'
  constructor(
    readonly code: DiskErrorCode,
    readonly operation: string,
    readonly path: string,
    detail: string,
  ) {
    super(`${operation} ${path}: ${detail}`)
  }
}

/** Where notices go; shaped so that a pino logger fits. */
export interface Logger {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

export const SILENT: Logger = { info() {}, warn() {}, error() {} }

export interface RunOptions<Progress> {
  /** Aborted, a job that waits is not run, and one that runs ends soon; either way it rejects with the signal's reason. */
  readonly signal?: AbortSignal
  /** Called now and then while the job runs. */
  readonly progress?: (done: Progress) => void
}

/** Runs the jobs of a table by their names. */
export interface OffloadOf<Table extends { readonly [Name in keyof Table]: JobTypes }> {
  /**
   * At most two at a time of each lane (jobs/job.ts), the rest wait in order.
   * Rejects with what the job throws, its class kept; with OffloadError when its thread died, or after `close`.
   */
  run<Name extends keyof Table & string>(
    name: Name,
    input: Table[Name]['input'],
    options?: RunOptions<Table[Name]['progress']>,
  ): Promise<Table[Name]['output']>
  /** Cancels what runs and waits. Resolves when all of it has ended and no thread of it is left. */
  close(): Promise<void>
}

interface JobTypes {
  readonly input: unknown
  readonly output: unknown
  readonly progress: unknown
}

/** Long work beside the event loop. Inline where there are no workers: disk in memory, simulator. */
export interface Offload extends OffloadOf<Jobs> {}

/** A process, told apart from a later one with the same number by when it started. */
export interface ProcessIdentity {
  readonly pid: number
  /** What the system says; empty where it says nothing. */
  readonly startedAt: string
}

/** Which processes there are: for the lock of a log directory. */
export interface Processes {
  readonly self: ProcessIdentity
  isRunning(process: ProcessIdentity): boolean
  /** Whether another process holds an advisory lock on the file, as a Java broker does; false where the system does not tell. */
  holdsAdvisoryLock(path: string): boolean
}
