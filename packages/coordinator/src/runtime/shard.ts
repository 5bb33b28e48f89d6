/**
 * What a kind of coordinator is made of: a state, a pure `decide` that names what is to be written, answered and timed, and an
 * `apply` that is the only way a written record changes the state, live and after a restart alike (STYLE 1.4).
 */
import type { ErrorName } from '@mq/protocol'

/** One request that waits for its answer. */
export type RequestId = number

/** The types of one kind of shard, in one bundle. */
export interface ShardTypes {
  /** What the log says, and what only memory knows. */
  readonly State: unknown
  readonly Command: unknown
  /** What is written: one record of the internal topic. */
  readonly LogRecord: unknown
  readonly Reply: unknown
  /** What a restart forgets: rounds under way, who waits. */
  readonly Change: unknown
  /** Work outside of the shard, done once the records are committed. */
  readonly Effect: unknown
}

/** Set: `command` is given to the shard after `afterMs`, unless the key is set again or cancelled before. */
export type TimerChange<Command> =
  | { readonly kind: 'set'; readonly key: string; readonly afterMs: number; readonly command: Command }
  | { readonly kind: 'cancel'; readonly key: string }

/** A line for the log, written once the decision holds. */
export interface Note {
  readonly level: 'info' | 'warn'
  readonly fields: object
  readonly message: string
}

export interface Decision<T extends ShardTypes> {
  /** Appended as one batch: all or none. Everything below holds only if they are in the log. */
  readonly records?: readonly T['LogRecord'][]
  readonly changes?: readonly T['Change'][]
  /** May answer others as well, who were parked; a request that is not among them is parked. */
  readonly replies?: readonly (readonly [RequestId, T['Reply']])[]
  readonly timers?: readonly TimerChange<T['Command']>[]
  readonly effects?: readonly T['Effect'][]
  /** When to answer; `written`: the answer promises nothing that a lost leader could break. Default: committed. */
  readonly answerWhen?: 'written' | 'committed'
  /** The replies show what the record at this offset says: they wait until it is committed, as they wait for their own records. */
  readonly shows?: number
  /** Given to the shard when the records are refused and nothing was written. */
  readonly ifRefused?: (error: ErrorName) => T['Command']
  /** More of the same work, next in line: keeps one batch small. The request is answered by it. */
  readonly next?: T['Command']
  readonly notes?: readonly Note[]
}

/** Where a record stands. */
export interface Place {
  readonly offset: number
  /** Whether the high watermark has passed it. While loading everything counts as committed. */
  readonly committed: boolean
  /** The producer whose transaction it belongs to; null outside of one. */
  readonly transactionOf: number | null
}

/** What decide may know beside the state. */
export interface Moment {
  /** Wall clock, milliseconds. */
  readonly now: number
  /** The request that the command came with; a negative number for commands of timers. */
  readonly request: RequestId
}

export interface KeyAndValue {
  readonly key: Buffer
  /** Null: a tombstone. */
  readonly value: Buffer | null
}

/** Bytes that are not a record of ours: skipped, with a line in the log. */
export interface Unreadable {
  readonly kind: 'unreadable'
  readonly reason: string
}

export interface Shard<T extends ShardTypes> {
  /** For log lines. */
  readonly name: string
  empty(): T['State']
  decide(state: T['State'], command: T['Command'], moment: Moment): Decision<T>
  /** Takes over what a restart forgets. */
  remember(state: T['State'], change: T['Change']): void
  apply(state: T['State'], record: T['LogRecord'], place: Place): void
  /** A transaction of this producer has ended in this partition. */
  endTransaction(state: T['State'], producerId: number, outcome: 'commit' | 'abort'): void
  /** After a load: timers to arm, rounds to begin, effects still owed. */
  loaded(state: T['State'], moment: Moment): Decision<T>
  /** The high watermark has moved: records before it are committed. */
  committed(state: T['State'], highWatermark: number): void
  /** How to say no to this command. */
  refusal(command: T['Command'], error: ErrorName): T['Reply']
  encode(record: T['LogRecord']): KeyAndValue
  decode(key: Buffer | null, value: Buffer | null): T['LogRecord'] | Unreadable
}
