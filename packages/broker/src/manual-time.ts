/** Time for tests of a broker in a process: it stands still until the test moves it. */
import type { Clock, Timers } from './ports.js'

interface Waiting {
  readonly at: number
  readonly order: number
  readonly fire: () => void
}

/** A clock and timers in one: `startBroker({ environment: { clock: time, timers: time } })`. */
export class ManualTime implements Clock, Timers {
  #wall: number
  #monotonic = 0
  #order = 0
  readonly #waiting = new Set<Waiting>()

  /** @param now wall clock in ms since 1970 */
  constructor(now = 1_700_000_000_000) {
    this.#wall = now
  }

  now(): number {
    return this.#wall
  }

  monotonic(): number {
    return this.#monotonic
  }

  after(ms: number, fire: () => void): () => void {
    const timer = { at: this.#monotonic + Math.max(0, ms), order: this.#order++, fire }
    this.#waiting.add(timer)
    return () => void this.#waiting.delete(timer)
  }

  /** Timers that have not fired. */
  get pendingTimers(): number {
    return this.#waiting.size
  }

  /** The wall clock is set, as by an administrator or NTP; nothing that waits is moved by it. */
  setWallClock(now: number): void {
    this.#wall = now
  }

  /** Lets `ms` pass: what is due fires in order, and what hangs on promises only is done before the next one fires. */
  async advance(ms: number): Promise<void> {
    const end = this.#monotonic + ms
    for (;;) {
      await settled()
      const next = this.#nextDue(end)
      if (next === undefined) break
      this.#waiting.delete(next)
      this.#wall += next.at - this.#monotonic
      this.#monotonic = next.at
      next.fire()
    }
    this.#wall += end - this.#monotonic
    this.#monotonic = end
    await settled()
  }

  #nextDue(end: number): Waiting | undefined {
    let next: Waiting | undefined
    for (const timer of this.#waiting) {
      if (timer.at > end) continue
      if (next === undefined || timer.at < next.at || (timer.at === next.at && timer.order < next.order)) next = timer
    }
    return next
  }
}

async function settled(): Promise<void> {
  for (let i = 0; i < 50; i++) await Promise.resolve()
}
