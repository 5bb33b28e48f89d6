/** Test-only: timers that fire when the test says how much time has passed. */

import type { Clock, Timers } from '../ports.js'

export class ManualTime implements Timers, Clock {
  #now = 1_000_000
  readonly #armed = new Set<{ at: number; fire: () => void }>()

  now(): number {
    return this.#now
  }
  monotonic(): number {
    return this.#now
  }
  after(delayMs: number, fire: () => void): () => void {
    const timer = { at: this.#now + delayMs, fire }
    this.#armed.add(timer)
    return () => this.#armed.delete(timer)
  }
  get armed(): number {
    return this.#armed.size
  }
  /** Lets time pass; timers fire in their order, also those that they set. */
  advance(ms: number): void {
    const end = this.#now + ms
    for (;;) {
      const due = [...this.#armed].filter(({ at }) => at <= end).sort((one, other) => one.at - other.at)[0]
      if (due === undefined) break
      this.#armed.delete(due)
      this.#now = Math.max(this.#now, due.at)
      due.fire()
    }
    this.#now = end
  }
}
