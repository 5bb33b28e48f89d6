/** How signals end the process: the first one stops the broker in order and within a time, the second one at once. */
import type { Timers } from './ports.js'

/** Those of Unix and of Windows, where only Ctrl-C, Ctrl-Break and the closed window reach a process; a hang-up is a stop, as for a JVM. */
export const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGBREAK'] as const

/** A stop may take this long; then the process ends all the same. */
export const STOP_WITHIN_MS = 10_000

export interface Stopping {
  /** Undefined while it starts. */
  readonly broker: () => { close(): Promise<void> } | undefined
  readonly timers: Timers
  /** Ends the process with this code, and says why. That a stop in order has ended is noticed elsewhere. */
  readonly end: (code: number, line: string) => void
}

/** What to do with each signal that comes. */
export function onSignal({ broker, timers, end }: Stopping): (signal: string) => void {
  let signals = 0
  return (signal) => {
    const running = broker()
    if (running === undefined) return end(1, `mq-broker: ${signal} while it started\n`)
    if (++signals > 1) return end(1, 'mq-broker: a second signal: stopped at once\n')
    timers.after(STOP_WITHIN_MS, () => end(1, `mq-broker: not stopped after ${STOP_WITHIN_MS / 1000} s, ended\n`))
    void running.close()
  }
}
