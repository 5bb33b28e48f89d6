/**
 * Timers by key whose firing is one more command of the shard. Setting a key again replaces it, and a firing that waits in the
 * mailbox behind such a change is void: a heartbeat that was queued first saves its member.
 *
 * A timer that fires late tells of a process that stood still. What members sent meanwhile lies unread in the sockets, so it waits a
 * little more before it speaks of their silence.
 */
import type { Clock, Timers } from './ports.js'

/** So late that it is no ordinary delay. */
const LATE_MS = 500
/** For what came in while the process stood still. */
const GRACE_MS = 1000

interface Armed {
  cancel: () => void
}

export class KeyedTimers {
  readonly #timers: Timers
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #armed = new Map<string, Armed>()

  constructor(timers: Timers, clock: Pick<Clock, 'monotonic'>) {
    this.#timers = timers
    this.#clock = clock
  }

  get size(): number {
    return this.#armed.size
  }

  /** `fire` gets a question: whether this setting is still the one that counts. It becomes false by answering true. */
  set(key: string, afterMs: number, fire: (isDue: () => boolean) => void): void {
    this.#armed.get(key)?.cancel()
    const due = this.#clock.monotonic() + Math.max(0, afterMs)
    const fireUnlessReplaced = () =>
      fire(() => {
        if (this.#armed.get(key) !== armed) return false
        this.#armed.delete(key)
        return true
      })
    const armed: Armed = {
      cancel: this.#timers.after(Math.max(0, afterMs), () => {
        if (this.#clock.monotonic() - due <= LATE_MS) fireUnlessReplaced()
        else armed.cancel = this.#timers.after(GRACE_MS, fireUnlessReplaced)
      }),
    }
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
