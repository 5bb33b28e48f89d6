/** So many pieces of work at a time, the rest in the order in which they came. */

interface Waiting {
  readonly enter: () => void
  readonly giveUp: (reason: unknown) => void
}

export class Turns {
  #running = 0
  readonly #waiting = new Set<Waiting>()

  constructor(readonly atATime: number) {}

  /** Runs the work when its turn comes; not at all if the signal is aborted before: then it rejects with the signal's reason. */
  async run<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    if (this.#running === this.atATime) await this.#turn(signal)
    else this.#running++
    try {
      // It may have been aborted since the turn was given to it.
      signal?.throwIfAborted()
      return await work()
    } finally {
      const [next] = this.#waiting
      // The place passes to the next one without becoming free in between.
      if (next === undefined) this.#running--
      else next.enter()
    }
  }

  /** What waits now is not run any more: it rejects with the reason. What runs goes on. */
  refuseWaiting(reason: unknown): void {
    for (const { giveUp } of this.#waiting) giveUp(reason)
  }

  #turn(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted()
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting.delete(waiting)
        signal?.removeEventListener('abort', abort)
      }
      const waiting: Waiting = {
        enter: () => {
          leave()
          resolve()
        },
        giveUp: (reason) => {
          leave()
          reject(reason)
        },
      }
      const abort = () => waiting.giveUp(signal?.reason)
      this.#waiting.add(waiting)
      signal?.addEventListener('abort', abort)
    })
  }
}
