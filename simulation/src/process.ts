/**
 * A process as the system sees it: what it asked for (timers, work for the end of a turn) ends with it at once, in the middle of
 * whatever it does. Code of a dead process may still run to its next promise; nothing of that reaches anybody.
 */
import type { World } from './world.js'

/** Thrown into the code of a process that was killed in the middle of an operation. */
export class ProcessKilled extends Error {
  override readonly name = 'ProcessKilled'
}

export class Process {
  #isAlive = true
  readonly #timers = new Set<() => void>()
  readonly #whenKilled = new Set<() => void>()

  constructor(
    readonly name: string,
    readonly pid: number,
    readonly world: World,
    /** An exception that nobody caught. */
    private readonly uncaught: (error: unknown) => void,
  ) {}

  get isAlive(): boolean {
    return this.#isAlive
  }

  /** Timers that have neither fired nor been cancelled. */
  get pendingTimers(): number {
    return this.#timers.size
  }

  after(delayMs: number, what: string, fire: () => void): () => void {
    if (!this.#isAlive) return () => {}
    let cancel = () => {}
    const forget = () => {
      this.#timers.delete(forget)
      cancel()
    }
    cancel = this.world.after(delayMs, `${this.name} ${what}`, () => {
      this.#timers.delete(forget)
      this.run(fire)
    })
    this.#timers.add(forget)
    return forget
  }

  afterThisTurn(run: () => void): void {
    if (this.#isAlive) this.world.afterThisTurn(`${this.name} turn`, () => this.run(run))
  }

  /** Runs a callback as the system would: not in a dead process, and what it throws ends the process. */
  run(callback: () => void): void {
    if (!this.#isAlive) return
    try {
      callback()
    } catch (error) {
      if (!(error instanceof ProcessKilled)) this.uncaught(error)
    }
  }

  onKill(then: () => void): void {
    this.#whenKilled.add(then)
  }

  kill(): void {
    if (!this.#isAlive) return
    this.#isAlive = false
    for (const forget of [...this.#timers]) forget()
    for (const then of this.#whenKilled) then()
  }
}
