/** How a log is read by those who use it by itself: the face that a writable and a read-only log have in common. */
import type { AnyBatch, Record } from '@mq/protocol'
import type { LogPartition, TimestampQuery } from './log-api.js'
import { batchesOf, type Isolation, type IterableLog, type IterateOptions, recordsOf, type StartOffset } from './log-records.js'
import type { LogStats } from './log-stats.js'
import type { Read, Refused, TimestampOffset } from './outcomes.js'
import { orThrow } from './refused-error.js'

/** The log behind a view. */
export interface LogSource extends IterableLog {
  readonly topicPartition: LogPartition
  readonly topicId: string | null
  readonly path: string
  readonly sizeInBytes: number
  readonly latestLeaderEpoch: number
  offsetForTimestamp(query: TimestampQuery): Promise<TimestampOffset | null | Refused>
  stats(): LogStats
}

export interface ReadBytesOptions {
  /** Default 1 MiB. One batch is given whole, however large it is. */
  readonly maxBytes?: number
  /** Default `read_uncommitted`. */
  readonly isolation?: Isolation
}

export abstract class LogView {
  protected abstract readonly source: LogSource

  get topicPartition(): LogPartition {
    return this.source.topicPartition
  }

  /** base64url; null for a partition without one. */
  get topicId(): string | null {
    return this.source.topicId
  }

  /** The folder of its files. */
  get path(): string {
    return this.source.path
  }

  /** The first offset that can be read. */
  get logStartOffset(): number {
    return this.source.logStartOffset
  }

  /** One after the last offset: what the next record gets. */
  get logEndOffset(): number {
    return this.source.logEndOffset
  }

  /** Where the oldest open transaction begins, or the log's end: as far as `read_committed` sees. */
  get lastStableOffset(): number {
    return this.source.lastStableOffset
  }

  /** -1 before the first. */
  get latestLeaderEpoch(): number {
    return this.source.latestLeaderEpoch
  }

  /** Of the data files. */
  get sizeInBytes(): number {
    return this.source.sizeInBytes
  }

  get isClosed(): boolean {
    return this.source.isClosed
  }

  /**
   * Whole batches as bytes, from the one that holds the offset on; nothing at the log's end.
   * @throws RefusedError OFFSET_OUT_OF_RANGE, CORRUPT_MESSAGE, KAFKA_STORAGE_ERROR
   */
  async read(offset: number, { maxBytes = 1024 * 1024, isolation = 'read_uncommitted' }: ReadBytesOptions = {}): Promise<Read> {
    const upTo = isolation === 'read_committed' ? 'lastStable' : 'logEnd'
    return orThrow(await this.source.read(offset, { maxBytes, minOneMessage: true, upTo }))
  }

  /** Batches one after another; see `batchesOf`. */
  batches(from: StartOffset = 'earliest', options: IterateOptions = {}): AsyncGenerator<AnyBatch, void, undefined> {
    return batchesOf(this.source, from, options)
  }

  /** Records one after another; see `recordsOf`. */
  records(from: StartOffset = 'earliest', options: IterateOptions = {}): AsyncGenerator<Record, void, undefined> {
    return recordsOf(this.source, from, options)
  }

  /**
   * For a time in milliseconds: the first record that is not earlier. For `maxTimestamp`: the first one with the largest time.
   * @returns null when there is no such record
   * @throws RefusedError
   */
  async findByTime(query: TimestampQuery): Promise<TimestampOffset | null> {
    return orThrow(await this.source.offsetForTimestamp(query))
  }

  /**
   * Calls `listener` after an end of the log moved, and when the log was closed or its directory failed.
   * @returns ends it
   */
  watch(listener: () => void): () => void {
    return this.source.watch(listener)
  }

  /** What it holds and costs now. */
  stats(): LogStats {
    return this.source.stats()
  }
}
