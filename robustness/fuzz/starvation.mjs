// How long a process was ready to run and got no core: on a busy machine that is no lateness of its own. Linux tells it; elsewhere it is 0.
import { readFileSync } from 'node:fs'

const EVERY_MS = 25
const KEPT = 4000

export class Starvation {
  #pids
  #samples = []
  #timer

  /** Watches these processes. Of two that wait for one another, what the worse one lost counts. */
  constructor(pids) {
    this.#pids = pids
    this.#sample()
    this.#timer = setInterval(() => this.#sample(), EVERY_MS)
  }

  stop() {
    clearInterval(this.#timer)
  }

  /** ms that were lost since `began` (as performance.now() tells it), at least. */
  msSince(began) {
    this.#sample()
    const first = this.#samples.findLast(({ at }) => at <= began) ?? this.#samples[0]
    const last = this.#samples.at(-1)
    return Math.max(...last.waited.map((waited, at) => waited - first.waited[at]))
  }

  #sample() {
    const waited = this.#pids.map((pid) => {
      try {
        // Time on a core, time in the queue for one, slices; in nanoseconds.
        return Number(readFileSync(`/proc/${pid}/schedstat`, 'latin1').split(' ')[1]) / 1e6
      } catch {
        // Not Linux, or it has ended.
        return 0
      }
    })
    this.#samples.push({ at: performance.now(), waited })
    if (this.#samples.length > KEPT) this.#samples.splice(0, KEPT / 2)
  }
}
