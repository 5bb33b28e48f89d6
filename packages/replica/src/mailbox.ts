/**
 * One thing at a time, in order: what replaces a lock. A turn runs at once when nothing runs, so that the common case costs no
 * promise; while one is under way the others queue, up to a limit.
 */

/** Runs a turn that had to wait; a promise while it is under way. */
type Queued = () => Promise<unknown> | undefined

/** Places in the queue that have been used up are given back in pieces of this many. */
const COMPACT_AFTER = 1024

export class Mailbox {
  readonly #limit: number
  #queue: Queued[] = []
  /** Where in the queue the next turn stands. */
  #head = 0
  #running = false

  /** @param limit most turns that may queue */
  constructor(limit: number) {
    this.#limit = limit
  }

  get isIdle(): boolean {
    return !this.#running
  }

  /** The result of `turn`, a promise if it had to wait or is one itself; `full` when too many wait already. */
  run<R>(turn: () => R | Promise<R>): R | Promise<R> | 'full' {
    if (!this.#running) return this.#runNow(turn)
    if (this.#queue.length - this.#head >= this.#limit) return 'full'
    return new Promise<R>((resolve, reject) => {
      this.#queue.push(() => {
        try {
          const result = turn()
          resolve(result)
          return result instanceof Promise ? result : undefined
        } catch (error) {
          reject(error)
          return undefined
        }
      })
    })
  }

  #runNow<R>(turn: () => R | Promise<R>): R | Promise<R> {
    this.#running = true
    let result: R | Promise<R>
    try {
      result = turn()
    } catch (error) {
      this.#drain()
      throw error
    }
    if (result instanceof Promise) this.#drainAfter(result)
    else this.#drain()
    return result
  }

  #drainAfter(pending: Promise<unknown>): void {
    const drain = () => this.#drain()
    pending.then(drain, drain)
  }

  /** A loop and no recursion: thousands of turns that end at once may wait behind a slow one. */
  #drain(): void {
    while (this.#head < this.#queue.length) {
      const pending = this.#queue[this.#head++]!()
      if (this.#head >= COMPACT_AFTER) {
        this.#queue = this.#queue.slice(this.#head)
        this.#head = 0
      }
      if (pending) {
        this.#drainAfter(pending)
        return
      }
    }
    this.#queue = []
    this.#head = 0
    this.#running = false
  }
}
