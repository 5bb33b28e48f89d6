/** Holds long work to a rate: `log.cleaner.io.max.bytes.per.second`. */
import type { Clock, Timers } from '../ports.js'

/** The rate is looked at so often. */
const CHECK_MS = 300
/** A longer rest is taken in pieces, so that a cancellation is noticed. */
const LONGEST_REST_MS = 300

export class Throttle {
  #since: number
  #bytes = 0

  constructor(
    readonly bytesPerSecond: number,
    readonly clock: Clock,
    readonly timers: Timers,
  ) {
    this.#since = clock.monotonic()
  }

  /** So many bytes were moved: resolves when more may be, or when `isCancelled` says so. */
  async moved(bytes: number, isCancelled: () => boolean): Promise<void> {
    this.#bytes += bytes
    const elapsedMs = this.clock.monotonic() - this.#since
    const dueMs = (this.#bytes / this.bytesPerSecond) * 1000
    if (elapsedMs < CHECK_MS && dueMs < CHECK_MS) return
    for (let leftMs = dueMs - elapsedMs; leftMs > 0 && !isCancelled(); leftMs -= LONGEST_REST_MS) {
      await this.#rest(Math.min(leftMs, LONGEST_REST_MS))
    }
    this.#since = this.clock.monotonic()
    this.#bytes = 0
  }

  #rest(ms: number): Promise<void> {
    return new Promise((done) => {
      this.timers.after(ms, done)
    })
  }
}
