/** What a process has used so far, as Linux tells it in /proc: CPU time and resident memory. */

import { readFileSync } from 'node:fs'

/** Clock ticks are hundredths of a second on every Linux that Node runs on. */
const MS_PER_TICK = 10
const BYTES_PER_KB = 1024

/** User and system CPU time of all threads, in ms, to 10 ms. */
export function cpuMsOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The command's name may hold spaces and brackets: fields are counted behind its closing one.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK
}

export function residentBytesOf(pid: number): number {
  const line = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  if (line === null) throw new Error(`/proc/${pid}/status has no VmRSS`)
  return Number(line[1]) * BYTES_PER_KB
}
