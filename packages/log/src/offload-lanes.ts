/** Who may run now: two jobs of each lane, the rest wait in the order in which they came. */
import type { Lane } from './jobs/job.js'
import { Turns } from './turns.js'

const AT_A_TIME = 2

export class Lanes {
  readonly #turns: { readonly [Name in Lane]: Turns } = { request: new Turns(AT_A_TIME), background: new Turns(AT_A_TIME) }

  /** Runs the work when its turn comes; not at all if the signal is aborted before: then it rejects with the signal's reason. */
  run<Result>(lane: Lane, signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    return this.#turns[lane].run(work, signal)
  }
}
