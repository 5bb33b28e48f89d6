/**
 * What a partition needs of the outside: its log, timers, and a way to run something after the present turn. `@mq/log` names
 * them already; here stands what a partition answers.
 */
import type { Log, LogError, Read, RecordError } from '@mq/log'

/** What a partition, and those who read through it, ask of its log. */
export type PartitionLog = Pick<
  Log,
  | 'append'
  | 'assignEpoch'
  | 'assignTopicId'
  | 'deleteRecordsBefore'
  | 'endOffsetForEpoch'
  | 'highWatermark'
  | 'lastStableOffset'
  | 'latestLeaderEpoch'
  | 'logEndOffset'
  | 'logStartOffset'
  | 'offsetForTimestamp'
  | 'producers'
  | 'read'
  | 'segmentViews'
  | 'sizeInBytes'
  | 'topicId'
  | 'topicPartition'
  | 'updateHighWatermark'
>

/** The errors that a partition answers with; each is a name of Kafka's error table. */
export type PartitionError =
  | LogError
  | 'FENCED_LEADER_EPOCH'
  | 'NOT_ENOUGH_REPLICAS'
  | 'NOT_ENOUGH_REPLICAS_AFTER_APPEND'
  | 'NOT_LEADER_OR_FOLLOWER'
  | 'OFFSET_NOT_AVAILABLE'
  | 'POLICY_VIOLATION'
  | 'REQUEST_TIMED_OUT'
  | 'UNKNOWN_LEADER_EPOCH'

/** Refused by the log or by the partition before it. */
export interface Refusal {
  readonly kind: 'refused'
  readonly error: PartitionError
  readonly message: string
  readonly recordErrors?: readonly RecordError[]
  readonly logStartOffset?: number
}

export function refusal(error: PartitionError, message: string): Refusal {
  return { kind: 'refused', error, message }
}

export type ReadResult = Read | Refusal
