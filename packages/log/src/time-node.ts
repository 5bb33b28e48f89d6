/** Clock and timers of this machine. */
import type { Clock, Timers } from './ports.js'

/** setTimeout fires at once beyond it. */
const LONGEST_TIMEOUT_MS = 0x7fff_ffff

/** `holds`: whether the process stays for it. */
export function after(delayMs: number, fire: () => void, holds: boolean): () => void {
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

export const nodeTime: { readonly clock: Clock; readonly timers: Timers } = {
  clock: { now: () => Date.now(), monotonic: () => performance.now() },
  timers: { after: (delayMs, fire) => after(delayMs, fire, false) },
}
