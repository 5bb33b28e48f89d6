/**
 * A partition and a time that tests hold in their hands. The partition is a log in memory that can be slow to commit, refuse, or fail;
 * with it the coordinator runs without a broker.
 */
import { RECORD_BATCH, RecordBatch } from '@mq/protocol'
import type {
  Clock,
  PartitionAppended,
  PartitionCommitted,
  PartitionPort,
  PartitionRefused,
  Random,
  Timers,
} from './runtime/ports.js'

/** Time that moves only by `advance`, and the timers that hang on it. Wall clock and monotonic clock go alike. */
export class ManualTime implements Clock, Timers {
  #now: number
  readonly #timers = new Set<{ readonly at: number; readonly order: number; readonly fire: () => void }>()
  #order = 0

  /** @param now wall clock in milliseconds */
  constructor(now = 1_700_000_000_000) {
    this.#now = now
  }

  now(): number {
    return this.#now
  }

  monotonic(): number {
    return this.#now
  }

  after(delayMs: number, fire: () => void): () => void {
    const timer = { at: this.#now + delayMs, order: this.#order++, fire }
    this.#timers.add(timer)
    return () => {
      this.#timers.delete(timer)
    }
  }

  get timerCount(): number {
    return this.#timers.size
  }

  /** Fires what is due, in order of time; after each timer what hangs on promises is done. */
  async advance(ms: number): Promise<void> {
    const until = this.#now + ms
    for (;;) {
      await settled()
      let next: { readonly at: number; readonly order: number; readonly fire: () => void } | undefined
      for (const timer of this.#timers) {
        if (timer.at > until) continue
        if (!next || timer.at < next.at || (timer.at === next.at && timer.order < next.order)) next = timer
      }
      if (!next) break
      this.#now = Math.max(this.#now, next.at)
      this.#timers.delete(next)
      next.fire()
    }
    this.#now = until
    await settled()
  }
}

/** Lets everything run that waits for promises only. */
export async function settled(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve()
}

/** Numbers that are the same for the same seed (mulberry32). */
export class SeededRandom implements Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  bytes(count: number): Buffer {
    return Buffer.from(Array.from({ length: count }, () => Math.floor(this.next() * 256)))
  }
}

type Appending = PartitionAppended | PartitionRefused

/** A partition's log in memory. By default everything is committed as soon as it is written. */
export class MemoryPartition implements PartitionPort {
  readonly batches: Buffer[] = []
  /** What happens to appends: `commit` at once, `hold` back the high watermark, or write after the test says so (`slow`). */
  mode: 'commit' | 'hold' | 'slow' = 'commit'
  /** The next append is refused with this error, or with an Error thrown. */
  failure: string | Error | null = null
  /** The next read fails. */
  readFailure: Error | null = null
  highWatermark = 0
  #end = 0
  #waiters: { readonly offset: number; readonly done: (outcome: PartitionCommitted | PartitionRefused) => void }[] = []
  #slow: (() => void)[] = []

  constructor(
    readonly partition = 0,
    readonly topic = '__consumer_offsets',
  ) {}

  /** Offset of the next record. */
  get logEndOffset(): number {
    return this.#end
  }

  append(records: Buffer): Appending | Promise<Appending> {
    const failure = this.failure
    this.failure = null
    if (failure instanceof Error) throw failure
    if (failure !== null) return { kind: 'refused', error: failure, message: 'as the test wants it' }
    if (this.mode !== 'slow') return this.#write(records)
    return new Promise((resolve) => {
      this.#slow.push(() => resolve(this.#write(records)))
    })
  }

  async *read(): AsyncGenerator<Buffer> {
    const failure = this.readFailure
    this.readFailure = null
    if (failure) throw failure
    for (const batch of [...this.batches]) yield batch
  }

  whenCommitted(offset: number): PartitionCommitted | Promise<PartitionCommitted | PartitionRefused> {
    if (offset < this.highWatermark) return { kind: 'committed' }
    return new Promise((done) => {
      this.#waiters.push({ offset, done })
    })
  }

  /** Ends the appends that are under way. */
  finishAppends(): void {
    for (const finish of this.#slow.splice(0)) finish()
  }

  /** Moves the high watermark, to the end by default. */
  commit(highWatermark = this.#end): void {
    this.highWatermark = highWatermark
    const waiters = this.#waiters
    this.#waiters = waiters.filter(({ offset }) => offset >= highWatermark)
    for (const { offset, done } of waiters) if (offset < highWatermark) done({ kind: 'committed' })
  }

  /** Leadership is gone: whoever waits hears of it. */
  lose(): void {
    for (const { done } of this.#waiters.splice(0)) done({ kind: 'refused', error: 'NOT_LEADER_OR_FOLLOWER' })
  }

  /** Puts bytes into the log as some other broker may have left them. */
  plant(batch: Buffer): void {
    this.#write(batch)
  }

  #write(records: Buffer): PartitionAppended {
    const bytes = Buffer.from(records)
    const firstOffset = this.#end
    RECORD_BATCH.baseOffset.set(bytes, 0, firstOffset)
    const { lastOffset } = new RecordBatch(bytes)
    this.batches.push(bytes)
    this.#end = lastOffset + 1
    if (this.mode === 'commit') this.commit()
    return { kind: 'appended', firstOffset, lastOffset }
  }
}
