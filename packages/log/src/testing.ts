/**
 * What tests of this package stand on: a disk in memory with faults, clocks and timers that a test moves by hand, and seeded random
 * numbers.
 */
export { MachineStopped, MemoryDisk } from './memory-disk.js'

import type { Clock, Random, Timers, Turn } from './ports.js'

/** Time stands still until `advance`; then the timers that are due fire in order. */
export class ManualTime implements Clock, Timers {
  #now: number
  #monotonic = 0
  #next = 0
  readonly #timers = new Map<number, { readonly at: number; readonly fire: () => void }>()

  constructor(now = 1_700_000_000_000) {
    this.#now = now
  }

  now(): number {
    return this.#now
  }

  monotonic(): number {
    return this.#monotonic
  }

  /** The wall clock jumps; nothing else moves. */
  jumpTo(now: number): void {
    this.#now = now
  }

  after(delayMs: number, fire: () => void): () => void {
    const id = this.#next++
    this.#timers.set(id, { at: this.#monotonic + Math.max(0, delayMs), fire })
    return () => this.#timers.delete(id)
  }

  get pendingTimers(): number {
    return this.#timers.size
  }

  advance(ms: number): void {
    const end = this.#monotonic + ms
    for (;;) {
      const due = [...this.#timers].filter(([, timer]) => timer.at <= end).sort((a, b) => a[1].at - b[1].at || a[0] - b[0])[0]
      if (due === undefined) break
      this.#timers.delete(due[0])
      this.#now += due[1].at - this.#monotonic
      this.#monotonic = due[1].at
      due[1].fire()
    }
    this.#now += end - this.#monotonic
    this.#monotonic = end
  }
}

/** Work that waits for the end of a turn, run by hand. */
export class ManualTurn implements Turn {
  #waiting: (() => void)[] = []

  afterThisTurn(run: () => void): void {
    this.#waiting.push(run)
  }

  end(): void {
    const runs = this.#waiting
    this.#waiting = []
    for (const run of runs) run()
  }
}

/** Numbers that depend on the seed alone (mulberry32). */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    next,
    bytes(count) {
      const bytes = Buffer.alloc(count)
      for (let at = 0; at < count; at++) bytes[at] = Math.floor(next() * 256)
      return bytes
    },
  }
}
