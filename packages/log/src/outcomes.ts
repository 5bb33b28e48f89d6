/**
 * What a log answers: appended, read, or refused with the name of Kafka's error. Refusals are values, never exceptions.
 */
import type { AbortedTransaction } from '@mq/protocol'

export type { AbortedTransaction }

/** The errors a log answers with; each is a name of Kafka's error table. */
export type LogError =
  | 'CORRUPT_MESSAGE'
  | 'DUPLICATE_SEQUENCE_NUMBER'
  | 'INVALID_PRODUCER_EPOCH'
  | 'INVALID_RECORD'
  | 'INVALID_TIMESTAMP'
  | 'INVALID_TXN_STATE'
  | 'KAFKA_STORAGE_ERROR'
  | 'MESSAGE_TOO_LARGE'
  | 'OFFSET_OUT_OF_RANGE'
  | 'OUT_OF_ORDER_SEQUENCE_NUMBER'
  | 'RECORD_LIST_TOO_LARGE'
  | 'TRANSACTION_COORDINATOR_FENCED'
  | 'UNSUPPORTED_COMPRESSION_TYPE'
  | 'UNSUPPORTED_FOR_MESSAGE_FORMAT'

/** One record that made a batch be refused (KIP-467): its place in the batch, and why. */
export interface RecordError {
  readonly batchIndex: number
  readonly message: string
}

export interface Refused {
  readonly kind: 'refused'
  readonly error: LogError
  readonly message: string
  readonly recordErrors?: readonly RecordError[]
  /** The log start offset at that moment: answers of Produce and Fetch carry it. */
  readonly logStartOffset?: number
}

export interface Appended {
  readonly kind: 'appended'
  readonly firstOffset: number
  readonly lastOffset: number
  /** Milliseconds; -1 when the records keep their own times. */
  readonly logAppendTime: number
  readonly logStartOffset: number
  /** An idempotent producer sent this batch before: the offsets are those of the first time, nothing was written. */
  readonly duplicate: boolean
}

export interface Read {
  readonly kind: 'read'
  /**
   * Whole batches (the last one cut when `maxBytes` ends inside it), in order; read-only. Each is held for the reader: one who says
   * when it is done with them (`releaseAll`) lets their memory be used again, for others it is collected as any other.
   */
  readonly slices: readonly Buffer[]
  readonly sizeInBytes: number
  /** Filled for `upTo: 'lastStable'` only. */
  readonly abortedTransactions: readonly AbortedTransaction[]
  readonly highWatermark: number
  readonly lastStableOffset: number
  readonly logStartOffset: number
  readonly logEndOffset: number
}

/** Who appends: a client's batch is checked whole, a coordinator's own is trusted more, a follower copies what the leader wrote. */
export type AppendOrigin = 'client' | 'coordinator' | 'replication'

/** How far a read may see. */
export type ReadLimit = 'logEnd' | 'highWatermark' | 'lastStable'

export interface TimestampOffset {
  readonly offset: number
  /** Milliseconds; a bigint where a number would not be exact. -1 for an end of the log. */
  readonly timestamp: number | bigint
  /** -1 when unknown. */
  readonly leaderEpoch: number
}

/** One producer as DescribeProducers shows it. */
export interface ProducerStateView {
  readonly producerId: number
  readonly producerEpoch: number
  /** -1 when it is not known. */
  readonly lastSequence: number
  readonly lastTimestamp: number
  readonly coordinatorEpoch: number
  /** -1 when no transaction is open here. */
  readonly currentTransactionFirstOffset: number
}

export function refused(error: LogError, message: string, recordErrors?: readonly RecordError[]): Refused {
  return recordErrors === undefined ? { kind: 'refused', error, message } : { kind: 'refused', error, message, recordErrors }
}
