/**
 * The real disk, on node:fs. The one file of this package that touches the file system.
 */
import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { dirname, join } from 'node:path'
import {
  type Disk,
  type DiskEntry,
  DiskError,
  type DiskErrorCode,
  type DiskFile,
  type DiskStat,
  type OpenMode,
  type Processes,
  type ProcessIdentity,
} from './ports.js'

const KNOWN: readonly DiskErrorCode[] = ['ENOSPC', 'EIO', 'ENOENT', 'EEXIST', 'EACCES', 'EMFILE', 'EROFS', 'ENOTDIR', 'EDQUOT']

/** writev takes at most this many slices at once (IOV_MAX of Linux and macOS). */
const MOST_SLICES = 1024

function asDiskError(error: unknown, operation: string, path: string): DiskError {
  const failure = error as NodeJS.ErrnoException
  const code = KNOWN.find((known) => known === failure.code) ?? 'EOTHER'
  return new DiskError(code, operation, path, failure.message)
}

function guard<R>(operation: string, path: string, run: () => R): R {
  try {
    return run()
  } catch (error) {
    throw asDiskError(error, operation, path)
  }
}

/** Promises of node's callback functions: cheaper than fs.promises' file handles. */
function promised<R>(operation: string, path: string, run: (done: (error: Error | null, result: R) => void) => void): Promise<R> {
  return new Promise((resolve, reject) => {
    run((error, result) =>
      error === null || error === undefined ? resolve(result) : reject(asDiskError(error, operation, path)),
    )
  })
}

/** With the directories above it. Node's own `recursive` never comes back where a directory answers ENOENT to a new child (/proc). */
function makeDirectories(path: string): void {
  try {
    fs.mkdirSync(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const above = dirname(path)
    if (code === 'ENOENT' && above !== path && !fs.existsSync(above)) {
      makeDirectories(above)
      fs.mkdirSync(path)
    } else if (fs.statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) throw error
  }
}

/** Windows syncs no folders, and needs no sync of them: NTFS keeps a journal of names. */
export const isNoSync = (code: string | undefined, platform: NodeJS.Platform): boolean =>
  platform === 'win32' && (code === 'EPERM' || code === 'EISDIR' || code === 'EACCES')

const kindOf = (entry: { isFile(): boolean; isDirectory(): boolean }): DiskEntry['kind'] =>
  entry.isFile() ? 'file' : entry.isDirectory() ? 'directory' : 'other'

const FLAGS: Record<OpenMode, number> = {
  read: fs.constants.O_RDONLY,
  readWrite: fs.constants.O_RDWR,
  create: fs.constants.O_RDWR | fs.constants.O_CREAT,
}

class NodeFile implements DiskFile {
  constructor(
    readonly path: string,
    readonly fd: number,
  ) {}

  sizeNow(): number {
    return guard('stat', this.path, () => fs.fstatSync(this.fd).size)
  }

  writevNow(slices: readonly Buffer[], position: number): number {
    return guard('write', this.path, () =>
      slices.length === 1
        ? fs.writeSync(this.fd, slices[0]!, 0, slices[0]!.length, position)
        : fs.writevSync(this.fd, slices.slice(0, MOST_SLICES), position),
    )
  }

  writev(slices: readonly Buffer[], position: number): Promise<number> {
    return promised('write', this.path, (done) => fs.writev(this.fd, slices.slice(0, MOST_SLICES), position, done))
  }

  readNow(into: Buffer, position: number): number {
    let count = 0
    while (count < into.length) {
      const got = guard('read', this.path, () => fs.readSync(this.fd, into, count, into.length - count, position + count))
      if (got === 0) break
      count += got
    }
    return count
  }

  async read(into: Buffer, position: number): Promise<number> {
    let count = 0
    while (count < into.length) {
      const at = count
      const got = await promised<number>('read', this.path, (done) =>
        fs.read(this.fd, into, at, into.length - at, position + at, done),
      )
      if (got === 0) break
      count += got
    }
    return count
  }

  truncateNow(sizeInBytes: number): void {
    // ext4 takes a file that is cut to nothing for one that is written anew, also when it was empty: its close and its removal then
    // hold every writer up for half a second a gigabyte.
    if (this.sizeNow() === sizeInBytes) return
    guard('truncate', this.path, () => fs.ftruncateSync(this.fd, sizeInBytes))
  }

  dataSync(): Promise<void> {
    return promised('sync', this.path, (done) => fs.fdatasync(this.fd, (error) => done(error, undefined)))
  }

  closeNow(): void {
    guard('close', this.path, () => fs.closeSync(this.fd))
  }
}

class NodeDisk implements Disk {
  openNow(path: string, mode: OpenMode): DiskFile {
    return new NodeFile(
      path,
      guard('open', path, () => fs.openSync(path, FLAGS[mode], 0o644)),
    )
  }

  listNow(directory: string): DiskEntry[] {
    const entries = guard('list', directory, () => fs.readdirSync(directory, { withFileTypes: true }))
    return entries
      .map(
        (entry): DiskEntry => ({
          name: entry.name,
          kind: entry.isSymbolicLink() ? this.#behindLink(directory, entry.name) : kindOf(entry),
        }),
      )
      .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
  }

  #behindLink(directory: string, name: string): DiskEntry['kind'] {
    return this.statNow(join(directory, name))?.kind ?? 'other'
  }

  statNow(path: string): DiskStat | null {
    const stat = guard('stat', path, () => fs.statSync(path, { throwIfNoEntry: false }))
    return stat === undefined ? null : { kind: kindOf(stat), sizeInBytes: stat.size, modifiedMs: Math.floor(stat.mtimeMs) }
  }

  makeDirectoryNow(path: string): void {
    guard('mkdir', path, () => makeDirectories(path))
  }

  renameNow(from: string, to: string): void {
    guard('rename', from, () => fs.renameSync(from, to))
  }

  touchNow(path: string, modifiedMs: number): void {
    guard('utimes', path, () => fs.utimesSync(path, modifiedMs / 1000, modifiedMs / 1000))
  }

  removeNow(path: string): void {
    guard('remove', path, () => fs.rmSync(path, { recursive: true, force: true }))
  }

  remove(path: string): Promise<void> {
    return promised('remove', path, (done) => fs.rm(path, { recursive: true, force: true }, (error) => done(error, undefined)))
  }

  readFileNow(path: string): Buffer {
    return guard('read', path, () => fs.readFileSync(path))
  }

  async syncDirectory(path: string): Promise<void> {
    const fd = await promised<number>('open', path, (done) => fs.open(path, fs.constants.O_RDONLY, done))
    try {
      await promised<void>('sync', path, (done) =>
        fs.fsync(fd, (error) => done(error !== null && isNoSync(error.code, process.platform) ? null : error, undefined)),
      )
    } finally {
      fs.closeSync(fd)
    }
  }

  space(path: string): { totalBytes: number; usableBytes: number } {
    return guard('statfs', path, () => {
      const { blocks, bavail, bsize } = fs.statfsSync(path)
      return { totalBytes: blocks * bsize, usableBytes: bavail * bsize }
    })
  }
}

/** The file system of this machine. */
export const nodeDisk: Disk = new NodeDisk()

/**
 * When a process began, as far as the system says it cheaply. Linux: field 22 of /proc/PID/stat counts clock ticks since the machine started.
 * macOS: what `ps` says, in seconds since 1970. Elsewhere empty: a process is known by its number alone.
 */
export function startedAt(pid: number, platform: NodeJS.Platform = process.platform): string {
  try {
    if (platform === 'darwin') {
      const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC' }
      const said = execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { env, encoding: 'latin1', stdio: 'pipe' })
      const at = Date.parse(`${said.trim()} UTC`)
      return Number.isNaN(at) ? '' : String(at / 1000)
    }
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'latin1')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
  } catch {
    return ''
  }
}

let self: ProcessIdentity | undefined

/** The processes of this machine. */
export const nodeProcesses: Processes = {
  get self() {
    self ??= { pid: process.pid, startedAt: startedAt(process.pid) }
    return self
  },

  isRunning({ pid, startedAt: since }) {
    try {
      process.kill(pid, 0)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false
    }
    const now = startedAt(pid)
    return since === '' || now === '' || since === now
  },

  holdsAdvisoryLock(path) {
    try {
      const inode = `:${fs.statSync(path).ino}`
      const lines = fs.readFileSync('/proc/locks', 'latin1').split('\n')
      return lines.some((line) => {
        const [, , , , pid, file] = line.split(/\s+/)
        return file?.endsWith(inode) === true && Number(pid) !== process.pid
      })
    } catch {
      return false
    }
  },
}
