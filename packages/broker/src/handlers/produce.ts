/**
 * Produce v0-11: appends records to partitions. v0-2 carry message sets of magic 0 and 1, v3 transactional ids, v7 zstd
 * (KIP-110), v8 record errors (KIP-467), v9 flexible, v10 leader hints (KIP-951). There are no transactions yet: their batches are refused.
 */
import { type ErrorName, errorCode, type Input, type ProduceRequest, type ProduceResponse } from '@mq/protocol'
import { isAcks } from '@mq/replica'
import type { RequestContext } from '../services.js'
import { CLOSE_CONNECTION, handler, NO_RESPONSE } from './handler.js'
import { hostedPartition } from './hosted-partition.js'
import { ADMIN_CLIENT_ID, isInternalTopic } from './internal-topics.js'
import { LeaderHints } from './leader-hint.js'
import { nowAndThen } from './now-and-then.js'
import { allowedByVersion, type BatchHeaders, headersOf } from './produce-rules.js'

type Response = Input<typeof ProduceResponse>
/** Filled in place: there may be thousands in one answer. */
type Filled<T> = { -readonly [Name in keyof T]: T[Name] }
type PartitionResponse = Filled<NonNullable<NonNullable<Response['responses']>[number]['partitionResponses']>[number]>
type Outcome = ReturnType<typeof append>
type Settled = Awaited<Outcome>

/** Not appended by the handler's own judgement. */
interface Rejected {
  readonly kind: 'rejected'
  readonly error: ErrorName
  readonly message: string | null
}

const NOTHING_APPENDED = {
  kind: 'appended',
  firstOffset: -1,
  lastOffset: -1,
  logAppendTime: -1,
  logStartOffset: -1,
  duplicate: false,
} as const

const rejected = (error: ErrorName, message: string | null = null): Rejected => ({ kind: 'rejected', error, message })

/** Errors whose answers do not name the log start offset. */
const WITHOUT_LOG_START: ReadonlySet<ErrorName> = new Set([
  'UNKNOWN_TOPIC_OR_PARTITION',
  'NOT_LEADER_OR_FOLLOWER',
  'MESSAGE_TOO_LARGE',
  'RECORD_LIST_TOO_LARGE',
  'CORRUPT_MESSAGE',
  'KAFKA_STORAGE_ERROR',
])

export const produce = handler('Produce', { versions: '0-11' }, (request, context) => {
  const answers = new ProduceAnswers(request.acks, context)
  const headers = allHeaders(request)
  // A transactional batch without an id condemns the whole request.
  const isUnauthorized = request.transactionalId === null && headers.some(isTransactional)
  const pending: Promise<void>[] = []
  let at = 0
  for (const { name, partitionData } of request.topicData) {
    const partitionResponses = answers.addTopic(name)
    for (const { index, records } of partitionData) {
      const ofPartition = headers[at++]!
      const outcome = isUnauthorized
        ? rejected('TRANSACTIONAL_ID_AUTHORIZATION_FAILED')
        : append(request, name, index, records, ofPartition, context)
      const place = partitionResponses.push({ index }) - 1
      if (outcome instanceof Promise) {
        const settle = (settled: Settled) => {
          partitionResponses[place] = answers.answer(name, index, settled)
        }
        // By far the most frequent request: its only partition has to wait.
        if (headers.length === 1)
          return outcome.then((settled) => {
            settle(settled)
            return answers.conclude()
          })
        pending.push(outcome.then(settle))
      } else partitionResponses[place] = answers.answer(name, index, outcome)
    }
  }
  return pending.length === 0 ? answers.conclude() : allOver(pending).then(() => answers.conclude())
})

/** Resolves when the last one is over, also when one failed: until then the log looks at the request's bytes. */
async function allOver(pending: readonly Promise<void>[]): Promise<void> {
  for (const one of await Promise.allSettled(pending)) if (one.status === 'rejected') throw one.reason
}

/** Of all partitions, in the order of the request. */
function allHeaders(request: ProduceRequest): (BatchHeaders | 'CORRUPT_MESSAGE')[] {
  const headers: (BatchHeaders | 'CORRUPT_MESSAGE')[] = []
  for (const { partitionData } of request.topicData) {
    for (const { records } of partitionData) headers.push(headersOf(records))
  }
  return headers
}

const isTransactional = (headers: BatchHeaders | 'CORRUPT_MESSAGE'): boolean =>
  headers !== 'CORRUPT_MESSAGE' && headers.isTransactional

/** In the order in which Kafka looks: the first reason that applies is the answer. */
function append(
  request: ProduceRequest,
  topic: string,
  index: number,
  records: Buffer | null,
  headers: BatchHeaders | 'CORRUPT_MESSAGE',
  context: RequestContext,
) {
  const { broker } = context
  if (headers === 'CORRUPT_MESSAGE') return rejected(headers)
  const partition = hostedPartition(broker, topic, index)
  if (partition === 'UNKNOWN_TOPIC_OR_PARTITION') return rejected(partition)
  const allowed = allowedByVersion(context.apiVersion, records, headers)
  if (allowed !== 'allowed' || records === null) return rejected(allowed === 'allowed' ? 'INVALID_RECORD' : allowed)
  if (!isAcks(request.acks)) return rejected('INVALID_REQUIRED_ACKS')
  if (headers.isTransactional) {
    const { transactionalId } = request
    nowAndThen(broker, 'transactional batch', () =>
      broker.log.warn(
        { topic, partition: index, transactionalId },
        'refused a transactional batch: there are no transactions yet',
      ),
    )
    return rejected('INVALID_TXN_STATE', 'This broker has no transactions yet')
  }
  if (isInternalTopic(topic) && context.clientId !== ADMIN_CLIENT_ID) return rejected('INVALID_TOPIC_EXCEPTION')
  if (typeof partition === 'string') return rejected(partition)
  // Before v3 an empty message set is no error: there was just nothing to append.
  if (headers.count === 0) return partition.isLeader ? NOTHING_APPENDED : rejected('NOT_LEADER_OR_FOLLOWER')
  return partition.append(records, { acks: request.acks, timeoutMs: request.timeoutMs, origin: 'client' })
}

/** The response of one request, built as its partitions come to an end. */
class ProduceAnswers {
  readonly #acks: number
  readonly #context: RequestContext
  readonly #hints: LeaderHints
  readonly #responses: { name: string; partitionResponses: PartitionResponse[] }[] = []
  #failures: { topic: string; partition: number; error: ErrorName }[] = []

  constructor(acks: number, context: RequestContext) {
    this.#acks = acks
    this.#context = context
    this.#hints = new LeaderHints(context)
  }

  addTopic(name: string): PartitionResponse[] {
    const partitionResponses: PartitionResponse[] = []
    this.#responses.push({ name, partitionResponses })
    return partitionResponses
  }

  answer(topic: string, index: number, settled: Settled): PartitionResponse {
    if (settled.kind === 'appended') {
      return {
        index,
        baseOffset: settled.firstOffset,
        logAppendTimeMs: settled.logAppendTime,
        logStartOffset: settled.logStartOffset,
      }
    }
    const { error } = settled
    this.#failures.push({ topic, partition: index, error })
    const response: PartitionResponse = {
      index,
      errorCode: errorCode(error),
      baseOffset: -1,
      logAppendTimeMs: -1,
      logStartOffset: -1,
    }
    if (settled.kind === 'rejected') {
      response.errorMessage = settled.message
    } else {
      if (!WITHOUT_LOG_START.has(error)) response.logStartOffset = this.#logStartOf(topic, index)
      // Kafka gives a reason where single records are to blame, else the client's own words for the code have to do.
      if (settled.recordErrors !== undefined) {
        response.errorMessage = settled.message
        response.recordErrors = settled.recordErrors.map(({ batchIndex, message }) => ({
          batchIndex,
          batchIndexErrorMessage: message,
        }))
      }
    }
    if (error === 'NOT_LEADER_OR_FOLLOWER' && this.#context.apiVersion >= 10) {
      response.currentLeader = this.#hints.leaderOf(topic, index)
    }
    return response
  }

  /** With acks=0 nobody reads an answer; that something went wrong is told by closing the connection. */
  conclude(): Response | typeof NO_RESPONSE | typeof CLOSE_CONNECTION {
    if (this.#acks !== 0) return { responses: this.#responses, throttleTimeMs: 0, nodeEndpoints: this.#hints.nodeEndpoints }
    if (this.#failures.length === 0) return NO_RESPONSE
    const { clientId, connectionId, broker } = this.#context
    broker.log.info({ clientId, connectionId, failures: this.#failures.slice(0, 10) }, 'closing: a produce with acks=0 failed')
    return CLOSE_CONNECTION
  }

  #logStartOf(topic: string, index: number): number {
    return this.#context.broker.partitions.get(topic, index)?.log?.logStartOffset ?? -1
  }
}
