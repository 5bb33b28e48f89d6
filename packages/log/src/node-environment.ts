/** The outside of a log on this machine: its clock, timers, random numbers, disk and processes. */
import { randomBytes } from 'node:crypto'
import { nodeDisk, nodeProcesses } from './disk-node.js'
import { InlineOffload } from './offload.js'
import { WorkerOffload } from './offload-node.js'
import type { Clock, Disk, Offload, Processes, Random, Timers } from './ports.js'

/** setTimeout fires at once beyond it. */
const LONGEST_TIMEOUT_MS = 0x7fff_ffff

/** `holds`: whether the process stays for it. */
function after(delayMs: number, fire: () => void, holds: boolean): () => void {
  let timeout: NodeJS.Timeout
  const arm = (left: number): void => {
    timeout = setTimeout(
      () => (left > LONGEST_TIMEOUT_MS ? arm(left - LONGEST_TIMEOUT_MS) : fire()),
      Math.min(left, LONGEST_TIMEOUT_MS),
    )
    // A process that has nothing else to do need not wait for retention.
    if (!holds) timeout.unref()
  }
  arm(Math.max(0, delayMs))
  return () => clearTimeout(timeout)
}

export const nodeEnvironment: {
  clock: Clock
  timers: Timers
  random: Random
  disk: Disk
  processes: Processes
  offload: (disk: Disk) => Offload
} = {
  clock: { now: () => Date.now(), monotonic: () => performance.now() },
  timers: { after: (delayMs, fire) => after(delayMs, fire, false) },
  random: { next: () => Math.random(), bytes: (count) => randomBytes(count) },
  disk: nodeDisk,
  processes: nodeProcesses,
  // A thread knows the file system of this machine and no other disk.
  offload: (disk) => (disk === nodeDisk ? new WorkerOffload() : new InlineOffload(disk)),
}

/** Timers that the process waits for: whoever follows a log wants to live until the next record. */
export const wakingTimers: Timers = { after: (delayMs, fire) => after(delayMs, fire, true) }
