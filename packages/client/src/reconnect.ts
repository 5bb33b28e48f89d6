/**
 * Pure: how long a broker is left alone after it could not be reached. The pauses double from 50 ms to 2.5 s with jitter, so that
 * a client whose brokers are all down neither spins nor stays away for long when they return.
 */

import type { Random } from './ports.js'

const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 2_500
const JITTER = 0.2
/** More addresses than any cluster has: beyond it the memory of failures starts anew. */
const MOST_ADDRESSES = 10_000

export class ReconnectPauses {
  readonly #failed = new Map<string, { count: number; until: number }>()

  /** Monotonic ms before which the address is not to be tried; 0: at once. */
  notBefore(address: string): number {
    return this.#failed.get(address)?.until ?? 0
  }

  failed(address: string, now: number, random: Random): void {
    if (this.#failed.size >= MOST_ADDRESSES) this.#failed.clear()
    const count = (this.#failed.get(address)?.count ?? 0) + 1
    const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (count - 1))
    this.#failed.set(address, { count, until: now + pause * (1 - JITTER + 2 * JITTER * random.next()) })
  }

  succeeded(address: string): void {
    this.#failed.delete(address)
  }
}
