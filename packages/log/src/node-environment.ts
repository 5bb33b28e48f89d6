/** The outside of a log on this machine: its clock, timers, random numbers, disk and processes. */
import { randomBytes } from 'node:crypto'
import { nodeDisk, nodeProcesses } from './disk-node.js'
import { InlineOffload } from './offload.js'
import { WorkerOffload } from './offload-node.js'
import type { Clock, Disk, Offload, Processes, Random, Time, Timers, Turn } from './ports.js'
import { after, nodeTime } from './time-node.js'

export const nodeEnvironment: {
  clock: Clock
  timers: Timers
  random: Random
  disk: Disk
  processes: Processes
  pause: Turn
  offload: (disk: Disk, time: Time) => Offload
} = {
  ...nodeTime,
  random: { next: () => Math.random(), bytes: (count) => randomBytes(count) },
  disk: nodeDisk,
  processes: nodeProcesses,
  pause: { afterThisTurn: (run) => void setImmediate(run) },
  // A thread knows the file system of this machine and no other disk.
  offload: (disk, time) => (disk === nodeDisk ? new WorkerOffload() : new InlineOffload(disk, time)),
}

/** Timers that the process waits for: whoever follows a log wants to live until the next record. */
export const wakingTimers: Timers = { after: (delayMs, fire) => after(delayMs, fire, true) }
