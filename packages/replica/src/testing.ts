/** For tests: timers that fire when the test says how much time has passed, and turns that end when it says so. */
import { DEFAULT_TOPIC_CONFIG, type LogPartition, type Read, type Timers, type Turn } from '@mq/log'
import type { PartitionConfig } from './partition.js'
import type { PartitionLog } from './ports.js'

interface Due {
  readonly at: number
  readonly order: number
  readonly fire: () => void
}

export class FakeTimers implements Timers {
  #now = 0
  #order = 0
  readonly #due = new Set<Due>()

  get now(): number {
    return this.#now
  }
  get pending(): number {
    return this.#due.size
  }

  after(delayMs: number, fire: () => void): () => void {
    const due: Due = { at: this.#now + Math.max(0, delayMs), order: this.#order++, fire }
    this.#due.add(due)
    return () => {
      this.#due.delete(due)
    }
  }

  /** Lets time pass; what falls due fires in order of time, then of setting. */
  advance(ms: number): void {
    const until = this.#now + ms
    for (;;) {
      let next: Due | undefined
      for (const due of this.#due) {
        if (due.at > until) continue
        if (next === undefined || due.at < next.at || (due.at === next.at && due.order < next.order)) next = due
      }
      if (next === undefined) break
      this.#now = next.at
      this.#due.delete(next)
      next.fire()
    }
    this.#now = until
  }
}

/** What was put off until after this turn runs when `end` is called. */
export class FakeTurn implements Turn {
  #later: (() => void)[] = []

  afterThisTurn(run: () => void): void {
    this.#later.push(run)
  }

  end(): void {
    while (this.#later.length > 0) {
      const now = this.#later
      this.#later = []
      for (const run of now) run()
    }
  }
}

type AppendResult = Awaited<ReturnType<PartitionLog['append']>>

/** A log without bytes: it counts what it is given, and writes when the test lets it. */
export class ScriptedLog implements PartitionLog {
  readonly topicPartition: LogPartition
  topicId: string | null = null
  logStartOffset = 0
  logEndOffset = 0
  highWatermark = 0
  sizeInBytes = 0
  readonly epochs: [epoch: number, startOffset: number][] = []
  /** Not null: appends and notes of epochs wait for the test. */
  held: (() => void)[] | null = null
  /** The next append is answered with this. */
  refuseNext: AppendResult | null = null

  constructor(topicPartition: LogPartition = { topic: 't', partition: 0 }) {
    this.topicPartition = topicPartition
  }

  get lastStableOffset(): number {
    return this.highWatermark
  }
  get latestLeaderEpoch(): number {
    return this.epochs.at(-1)?.[0] ?? -1
  }

  /** Each byte stands for a record. */
  append(records: Buffer): AppendResult | Promise<AppendResult> {
    if (this.refuseNext !== null) {
      const refused = this.refuseNext
      this.refuseNext = null
      return refused
    }
    const write = (): AppendResult => {
      const firstOffset = this.logEndOffset
      this.logEndOffset += records.length
      this.sizeInBytes += records.length
      const lastOffset = this.logEndOffset - 1
      return {
        kind: 'appended',
        firstOffset,
        lastOffset,
        logAppendTime: -1,
        logStartOffset: this.logStartOffset,
        duplicate: false,
      }
    }
    return this.#hold(write)
  }

  read(offset: number): Read {
    const sizeInBytes = Math.max(0, this.highWatermark - offset)
    return {
      kind: 'read',
      slices: sizeInBytes === 0 ? [] : [Buffer.alloc(sizeInBytes)],
      sizeInBytes,
      abortedTransactions: [],
      highWatermark: this.highWatermark,
      lastStableOffset: this.lastStableOffset,
      logStartOffset: this.logStartOffset,
      logEndOffset: this.logEndOffset,
    }
  }

  updateHighWatermark(to: number): void {
    this.highWatermark = to
  }

  async assignTopicId(topicId: string): Promise<void> {
    this.topicId = topicId
  }

  async assignEpoch(epoch: number, startOffset: number): Promise<void> {
    await this.#hold(() => {
      this.epochs.push([epoch, startOffset])
    })
  }

  endOffsetForEpoch(): null {
    return null
  }
  async offsetForTimestamp(): Promise<null> {
    return null
  }
  async deleteRecordsBefore(offset: number): Promise<{ kind: 'deleted'; logStartOffset: number }> {
    this.logStartOffset = Math.max(this.logStartOffset, offset)
    return { kind: 'deleted', logStartOffset: this.logStartOffset }
  }
  producers(): [] {
    return []
  }
  segmentViews(): [] {
    return []
  }

  /** Lets what waits happen, in order. */
  release(): void {
    const held = this.held ?? []
    this.held = null
    for (const go of held) go()
  }

  #hold<T>(work: () => T): T | Promise<T> {
    const { held } = this
    if (held === null) return work()
    return new Promise((resolve) => {
      held.push(() => resolve(work()))
    })
  }
}

export const partitionConfig = (more: Partial<PartitionConfig> = {}): PartitionConfig => ({
  ...DEFAULT_TOPIC_CONFIG,
  'min.insync.replicas': 1,
  'message.downconversion.enable': true,
  ...more,
})
