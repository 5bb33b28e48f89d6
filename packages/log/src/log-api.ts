/**
 * A partition's log and a broker's log directories as others see them: what the replica stands on, and what a test may script.
 */
import type { TopicPartition } from '@mq/protocol'
import type { AppendOptions } from './append-queue.js'
import type { Appended, ProducerStateView, Read, ReadLimit, Refused, TimestampOffset } from './outcomes.js'
import type { Offload } from './ports.js'
import type { TopicConfig } from './topic-config.js'

/** A partition's name. */
export type LogPartition = TopicPartition

/** A place to ask for by time: a timestamp in milliseconds, or one of the three ends. */
export type TimestampQuery = number | 'earliest' | 'latest' | 'maxTimestamp'

export interface ReadOptions {
  readonly maxBytes: number
  /** The first batch is given whole whatever its size. */
  readonly minOneMessage: boolean
  readonly upTo: ReadLimit
}

/** One segment as ListOffsets v0 knows it. */
export interface SegmentView {
  readonly baseOffset: number
  readonly sizeInBytes: number
  /** When its file was written last, milliseconds by the wall clock. */
  readonly modifiedMs: number
}

export interface Log {
  readonly topicPartition: LogPartition
  /** base64url; null for a partition without one (an old directory). */
  readonly topicId: string | null
  readonly logStartOffset: number
  readonly logEndOffset: number
  readonly highWatermark: number
  readonly lastStableOffset: number
  /** -1 before the first. */
  readonly latestLeaderEpoch: number
  readonly sizeInBytes: number
  /** The log directory it lies in. */
  readonly directory: string
  /** Whether its directory failed: everything is refused with KAFKA_STORAGE_ERROR from then on. */
  readonly isOffline: boolean
  /**
   * Appends a record batch (or an old message set). The bytes belong to the log from now on: offsets are written into them, and
   * they may stay in memory for readers. The log holds them for as long as it needs them.
   * @returns at once for small writes, unless the log gathers writes by turns
   */
  append(records: Buffer, options: AppendOptions): Appended | Refused | Promise<Appended | Refused>
  /** Whole batches from the one that holds `offset` on; at once when they are in memory. */
  read(offset: number, options: ReadOptions): Read | Refused | Promise<Read | Refused>
  updateHighWatermark(to: number): void
  /** A new leader epoch begins at `startOffset`; resolves when the checkpoint file holds it. */
  assignEpoch(epoch: number, startOffset: number): Promise<void>
  /** KIP-101: the end of the given epoch, or of the last one before it; null when nothing is known of it. */
  endOffsetForEpoch(epoch: number): { readonly epoch: number; readonly endOffset: number } | null
  /**
   * For a timestamp: the first record that is not earlier. `maxTimestamp`: the first record with the largest one.
   * @returns null when there is no such record
   */
  offsetForTimestamp(query: TimestampQuery): Promise<TimestampOffset | null | Refused>
  /** Moves the log start, not above the high watermark; the files go at the next retention pass. */
  deleteRecordsBefore(offset: number): Promise<{ readonly kind: 'deleted'; readonly logStartOffset: number } | Refused>
  /** Drops everything at and above the offset. */
  truncateTo(offset: number): Promise<void>
  /** Drops everything; the next record gets this offset. */
  truncateFullyAndStartAt(offset: number): Promise<void>
  /** For a log that has no topic id yet: writes it into the folder. */
  assignTopicId(topicId: string): Promise<void>
  /** Begins a new segment; an empty one goes on. */
  roll(): Promise<void>
  /** Everything appended before is durable once this resolves, unless the log is offline then. */
  flush(): Promise<void>
  producers(): ProducerStateView[]
  /** In the order of their offsets. */
  segmentViews(): SegmentView[]
  /** Makes everything durable and closes the files. */
  close(): Promise<void>
}

export interface LogDirectories {
  get(partition: LogPartition): Log | undefined
  /**
   * In the directory with the fewest partitions; resolves when the folder is on the disk.
   * @throws DiskError; LogDirectoryError when every directory is offline, or all are closed
   */
  create(partition: LogPartition, topicId: string | null, config: TopicConfig): Promise<Log>
  /**
   * Renames the folder to `-delete` at once; its files go after `file.delete.delay.ms`.
   * @throws DiskError; LogDirectoryError when they are closed
   */
  delete(partition: LogPartition): Promise<void>
  all(): Iterable<Log>
  /** Long work beside the loop, for who serves these logs. */
  readonly offload: Pick<Offload, 'run'>
  readonly directories: readonly { readonly path: string; readonly isOffline: boolean }[]
  /** Bytes of the file system that a directory lies on. */
  space(directory: string): { readonly totalBytes: number; readonly usableBytes: number }
  setTopicConfig(topic: string, config: TopicConfig): void
  /** Nothing of this topic is deleted or cleaned until it is released: its configs are not known yet. */
  holdRetention(topic: string): void
  releaseRetention(topic: string): void
  /** Whether the last stop was clean: if not, what the page cache had not written may be gone, and leaders begin a new epoch. */
  wasCleanShutdown(directory: string): boolean
  checkpointAll(): Promise<void>
  close(): Promise<void>
}
