// How long a process was ready to run and got no core: on a busy machine that is no lateness of its own. Linux tells it; elsewhere it is 0.
import { readFileSync } from 'node:fs'

const EVERY_MS = 25
const KEPT = 4000

export class Starvation {
  #pids
  #samples = []
  #timer

  /** Watches these processes; two that wait for one another are both on the way of an answer, so their times add up. */
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
    return this.#samples.at(-1).waited - first.waited
  }

  #sample() {
    let waited = 0
    for (const pid of this.#pids) {
      try {
        // Time on a core, time in the queue for one, slices; in nanoseconds.
        waited += Number(readFileSync(`/proc/${pid}/schedstat`, 'latin1').split(' ')[1]) / 1e6
      } catch {
        // Not Linux, or it has ended.
      }
    }
    this.#samples.push({ at: performance.now(), waited })
    if (this.#samples.length > KEPT) this.#samples.splice(0, KEPT / 2)
  }
}
