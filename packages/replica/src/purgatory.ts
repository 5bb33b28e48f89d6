/**
 * Requests that wait: a produce for the in-sync replicas, a fetch for enough bytes. Each waits for its keys to be touched or
 * for its deadline, whichever comes first, and is answered exactly once.
 */
import type { Timers } from '@mq/log'

/** Why a request that could not complete is answered all the same. */
export type GivenUp = 'expired' | 'full' | 'closed'

export interface Delayed {
  /** Answers and returns true if it can. Asked when it is added and whenever one of its keys is touched. */
  tryComplete(): boolean
  /** Answers with what there is. Called at most once, and never after `tryComplete` returned true or after a cancel. */
  giveUp(why: GivenUp): void
}

interface Waiting {
  readonly delayed: Delayed
  readonly keys: readonly object[]
  cancelTimer: () => void
  /** Being asked at this moment: an answer may touch keys in turn, and must not be asked for twice. */
  asked: boolean
  over: boolean
}

const NOTHING_TO_CANCEL = (): void => {}

/** Keys are compared by identity. */
export class Purgatory {
  readonly #timers: Timers
  readonly #limit: number
  readonly #byKey = new Map<object, Set<Waiting>>()
  readonly #all = new Set<Waiting>()
  #isClosed = false

  /** @param options.limit most requests that may wait at a time; one more is answered at once */
  constructor(options: { readonly timers: Timers; readonly limit: number }) {
    this.#timers = options.timers
    this.#limit = options.limit
  }

  get size(): number {
    return this.#all.size
  }

  /** Whether anybody waits for the key. */
  watches(key: object): boolean {
    return this.#byKey.has(key)
  }

  /** Tries at once; else waits for a key or the deadline. The result takes it out unanswered (the client is gone). */
  add(delayed: Delayed, keys: readonly object[], waitMs: number): () => void {
    if (delayed.tryComplete()) return NOTHING_TO_CANCEL
    if (waitMs <= 0) {
      delayed.giveUp('expired')
      return NOTHING_TO_CANCEL
    }
    if (this.#isClosed || this.#all.size >= this.#limit) {
      delayed.giveUp(this.#isClosed ? 'closed' : 'full')
      return NOTHING_TO_CANCEL
    }
    const waiting: Waiting = { delayed, keys, cancelTimer: NOTHING_TO_CANCEL, asked: false, over: false }
    this.#all.add(waiting)
    for (const key of keys) {
      const others = this.#byKey.get(key)
      if (others) others.add(waiting)
      else this.#byKey.set(key, new Set([waiting]))
    }
    waiting.cancelTimer = this.#timers.after(waitMs, () => {
      if (this.#remove(waiting)) delayed.giveUp('expired')
    })
    return () => {
      this.#remove(waiting)
    }
  }

  /** Something about `key` changed: whoever waits for it tries again. */
  touch(key: object): void {
    const waitingHere = this.#byKey.get(key)
    if (!waitingHere) return
    for (const waiting of [...waitingHere]) {
      if (waiting.over || waiting.asked) continue
      waiting.asked = true
      try {
        if (waiting.delayed.tryComplete()) this.#remove(waiting)
      } finally {
        waiting.asked = false
      }
    }
  }

  /** Answers everything that waits, and whoever comes later at once. */
  close(): void {
    this.#isClosed = true
    for (const waiting of [...this.#all]) {
      if (this.#remove(waiting)) waiting.delayed.giveUp('closed')
    }
  }

  #remove(waiting: Waiting): boolean {
    if (waiting.over) return false
    waiting.over = true
    waiting.cancelTimer()
    this.#all.delete(waiting)
    for (const key of waiting.keys) {
      const others = this.#byKey.get(key)
      if (others?.delete(waiting) && others.size === 0) this.#byKey.delete(key)
    }
    return true
  }
}
