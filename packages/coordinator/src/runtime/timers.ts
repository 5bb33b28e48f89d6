/**
 * Timers by key whose firing is one more command of the shard. Setting a key again replaces it, and a firing that waits in the
 * mailbox behind such a change is void: a heartbeat that was queued first saves its member.
 */
import type { Timers } from './ports.js'

interface Armed {
  readonly cancel: () => void
}

export class KeyedTimers {
  readonly #timers: Timers
  readonly #armed = new Map<string, Armed>()

  constructor(timers: Timers) {
    this.#timers = timers
  }

  get size(): number {
    return this.#armed.size
  }

  /** `fire` gets a question: whether this setting is still the one that counts. It becomes false by answering true. */
  set(key: string, afterMs: number, fire: (isDue: () => boolean) => void): void {
    this.#armed.get(key)?.cancel()
    const cancel = this.#timers.after(Math.max(0, afterMs), () => {
      fire(() => {
        if (this.#armed.get(key) !== armed) return false
        this.#armed.delete(key)
        return true
      })
    })
    const armed: Armed = { cancel }
    this.#armed.set(key, armed)
  }

  cancel(key: string): void {
    this.#armed.get(key)?.cancel()
    this.#armed.delete(key)
  }

  cancelAll(): void {
    for (const { cancel } of this.#armed.values()) cancel()
    this.#armed.clear()
  }
}
