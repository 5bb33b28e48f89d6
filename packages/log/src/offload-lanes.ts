/** Who may run now: two jobs of each lane, the rest wait in the order in which they came. */
import type { Lane } from './jobs/job.js'

export const AT_A_TIME = 2

interface Queue {
  running: number
  readonly waiting: Set<() => void>
}

export class Lanes {
  readonly #queues: { readonly [Name in Lane]: Queue } = {
    request: { running: 0, waiting: new Set() },
    background: { running: 0, waiting: new Set() },
  }

  /** Runs the work when its turn comes; not at all if the signal is aborted before: then it rejects with the signal's reason. */
  async run<Result>(lane: Lane, signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    const queue = this.#queues[lane]
    signal.throwIfAborted()
    if (queue.running === AT_A_TIME) await turnOf(queue, signal)
    else queue.running++
    try {
      return await work()
    } finally {
      const [next] = queue.waiting
      // The place passes to the next one without becoming free in between.
      if (next === undefined) queue.running--
      else next()
    }
  }
}

function turnOf({ waiting }: Queue, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = () => {
      waiting.delete(enter)
      signal.removeEventListener('abort', giveUp)
    }
    const enter = () => {
      leave()
      resolve()
    }
    const giveUp = () => {
      leave()
      reject(signal.reason)
    }
    waiting.add(enter)
    signal.addEventListener('abort', giveUp)
  })
}
