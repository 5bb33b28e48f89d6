/** For tests: timers that fire when the test says how much time has passed, and turns that end when it says so. */
import type { Timers, Turn } from '@mq/log'

interface Due {
  readonly at: number
  readonly order: number
  readonly fire: () => void
}

export class FakeTimers implements Timers {
  #now = 0
  #order = 0
  readonly #due = new Set<Due>()

  get now(): number {
    return this.#now
  }
  get pending(): number {
    return this.#due.size
  }

  after(delayMs: number, fire: () => void): () => void {
    const due: Due = { at: this.#now + Math.max(0, delayMs), order: this.#order++, fire }
    this.#due.add(due)
    return () => {
      this.#due.delete(due)
    }
  }

  /** Lets time pass; what falls due fires in order of time, then of setting. */
  advance(ms: number): void {
    const until = this.#now + ms
    for (;;) {
      let next: Due | undefined
      for (const due of this.#due) {
        if (due.at > until) continue
        if (next === undefined || due.at < next.at || (due.at === next.at && due.order < next.order)) next = due
      }
      if (next === undefined) break
      this.#now = next.at
      this.#due.delete(next)
      next.fire()
    }
    this.#now = until
  }
}

/** What was put off until after this turn runs when `end` is called. */
export class FakeTurn implements Turn {
  #later: (() => void)[] = []

  afterThisTurn(run: () => void): void {
    this.#later.push(run)
  }

  end(): void {
    while (this.#later.length > 0) {
      const now = this.#later
      this.#later = []
      for (const run of now) run()
    }
  }
}
