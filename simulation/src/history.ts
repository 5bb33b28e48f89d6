/**
 * What clients were told of one partition, and what must follow from it (reliability 1.1): an acknowledged value is there, where it was
 * said to be; an offset never has two values; a value that was refused is never seen; values keep their order: those of an idempotent
 * producer, and those of another one that went over one connection. Between two connections there is none to keep: what a lost one has
 * brought the broker is appended when its turn comes, perhaps after what the next one brings.
 */
import type { Violations } from './violations.js'

/** What became of a value: refused means that it must never be seen. */
type Fate = 'unknown' | 'acknowledged' | 'refused'

interface Written {
  fate: Fate
  /** Where it was said, or seen, to be; -1 when nobody knows. */
  offset: number
  /** From an idempotent producer: it is there once at most. */
  readonly once: boolean
  readonly producer: string
  readonly number: number
  /** The connection that it was last sent on. */
  connection: number
}

export class PartitionHistory {
  readonly #written = new Map<string, Written>()
  readonly #at = new Map<number, string>()
  #highWatermark = 0
  /** Whether acknowledged values outlive a power cut: they were synced before the answer. */
  constructor(
    readonly name: string,
    readonly promise: 'synced' | 'page cache',
    private readonly violations: Violations,
  ) {}

  get acknowledgedCount(): number {
    let count = 0
    for (const { fate } of this.#written.values()) if (fate === 'acknowledged') count++
    return count
  }

  sends(value: string, from: { readonly producer: string; readonly number: number; readonly once: boolean }): void {
    this.#written.set(value, { fate: 'unknown', offset: -1, connection: -1, ...from })
  }

  sentOn(value: string, connection: number): void {
    this.#written.get(value)!.connection = connection
  }

  /** @param offset -1 when the answer did not say */
  acknowledged(value: string, offset: number): void {
    const written = this.#written.get(value)!
    written.fate = 'acknowledged'
    if (offset >= 0) this.#place(value, written, offset, 'acknowledged')
  }

  refused(value: string): void {
    const written = this.#written.get(value)!
    if (written.offset >= 0) this.violations.note('a refused value was seen', `${this.name} ${value} at ${written.offset}`)
    written.fate = 'refused'
  }

  read(offset: number, value: string): void {
    const written = this.#written.get(value)
    if (written === undefined) {
      this.violations.note('a value that nobody wrote', `${this.name} offset ${offset} ${value}`)
      return
    }
    if (written.fate === 'refused') this.violations.note('a refused value was seen', `${this.name} ${value} at ${offset}`)
    this.#place(value, written, offset, 'read')
  }

  #place(value: string, written: Written, offset: number, how: string): void {
    const there = this.#at.get(offset)
    if (there !== undefined && there !== value) {
      this.violations.note('one offset, two values', `${this.name} offset ${offset} was ${there}, ${how} ${value}`)
    }
    if (written.once && written.offset >= 0 && written.offset !== offset) {
      this.violations.note('one value twice', `${this.name} ${value} at ${written.offset} and ${offset}`)
    }
    this.#at.set(offset, value)
    if (written.offset < 0) written.offset = offset
  }

  get highWatermark(): number {
    return this.#highWatermark
  }

  /** @param atLeast what had been seen when the request was sent */
  sawHighWatermark(highWatermark: number, atLeast: number): void {
    if (highWatermark < atLeast) {
      this.violations.note('the high watermark went back', `${this.name} from ${atLeast} to ${highWatermark}`)
    }
    this.#highWatermark = Math.max(highWatermark, this.#highWatermark)
  }

  /** After a power cut without syncs: whatever lay behind the new end is gone, and that is allowed. */
  lostFrom(end: number): void {
    for (const offset of [...this.#at.keys()]) if (offset >= end) this.#at.delete(offset)
    for (const written of this.#written.values()) {
      if (written.offset >= end) {
        written.offset = -1
        written.fate = 'unknown'
      } else if (written.offset < 0 && written.fate === 'acknowledged') written.fate = 'unknown'
    }
    this.#highWatermark = Math.min(this.#highWatermark, end)
  }

  /** All that the log holds, from its start to its end. */
  holds(records: readonly { readonly offset: number; readonly value: string }[], end: number): void {
    const present = new Map<string, number>()
    let next = 0
    const lastOf = new Map<string, { number: number; value: string }>()
    for (const { offset, value } of records) {
      if (offset !== next) this.violations.note('a gap', `${this.name} offset ${next} is missing, ${offset} follows`)
      next = offset + 1
      this.read(offset, value)
      const written = this.#written.get(value)
      const before = present.get(value)
      present.set(value, offset)
      if (written === undefined || before !== undefined) continue
      const order = written.once ? written.producer : `${written.producer} on ${written.connection}`
      const last = lastOf.get(order)
      if (last !== undefined && last.number > written.number) {
        this.violations.note('out of order', `${this.name} ${value} at ${offset} after ${last.value}`)
      }
      lastOf.set(order, { number: written.number, value })
    }
    if (next < end) this.violations.note('a gap', `${this.name} ends at ${next}, its log says ${end}`)
    if (end < this.#highWatermark)
      this.violations.note('the log is shorter than what was seen', `${this.name} ${end} < ${this.#highWatermark}`)
    for (const [value, { fate, offset }] of this.#written) {
      if (fate === 'acknowledged' && !present.has(value))
        this.violations.note('lost', `${this.name} ${value}, acknowledged at ${offset}`)
    }
    for (const [offset, value] of this.#at) {
      if (!present.has(value)) this.violations.note('gone after it was seen', `${this.name} offset ${offset} ${value}`)
    }
  }
}
