/**
 * The lock of a log directory: `.lock`, with the pid and start time of its owner. An empty file, or one whose owner is gone, is no
 * lock (a killed Java broker leaves it empty); a live Java broker is seen by its advisory lock where the system shows such.
 *
 * Node has no locks of files, so processes that start in the same instant settle it by names. Each first makes a claim, a file that is
 * called after it, then looks for the claims of others, and only then at `.lock`:
 *
 *   - a claim whose name comes first among those of live processes: the others give way to it;
 *   - it goes on when all other claims are gone, and when `.lock` still names nobody it writes its own name there; then its claim goes.
 *
 * Of two at least one sees the other's claim, and whoever does not see one finds `.lock` written. So at most one has the directory, and
 * unless it dies meanwhile, one has it.
 */
import { posix } from 'node:path'
import { type Clock, type Disk, DiskError, type Processes, type ProcessIdentity } from './ports.js'
import { writeAllNow } from './write-all.js'

export const LOCK = '.lock'
const CLAIM = /^\.lock-(\d+)-(\d*)$/

/** A claim stands for as long as a few small files take; one that stays is of a process that was stopped. */
const CLAIM_STANDS_MS = 5000

const HERE = 'another broker in this process'

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
  return heldOn(disk).has(path) ? HERE : holderOf(disk, processes, path)
}

/** What a lock needs of the outside. */
export interface Locking {
  readonly disk: Disk
  readonly processes: Processes
  readonly clock: Pick<Clock, 'monotonic'>
}

/** Null when the lock is ours now; else who has it. @throws DiskError */
export async function lockDirectory(locking: Locking, directory: string): Promise<string | null> {
  const folder = posix.normalize(directory)
  const path = posix.join(folder, LOCK)
  const ours = heldOn(locking.disk)
  if (ours.has(path)) return HERE
  ours.add(path)
  let holder: string | null = 'nobody yet'
  try {
    holder = holderOf(locking.disk, locking.processes, path) ?? (await settle(locking, folder, path))
    return holder
  } finally {
    if (holder !== null) ours.delete(path)
  }
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

/** Another live process that `.lock` names or that has an advisory lock on it; null for nobody. */
function holderOf(disk: Disk, processes: Processes, path: string): string | null {
  const owner = readOwner(disk, path)
  if (owner !== null && !isSame(owner, processes.self) && processes.isRunning(owner)) return nameOf(owner)
  return disk.statNow(path) !== null && processes.holdsAdvisoryLock(path) ? 'a Java broker' : null
}

async function settle(locking: Locking, folder: string, path: string): Promise<string | null> {
  const { disk, processes, clock } = locking
  const own = claimOf(processes.self)
  disk.openNow(posix.join(folder, own), 'create').closeNow()
  try {
    for (const began = clock.monotonic(); ; ) {
      const others = claimsOfOthers(locking, folder)
      const holder = holderOf(disk, processes, path)
      if (holder !== null) return holder
      const first = others.find((other) => claimOf(other) < own)
      if (first !== undefined) return nameOf(first)
      if (others.length === 0) break
      if (clock.monotonic() - began > CLAIM_STANDS_MS) return nameOf(others[0]!)
      // As long a pause as the disk makes it, which keeps the process alive.
      await disk.syncDirectory(folder)
    }
    writeOwner(disk, path, `${processes.self.pid} ${processes.self.startedAt}\n`)
    return null
  } finally {
    disk.removeNow(posix.join(folder, own))
  }
}

const claimOf = ({ pid, startedAt }: ProcessIdentity): string => `${LOCK}-${pid}-${startedAt}`
const nameOf = ({ pid }: ProcessIdentity): string => `process ${pid}`
const isSame = (a: ProcessIdentity, b: ProcessIdentity): boolean => a.pid === b.pid && a.startedAt === b.startedAt

/** Of live processes; what the dead have left is removed. */
function claimsOfOthers({ disk, processes }: Locking, folder: string): ProcessIdentity[] {
  const others: ProcessIdentity[] = []
  for (const { name } of disk.listNow(folder)) {
    const match = CLAIM.exec(name)
    if (match === null) continue
    const claimant = { pid: Number(match[1]), startedAt: match[2]! }
    if (isSame(claimant, processes.self)) continue
    if (processes.isRunning(claimant)) others.push(claimant)
    else disk.removeNow(posix.join(folder, name))
  }
  return others
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
    writeAllNow(file, [Buffer.from(text)], 0)
  } finally {
    file.closeNow()
  }
}
