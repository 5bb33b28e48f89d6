/**
 * One partition's log: the only writer of its files. This is its public face; the rooms around it are segments, producer
 * state, leader epochs and retention.
 */
import type { Appended, AppendOrigin, ProducerStateView, Read, ReadLimit, Refused, TimestampOffset } from './outcomes.js'

/** A partition's name. */
export interface LogPartition {
  readonly topic: string
  readonly partition: number
}

/** A place to ask for by time: a timestamp in milliseconds, or one of the three ends. */
export type TimestampQuery = number | 'earliest' | 'latest' | 'maxTimestamp'

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
  /** Whether its directory failed: everything is refused with KAFKA_STORAGE_ERROR from then on. */
  readonly isOffline: boolean
  append(
    records: Buffer,
    options: { readonly origin: AppendOrigin; readonly leaderEpoch: number },
  ): Appended | Refused | Promise<Appended | Refused>
  read(
    offset: number,
    options: { readonly maxBytes: number; readonly minOneMessage: boolean; readonly upTo: ReadLimit },
  ): Read | Refused | Promise<Read | Refused>
  updateHighWatermark(to: number): void
  /** A new leader epoch begins at `startOffset`; resolves when the checkpoint file holds it. */
  assignEpoch(epoch: number, startOffset: number): Promise<void>
  /** KIP-101: the end of the given epoch, or of the last one before it; null when nothing is known of it. */
  endOffsetForEpoch(epoch: number): { readonly epoch: number; readonly endOffset: number } | null
  offsetForTimestamp(query: TimestampQuery): Promise<TimestampOffset | null | Refused>
  deleteRecordsBefore(offset: number): Promise<{ readonly kind: 'deleted'; readonly logStartOffset: number } | Refused>
  truncateTo(offset: number): Promise<void>
  truncateFullyAndStartAt(offset: number): Promise<void>
  roll(): Promise<void>
  flush(): Promise<void>
  producers(): ProducerStateView[]
  close(): Promise<void>
}
