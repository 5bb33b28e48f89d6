/**
 * One command at a time, in order, instead of a lock. An idle mailbox runs its turn at once; a busy one queues up to a limit and
 * then says so.
 */
type Turn = () => void | Promise<void>

/** Queue slots that have been used up are given back in pieces of this many. */
const COMPACT_AFTER = 1024

export class Mailbox {
  readonly #limit: number
  #queue: Turn[] = []
  #head = 0
  #running = false

  /** @param limit most turns that may wait */
  constructor(limit: number) {
    this.#limit = limit
  }

  get waiting(): number {
    return this.#queue.length - this.#head
  }

  /** False when it is full: the turn will not run. A turn must not throw. */
  add(turn: Turn): boolean {
    if (this.waiting >= this.#limit) return false
    this.#queue.push(turn)
    if (!this.#running) this.#drain()
    return true
  }

  /** Forgets what waits; what runs now ends as it ends. */
  clear(): void {
    this.#queue = []
    this.#head = 0
  }

  #drain(): void {
    this.#running = true
    while (this.#head < this.#queue.length) {
      const turn = this.#queue[this.#head++]!
      if (this.#head >= COMPACT_AFTER) {
        this.#queue.splice(0, this.#head)
        this.#head = 0
      }
      const pending = turn()
      if (pending instanceof Promise) {
        const next = () => this.#drain()
        pending.then(next, next)
        return
      }
    }
    this.clear()
    this.#running = false
  }
}
