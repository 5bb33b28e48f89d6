/**
 * One thing at a time, in order: what replaces a lock. A turn runs at once when nothing runs, so that the common case costs no
 * promise; while one is under way the others queue, up to a limit.
 */

interface Queued {
  start(): void
}

export class Mailbox {
  readonly #limit: number
  readonly #queue: Queued[] = []
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
    if (this.#queue.length >= this.#limit) return 'full'
    return new Promise<R>((resolve, reject) => {
      this.#queue.push({
        start: () => {
          try {
            const result = this.#runNow(turn)
            if (result instanceof Promise) result.then(resolve, reject)
            else resolve(result)
          } catch (error) {
            reject(error)
          }
        },
      })
    })
  }

  #runNow<R>(turn: () => R | Promise<R>): R | Promise<R> {
    this.#running = true
    let result: R | Promise<R>
    try {
      result = turn()
    } catch (error) {
      this.#next()
      throw error
    }
    if (!(result instanceof Promise)) {
      this.#next()
      return result
    }
    const next = () => this.#next()
    result.then(next, next)
    return result
  }

  #next(): void {
    this.#running = false
    // A turn that ends at once starts the one after it, so this loop is short.
    this.#queue.shift()?.start()
  }
}
