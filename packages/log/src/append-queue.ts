/**
 * What waits to be written to one log, in order: appends, and tasks that change the log otherwise (roll, truncate, retention).
 * One write is under way at a time; appends that arrive meanwhile leave together in the next one.
 */
import * as protocol from '@mq/protocol'
import type { Admitted } from './admit.js'
import type { Appended, AppendOrigin, Refused } from './outcomes.js'
import type { AbortedEntry } from './txn-index.js'
import type { Validated } from './validate.js'

/** Bound once: a use through the package's door is a look-up in a large table. */
const { hold, release } = protocol

export interface AppendOptions {
  readonly origin: AppendOrigin
  /** What a leader's append carries; a follower's batches have it already. */
  readonly leaderEpoch: number
}

/** Of records that are long: being looked at in a thread, or what became of that. Those behind them wait, so that the order stays. */
export type Aside =
  | 'waiting'
  | { readonly kind: 'checked'; readonly checked: Validated | Refused }
  | { readonly kind: 'failed'; readonly error: unknown }

/** One caller's records on their way into the file. Their memory is held until the answer. */
export class PendingAppend {
  readonly kind = 'append'
  /** Set once it was checked, before its write or because it has to wait for the next segment: its bytes have their offsets. */
  admitted: Admitted | undefined = undefined
  /** Transactions that its markers ended so. */
  aborted: readonly AbortedEntry[] = NOTHING_ABORTED
  aside: Aside | undefined = undefined

  constructor(
    readonly records: Buffer,
    readonly options: AppendOptions,
    readonly resolve: (outcome: Appended | Refused) => void,
    readonly reject: (error: unknown) => void,
  ) {
    hold(records)
  }

  answer(outcome: Appended | Refused): void {
    release(this.records)
    this.resolve(outcome)
  }

  /** Something that is no refusal went wrong with this append alone. */
  fail(error: unknown): void {
    release(this.records)
    this.reject(error)
  }
}

export const NOTHING_ABORTED: readonly AbortedEntry[] = []

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
