/**
 * What waits to be written to one log, in order: appends, and tasks that change the log otherwise (roll, truncate, retention).
 * One write is under way at a time; appends that arrive meanwhile leave together in the next one.
 */
import type { Admitted } from './admit.js'
import type { Appended, AppendOrigin, Refused } from './outcomes.js'
import type { Validated } from './validate.js'

export interface AppendOptions {
  readonly origin: AppendOrigin
  /** What a leader's append carries; a follower's batches have it already. */
  readonly leaderEpoch: number
}

export interface PendingAppend {
  readonly kind: 'append'
  readonly records: Buffer
  readonly options: AppendOptions
  readonly answer: (outcome: Appended | Refused) => void
  /** Something that is no refusal went wrong with this append alone. */
  readonly fail: (error: unknown) => void
  /** Set when it was checked already and had to wait for the next segment: its bytes have their offsets. */
  admitted?: Admitted
  /** Of records that are long: being looked at in a thread, or what became of that. Those behind them wait, so that the order stays. */
  aside?:
    | 'waiting'
    | { readonly kind: 'checked'; readonly checked: Validated | Refused }
    | { readonly kind: 'failed'; readonly error: unknown }
}

export interface PendingTask {
  readonly kind: 'task'
  readonly run: () => Promise<void>
}

/** Bytes that may wait for one log. Connections wait for their answers, so that only very many of them come near it. */
export const MOST_WAITING_BYTES = 256 * 1024 * 1024

export class AppendQueue {
  #items: (PendingAppend | PendingTask)[] = []
  #start = 0
  #waitingBytes = 0
  /** A write or a task is under way. */
  isBusy = false

  get isEmpty(): boolean {
    return this.#start === this.#items.length
  }

  get head(): PendingAppend | PendingTask | undefined {
    return this.#items[this.#start]
  }

  hasRoomFor(sizeInBytes: number): boolean {
    return this.#waitingBytes + sizeInBytes <= MOST_WAITING_BYTES || this.isEmpty
  }

  push(item: PendingAppend | PendingTask): void {
    this.#items.push(item)
    if (item.kind === 'append') this.#waitingBytes += item.records.length
  }

  shift(): void {
    const item = this.#items[this.#start]!
    if (item.kind === 'append') this.#waitingBytes -= item.records.length
    this.#start++
    if (this.#start === this.#items.length || this.#start > 256) {
      this.#items = this.#items.slice(this.#start)
      this.#start = 0
    }
  }
}
