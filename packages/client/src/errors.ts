/**
 * The client's error classes, under the names that kafkajs gave them: programs match on `name`, `type`, `code` and `retriable`.
 * Protocol errors are made from the error table of @mq/protocol.
 */

import { ERRORS, type ErrorName, errorByCode } from '@mq/protocol'

export interface ErrorOptions {
  /** May the same call succeed when tried again? Default true. */
  retriable?: boolean | undefined
  cause?: unknown
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

export class KafkaJSError extends Error {
  readonly retriable: boolean
  helpUrl?: string | undefined

  constructor(error: Error | string, { retriable = true, cause }: ErrorOptions = {}) {
    super(messageOf(error), cause === undefined ? undefined : { cause })
    this.name = 'KafkaJSError'
    this.retriable = retriable
    this.helpUrl = error instanceof KafkaJSError ? error.helpUrl : undefined
  }
}

export class KafkaJSNonRetriableError extends KafkaJSError {
  constructor(error: Error | string, { cause }: { cause?: unknown } = {}) {
    super(error, { retriable: false, cause })
    this.name = 'KafkaJSNonRetriableError'
  }
}

/** An error code that a broker answered. */
export interface ProtocolFailure {
  readonly type: string
  readonly code: number
  readonly retriable: boolean
  readonly message: string
}

export class KafkaJSProtocolError extends KafkaJSError {
  /** The error's name in the protocol, e.g. `UNKNOWN_TOPIC_OR_PARTITION`. */
  readonly type: string
  readonly code: number

  constructor(failure: ProtocolFailure, { retriable = failure.retriable }: { retriable?: boolean } = {}) {
    super(failure.message, { retriable })
    this.type = failure.type
    this.code = failure.code
    this.name = 'KafkaJSProtocolError'
  }
}

/** Describes an error code by the error table; `detail` is the broker's own message, where the version has one. */
export function failureOf(code: number, detail?: string | null): ProtocolFailure {
  const type: ErrorName = errorByCode(code)
  const row = ERRORS[type]
  return { type, code, retriable: row.retriable, message: detail ? `${row.meaning}: ${detail}` : row.meaning || type }
}

export function protocolError(code: number, detail?: string | null): KafkaJSProtocolError {
  return new KafkaJSProtocolError(failureOf(code, detail))
}

export class KafkaJSOffsetOutOfRange extends KafkaJSProtocolError {
  readonly topic: string
  readonly partition: number
  constructor(failure: ProtocolFailure, { topic, partition }: { topic: string; partition: number }) {
    super(failure)
    this.topic = topic
    this.partition = partition
    this.name = 'KafkaJSOffsetOutOfRange'
  }
}

export class KafkaJSMemberIdRequired extends KafkaJSProtocolError {
  readonly memberId: string
  constructor(failure: ProtocolFailure, { memberId }: { memberId: string }) {
    super(failure)
    this.memberId = memberId
    this.name = 'KafkaJSMemberIdRequired'
  }
}

export class KafkaJSCreateTopicError extends KafkaJSProtocolError {
  readonly topic: string
  constructor(failure: ProtocolFailure, topic: string) {
    super(failure)
    this.topic = topic
    this.name = 'KafkaJSCreateTopicError'
  }
}

export class KafkaJSAlterPartitionReassignmentsError extends KafkaJSProtocolError {
  readonly topic: string | undefined
  readonly partition: number | undefined
  constructor(failure: ProtocolFailure, topic?: string, partition?: number) {
    super(failure)
    this.topic = topic
    this.partition = partition
    this.name = 'KafkaJSAlterPartitionReassignmentsError'
  }
}

export class KafkaJSNumberOfRetriesExceeded extends KafkaJSNonRetriableError {
  readonly retryCount: number
  readonly retryTime: number
  constructor(error: Error, { retryCount, retryTime }: { retryCount: number; retryTime: number }) {
    super(error, { cause: error })
    this.name = 'KafkaJSNumberOfRetriesExceeded'
    this.stack = `${this.name}\n  Caused by: ${error.stack ?? error.message}`
    this.retryCount = retryCount
    this.retryTime = retryTime
  }
}

export class KafkaJSConnectionError extends KafkaJSError {
  readonly broker: string | undefined
  readonly code: string | undefined
  constructor(error: Error | string, { broker, code }: { broker?: string | undefined; code?: string | undefined } = {}) {
    super(error)
    this.broker = broker
    this.code = code
    this.name = 'KafkaJSConnectionError'
  }
}

export class KafkaJSConnectionClosedError extends KafkaJSConnectionError {
  readonly host: string | undefined
  readonly port: number | undefined
  constructor(error: Error | string, { host, port }: { host?: string; port?: number } = {}) {
    super(error, { broker: `${host}:${port}` })
    this.host = host
    this.port = port
    this.name = 'KafkaJSConnectionClosedError'
  }
}

export interface RequestTimes {
  broker?: string
  correlationId?: number
  createdAt?: number
  sentAt?: number
  pendingDuration?: number
}

export class KafkaJSRequestTimeoutError extends KafkaJSError {
  readonly broker: string | undefined
  readonly correlationId: number | undefined
  readonly createdAt: number | undefined
  readonly sentAt: number | undefined
  readonly pendingDuration: number | undefined
  constructor(error: Error | string, times: RequestTimes = {}) {
    super(error)
    this.broker = times.broker
    this.correlationId = times.correlationId
    this.createdAt = times.createdAt
    this.sentAt = times.sentAt
    this.pendingDuration = times.pendingDuration
    this.name = 'KafkaJSRequestTimeoutError'
  }
}

export class KafkaJSMetadataNotLoaded extends KafkaJSError {
  constructor(error: Error | string, options?: ErrorOptions) {
    super(error, options)
    this.name = 'KafkaJSMetadataNotLoaded'
  }
}

export class KafkaJSTopicMetadataNotLoaded extends KafkaJSMetadataNotLoaded {
  readonly topic: string | undefined
  constructor(error: Error | string, { topic }: { topic?: string } = {}) {
    super(error)
    this.topic = topic
    this.name = 'KafkaJSTopicMetadataNotLoaded'
  }
}

export class KafkaJSStaleTopicMetadataAssignment extends KafkaJSError {
  readonly topic: string | undefined
  readonly unknownPartitions: readonly number[] | undefined
  constructor(
    error: Error | string,
    { topic, unknownPartitions }: { topic?: string; unknownPartitions?: readonly number[] } = {},
  ) {
    super(error)
    this.topic = topic
    this.unknownPartitions = unknownPartitions
    this.name = 'KafkaJSStaleTopicMetadataAssignment'
  }
}

export interface GroupFailure {
  groupId: string
  errorCode: number
  error: KafkaJSProtocolError
}

export class KafkaJSDeleteGroupsError extends KafkaJSError {
  readonly groups: readonly GroupFailure[]
  constructor(error: Error | string, groups: readonly GroupFailure[] = []) {
    super(error)
    this.groups = groups
    this.name = 'KafkaJSDeleteGroupsError'
  }
}

export class KafkaJSServerDoesNotSupportApiKey extends KafkaJSNonRetriableError {
  readonly apiKey: number | undefined
  readonly apiName: string | undefined
  constructor(error: Error | string, { apiKey, apiName }: { apiKey?: number; apiName?: string } = {}) {
    super(error)
    this.apiKey = apiKey
    this.apiName = apiName
    this.name = 'KafkaJSServerDoesNotSupportApiKey'
  }
}

export class KafkaJSBrokerNotFound extends KafkaJSError {
  constructor(error: Error | string, options?: ErrorOptions) {
    super(error, options)
    this.name = 'KafkaJSBrokerNotFound'
  }
}

export class KafkaJSNoBrokerAvailableError extends KafkaJSError {
  constructor() {
    super('No broker available')
    this.name = 'KafkaJSNoBrokerAvailableError'
  }
}

/** A class whose only difference from its parent is its name. */
const named = (name: string) =>
  class extends KafkaJSNonRetriableError {
    constructor(error: Error | string, options?: { cause?: unknown }) {
      super(error, options)
      this.name = name
    }
  }

export class KafkaJSPartialMessageError extends named('KafkaJSPartialMessageError') {}
export class KafkaJSSASLAuthenticationError extends named('KafkaJSSASLAuthenticationError') {}
export class KafkaJSGroupCoordinatorNotFound extends named('KafkaJSGroupCoordinatorNotFound') {}
export class KafkaJSNotImplemented extends named('KafkaJSNotImplemented') {}
export class KafkaJSUnsupportedMagicByteInMessageSet extends named('KafkaJSUnsupportedMagicByteInMessageSet') {}
// These two carry their parent's name in kafkajs as well.
export class KafkaJSInvalidVarIntError extends named('KafkaJSNonRetriableError') {}
export class KafkaJSInvalidLongError extends named('KafkaJSNonRetriableError') {}

export class KafkaJSTimeout extends KafkaJSNonRetriableError {
  constructor(error: Error | string, options?: { cause?: unknown }) {
    super(error, options)
    this.name = 'KafkaJSTimeout'
  }
}

export class KafkaJSLockTimeout extends KafkaJSTimeout {
  constructor(error: Error | string) {
    super(error)
    this.name = 'KafkaJSLockTimeout'
  }
}

export interface PartitionFailure {
  partition: number
  offset: string
  error?: KafkaJSError | undefined
}

export class KafkaJSDeleteTopicRecordsError extends KafkaJSError {
  readonly partitions: readonly PartitionFailure[]
  constructor({ partitions }: { partitions: readonly PartitionFailure[] }) {
    const failures = partitions.flatMap(({ error }) => (error === undefined ? [] : [error]))
    super('Error while deleting records', { retriable: failures.every((error) => error.retriable) })
    this.partitions = partitions
    this.name = 'KafkaJSDeleteTopicRecordsError'
  }
}

export class KafkaJSInvariantViolation extends KafkaJSNonRetriableError {
  constructor(error: Error | string) {
    super(`Invariant violated: ${messageOf(error)}. This is likely a bug and should be reported.`)
    this.name = 'KafkaJSInvariantViolation'
  }
}

/** Several failures of one call. Not a KafkaJSError, as in kafkajs. */
export class KafkaJSAggregateError extends Error {
  readonly errors: readonly Error[]
  constructor(message: string, errors: readonly Error[]) {
    super(message)
    this.errors = errors
    this.name = 'KafkaJSAggregateError'
  }
}

export class KafkaJSFetcherRebalanceError extends Error {}
