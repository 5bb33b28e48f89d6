/**
 * The lock of a log directory: `.lock`, with the pid and start time of its owner. An empty file, or one whose owner is gone, is no
 * lock (a killed Java broker leaves it empty); a live Java broker is seen by its advisory lock where the system shows such.
 */
import { posix } from 'node:path'
import { writeFully } from './checkpoint.js'
import { type Disk, DiskError, type Processes, type ProcessIdentity } from './ports.js'

export const LOCK = '.lock'

/** Directories that this very process holds: its own pid in the file does not tell one broker of it from another. */
const held = new WeakMap<Disk, Set<string>>()

function heldOn(disk: Disk): Set<string> {
  const paths = held.get(disk) ?? new Set()
  held.set(disk, paths)
  return paths
}

/** Who uses the directory now; null for nobody. Reads only. */
export function lockHolder(disk: Disk, processes: Processes, directory: string): string | null {
  const path = posix.join(posix.normalize(directory), LOCK)
  if (heldOn(disk).has(path)) return 'another broker in this process'
  const owner = readOwner(disk, path)
  const isOurs = owner?.pid === processes.self.pid && owner.startedAt === processes.self.startedAt
  if (owner !== null && !isOurs && processes.isRunning(owner)) return `process ${owner.pid}`
  return disk.statNow(path) !== null && processes.holdsAdvisoryLock(path) ? 'a Java broker' : null
}

/** Null when the lock is ours now; else who has it. */
export function lockDirectory(disk: Disk, processes: Processes, directory: string): string | null {
  const holder = lockHolder(disk, processes, directory)
  if (holder !== null) return holder
  const path = posix.join(posix.normalize(directory), LOCK)
  writeOwner(disk, path, `${processes.self.pid} ${processes.self.startedAt}\n`)
  heldOn(disk).add(path)
  return null
}

export function unlockDirectory(disk: Disk, directory: string): void {
  const path = posix.join(posix.normalize(directory), LOCK)
  if (!heldOn(disk).delete(path)) return
  try {
    writeOwner(disk, path, '')
  } catch (error) {
    // A directory that failed cannot be unlocked either; its owner will be gone soon.
    if (!(error instanceof DiskError)) throw error
  }
}

function readOwner(disk: Disk, path: string): ProcessIdentity | null {
  if (disk.statNow(path) === null) return null
  const match = /^(\d+) (\d*)\n$/.exec(disk.readFileNow(path).toString('latin1'))
  return match === null ? null : { pid: Number(match[1]), startedAt: match[2]! }
}

function writeOwner(disk: Disk, path: string, text: string): void {
  const file = disk.openNow(path, 'create')
  try {
    file.truncateNow(0)
    writeFully(file, Buffer.from(text))
  } finally {
    file.closeNow()
  }
}
