/**
 * Bounds the answers that lie in memory because their clients do not read them, over all connections. While there are too many bytes of
 * them, requests with large answers are not begun; clients that have taken nothing for a while are closed, the oldest first.
 */
import type { Clock, Timers } from '../ports.js'

/** A connection, as the budget sees it. */
export interface Reader {
  /** Bytes written that the client has not taken. */
  readonly unsentBytes: number
  /** It may begin the request that it was told to hold back. */
  goOn(): void
  close(reason: string): void
}

export interface UnsentBudgetOptions {
  readonly limitBytes: number
  /** So long a client may take nothing when memory is short. */
  readonly patienceMs: number
  readonly clock: Pick<Clock, 'monotonic'>
  readonly timers: Timers
}

export class UnsentBudget {
  readonly #options: UnsentBudgetOptions
  /** Clients that do not read at the moment, the longest first. */
  readonly #stalled = new Map<Reader, { readonly bytes: number; readonly since: number }>()
  readonly #waiting = new Set<Reader>()
  #totalBytes = 0
  #cancel: (() => void) | undefined

  constructor(options: UnsentBudgetOptions) {
    this.#options = options
  }

  get totalBytes(): number {
    return this.#totalBytes
  }

  /** The socket is full: until `flowing`, what is unsent counts. */
  stalled(reader: Reader): void {
    this.#forget(reader)
    const bytes = reader.unsentBytes
    this.#stalled.set(reader, { bytes, since: this.#options.clock.monotonic() })
    this.#totalBytes += bytes
  }

  /** The client has taken all that was unsent. */
  flowing(reader: Reader): void {
    this.#forget(reader)
    this.#release()
  }

  gone(reader: Reader): void {
    this.#waiting.delete(reader)
    this.flowing(reader)
  }

  /** Whether a request with a large answer may be begun; if not, `goOn` tells when. */
  mayBegin(reader: Reader): boolean {
    if (this.#totalBytes < this.#options.limitBytes) return true
    this.#waiting.add(reader)
    this.#watch()
    return false
  }

  close(): void {
    this.#cancel?.()
    this.#cancel = undefined
    this.#waiting.clear()
  }

  #forget(reader: Reader): void {
    const entry = this.#stalled.get(reader)
    if (entry === undefined) return
    this.#stalled.delete(reader)
    this.#totalBytes -= entry.bytes
  }

  #release(): void {
    for (const reader of this.#waiting) {
      if (this.#totalBytes >= this.#options.limitBytes) return
      this.#waiting.delete(reader)
      reader.goOn()
    }
    if (this.#waiting.size === 0) {
      this.#cancel?.()
      this.#cancel = undefined
    }
  }

  /** Looks again when the client that has been stuck longest has used up its patience. */
  #watch(): void {
    if (this.#cancel !== undefined) return
    const [oldest] = this.#stalled.values()
    if (oldest === undefined) return
    const { clock, timers, patienceMs } = this.#options
    this.#cancel = timers.after(Math.max(0, oldest.since + patienceMs - clock.monotonic()), () => {
      this.#cancel = undefined
      this.#closeStuck()
      if (this.#waiting.size > 0) this.#watch()
    })
  }

  #closeStuck(): void {
    const { clock, patienceMs, limitBytes } = this.#options
    const stuckSince = clock.monotonic() - patienceMs
    for (const [reader, { since }] of [...this.#stalled]) {
      if (since > stuckSince || this.#totalBytes < limitBytes) return
      reader.close('it does not read its answers, and memory is short')
      this.#forget(reader)
    }
    this.#release()
  }
}
