/**
 * What the logs must hold, for the crash simulator: the obvious slow twin of each partition, what was promised of it, and what an
 * operation that is under way may have done already.
 */
import assert from 'node:assert/strict'
import { RecordBatch } from '@mq/protocol'
import type { TopicConfig } from '../topic-config.js'
import { History } from './history.test.support.js'

/** How a partition is used. */
export interface Kind {
  readonly topic: string
  readonly origin: 'client' | 'replication'
  readonly config: Partial<TopicConfig>
}

/** An operation that was asked for and has not answered. */
export type UnderWay =
  | { readonly kind: 'create' | 'delete' | 'retention' }
  | { readonly kind: 'append'; readonly batches: readonly Buffer[] }
  | { readonly kind: 'truncate'; readonly to: number }
  | { readonly kind: 'startOver' }

export const isCompacted = ({ kind }: PartitionModel): boolean => kind.config['cleanup.policy']?.includes('compact') === true

export class PartitionModel {
  /** All that was answered, also what was deleted since: the states of producers come from it. */
  history = new History()
  underWay: UnderWay | null = null
  /** Whether a cleaning may have taken records away, while other operations go on. */
  isBeingCleaned = false
  /** Log start: as it is, and the lowest that a restart may come up with. */
  start = 0
  durableStart = 0
  /** Everything below it was promised to be on the disk. */
  durableEnd = 0
  durableHighWatermark = 0
  /** The highest leader epoch that was promised to be on the disk. */
  durableEpoch = -1
  /** Producers that were known at the last clean stop: known again if nothing came after it, also when all their records are gone. */
  producersWhenClean: readonly number[] = []
  epoch = 0
  /** Where an earlier life began: of epochs and producers before it the log need not know, though their records may be back. */
  statesKnownFrom = 0
  /** Where starts of earlier lives may have begun to look for producers, when snapshots were lost. */
  producersKnownFrom: readonly number[] = []

  constructor(
    readonly kind: Kind,
    readonly partition: number,
    public topicId: string | null,
  ) {}

  get name(): string {
    return `${this.kind.topic}-${this.partition}`
  }

  get end(): number {
    return this.history.end
  }

  clone(): PartitionModel {
    const copy = new PartitionModel(this.kind, this.partition, this.topicId)
    return Object.assign(copy, this, { history: this.history.clone() })
  }

  /** Everything as it is was promised to stay. */
  allIsDurable(): void {
    this.durableEnd = this.end
    this.durableStart = this.start
  }

  /** The history with what an append that is under way may have written. */
  get longest(): History {
    if (this.underWay?.kind !== 'append') return this.history
    const longest = this.history.clone()
    for (const bytes of this.underWay.batches) {
      const batch = new RecordBatch(bytes)
      // One that has not got its offset yet cannot be in a file.
      if (batch.baseOffset >= longest.end) longest.add(Buffer.from(bytes))
    }
    return longest
  }

  /** What a reader finds after a restart is what was promised; the model goes on from there. */
  continueFrom(found: { readonly start: number; readonly end: number; readonly history: History }): void {
    this.history = found.history
    this.history.cutTo(found.end)
    assert.equal(this.end, found.end)
    this.statesKnownFrom = Math.max(this.statesKnownFrom, this.start)
    this.start = found.start
    this.durableEnd = Math.min(this.durableEnd, found.end)
    this.durableStart = Math.min(this.durableStart, found.start)
    this.durableHighWatermark = Math.min(this.durableHighWatermark, found.end)
    this.underWay = null
    this.isBeingCleaned = false
  }
}

/** All partitions of a log directory by name. Those that are not here must not be there. */
export class Model {
  readonly partitions = new Map<string, PartitionModel>()

  clone(): Model {
    const copy = new Model()
    for (const [name, partition] of this.partitions) copy.partitions.set(name, partition.clone())
    return copy
  }
}
