/**
 * Fetch v0-17: records of partitions for consumers. v3 a limit for the whole answer (KIP-74), v4 isolation levels and batches of
 * magic 2, v7 sessions (KIP-227), v9 leader epochs (KIP-320), v10 zstd (KIP-110), v12 flexible, v13 topic ids (KIP-516), v15 the
 * replica's state, v16 leader hints (KIP-951). A rack (v11) changes nothing: there is one replica.
 */
import { type ErrorName, errorCode, type FetchRequest, type FetchResponse, type Input, releaseAll, ZERO_UUID } from '@mq/protocol'
import type { BrokerServices, RequestContext } from '../services.js'
import { AS_STORED, type Converted, convertedFor } from './fetch-convert.js'
import { type FetchLimits, type PartitionRead, readOrWait } from './fetch-read.js'
import type { FetchContext, ForgottenPartition, PartitionNews, WantedPartition } from './fetch-sessions.js'
import { handler, NO_RESPONSE } from './handler.js'
import { hostedPartition } from './hosted-partition.js'
import { LeaderHints } from './leader-hint.js'

type Response = Input<typeof FetchResponse>
type TopicResponse = NonNullable<Response['responses']>[number]
/** Filled in place: there may be thousands in one answer. */
type Filled<T> = { -readonly [Name in keyof T]: T[Name] }
type PartitionResponse = Filled<NonNullable<TopicResponse['partitions']>[number]>

interface Answer {
  readonly wanted: WantedPartition
  readonly response: PartitionResponse
  readonly news: PartitionNews
}

const NO_RECORDS = Buffer.alloc(0)
const READ_COMMITTED = 1

export const fetch = handler('Fetch', { versions: '0-17' }, (request, context) => {
  const { broker } = context
  const session = openSession(request, context)
  // What is not known at all is answered after all others, as Kafka does.
  const unknown: WantedPartition[] = []
  const known: WantedPartition[] = []
  for (const wanted of session.partitions) {
    if (exists(broker, wanted)) known.push(wanted)
    else unknown.push(wanted)
  }
  const limits = limitsOf(request, context)
  const conclude = (reads: readonly PartitionRead[] | 'gone') => {
    if (reads === 'gone') return NO_RESPONSE
    const answer = (converted: readonly Converted[]) => respond(session, { known, reads, converted, unknown }, limits, context)
    const converted = reads.map((result, at) => convertedRead(result, known[at]!, context))
    return converted.every(isThere) ? answer(converted) : Promise.all(converted).then(answer)
  }
  const reads = readOrWait(broker, known, limits, (gone) => context.onGone(gone))
  return reads instanceof Promise ? reads.then(conclude) : conclude(reads)
})

const isThere = (converted: Converted | Promise<Converted>): converted is Converted => !(converted instanceof Promise)

function convertedRead(result: PartitionRead, wanted: WantedPartition, { apiVersion: version, broker }: RequestContext) {
  if (result.kind === 'failed') return AS_STORED
  return convertedFor(result.read, { version, wanted, config: result.partition.config, offload: broker.offload })
}

const exists = (broker: BrokerServices, { topic, partition }: WantedPartition): boolean =>
  topic !== null && hostedPartition(broker, topic, partition) !== 'UNKNOWN_TOPIC_OR_PARTITION'

function openSession(request: FetchRequest, context: RequestContext): FetchContext {
  const image = context.broker.controller.image()
  const usesTopicIds = context.apiVersion >= 13
  const nameOf = (topicId: string): string | null => image.topicById(topicId)?.name ?? null
  const wanted: WantedPartition[] = []
  for (const { topic: name, topicId, partitions } of request.topics) {
    const topic = usesTopicIds ? nameOf(topicId) : name
    for (const asked of partitions) {
      wanted.push({
        topic,
        topicId: usesTopicIds ? topicId : ZERO_UUID,
        partition: asked.partition,
        fetchOffset: asked.fetchOffset,
        maxBytes: asked.partitionMaxBytes,
        // Here any negative epoch means that none is named, elsewhere -1 alone.
        currentLeaderEpoch: Math.max(asked.currentLeaderEpoch, -1),
        lastFetchedEpoch: asked.lastFetchedEpoch,
      })
    }
  }
  const forgotten: ForgottenPartition[] = request.forgottenTopicsData.flatMap(({ topic, topicId, partitions }) =>
    partitions.map((partition) => ({ topic, topicId, partition })),
  )
  const { sessionId, sessionEpoch } = request
  const isFromFollower = replicaIdOf(request, context) >= 0
  return context.broker.fetchSessions.open({
    sessionId,
    sessionEpoch,
    usesTopicIds,
    isFromFollower,
    wanted,
    forgotten,
    nameOf,
  })
}

const replicaIdOf = (request: FetchRequest, context: RequestContext): number =>
  context.apiVersion >= 15 ? request.replicaState.replicaId : request.replicaId

function limitsOf(request: FetchRequest, context: RequestContext): FetchLimits {
  const maxBytes = Math.min(request.maxBytes, context.broker.config['fetch.max.bytes'])
  const replicaId = replicaIdOf(request, context)
  // -1 and -2 are consumers, -3 and followers see the log to its end.
  const isConsumer = replicaId < 0 && replicaId !== -3
  return {
    maxBytes,
    minBytes: Math.min(request.minBytes, maxBytes),
    maxWaitMs: request.maxWaitMs,
    hardMaxBytes: context.apiVersion <= 2,
    isConverted: context.apiVersion <= 3,
    upTo: !isConsumer ? 'logEnd' : request.isolationLevel === READ_COMMITTED ? 'lastStable' : 'highWatermark',
    replicaId,
  }
}

/** `reads` and `converted` are of `known`, one by one. */
interface ReadPartitions {
  readonly known: readonly WantedPartition[]
  readonly reads: readonly PartitionRead[]
  readonly converted: readonly Converted[]
  readonly unknown: readonly WantedPartition[]
}

function respond(
  session: FetchContext,
  { known, reads, converted, unknown }: ReadPartitions,
  limits: FetchLimits,
  context: RequestContext,
): Response {
  const hints = new LeaderHints(context)
  const answers: Answer[] = known.map((wanted, at) => answerOf(wanted, reads[at]!, converted[at]!, limits, hints, context))
  for (const wanted of unknown) {
    const answer = failure(wanted, wanted.topic === null ? 'UNKNOWN_TOPIC_ID' : 'UNKNOWN_TOPIC_OR_PARTITION')
    answer.response.abortedTransactions = [] // Kafka's default for what was never looked at; null is for what was
    answers.push(answer)
  }
  const outcome = session.conclude(
    answers.map((answer) => answer.wanted),
    answers,
    (answer) => answer.news,
  )
  return {
    throttleTimeMs: 0,
    errorCode: errorCode(outcome.error),
    sessionId: outcome.sessionId,
    responses: byTopic(outcome.answers),
    nodeEndpoints: hints.nodeEndpoints,
  }
}

function answerOf(
  wanted: WantedPartition,
  result: PartitionRead,
  converted: Converted,
  limits: FetchLimits,
  hints: LeaderHints,
  context: RequestContext,
): Answer {
  const { apiVersion } = context
  if (result.kind === 'failed') {
    // Clients of v5 and before do not know the storage error: this one makes them look for the leader again.
    const error = result.error === 'KAFKA_STORAGE_ERROR' && apiVersion <= 5 ? 'NOT_LEADER_OR_FOLLOWER' : result.error
    const answer = failure(wanted, error)
    const hinted = result.error === 'NOT_LEADER_OR_FOLLOWER' || result.error === 'FENCED_LEADER_EPOCH'
    if (apiVersion >= 16 && hinted) answer.response.currentLeader = hints.leaderOf(wanted.topic ?? '', wanted.partition)
    return answer
  }
  const { read, diverged } = result
  if (converted.kind !== 'asStored') releaseAll(read.slices)
  const response: PartitionResponse = {
    partitionIndex: wanted.partition,
    errorCode: 0,
    highWatermark: read.highWatermark,
    lastStableOffset: read.lastStableOffset,
    logStartOffset: read.logStartOffset,
    abortedTransactions: limits.upTo === 'lastStable' && diverged === null ? [...read.abortedTransactions] : null,
    records: read.slices.length === 0 ? NO_RECORDS : read.slices,
  }
  if (diverged !== null) response.divergingEpoch = diverged
  if (converted.kind === 'refused') {
    // The session counts it as read: only the form of the records stands between them and this client.
    const refused: PartitionResponse = {
      partitionIndex: wanted.partition,
      errorCode: errorCode(converted.error),
      highWatermark: -1,
      records: null,
    }
    return { wanted, response: refused, news: newsOf(response, read.sizeInBytes, diverged !== null) }
  }
  if (converted.kind === 'converted') response.records = bytesOf(converted.records)
  return { wanted, response, news: newsOf(response, read.sizeInBytes, diverged !== null) }
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer => Buffer.from(buffer, byteOffset, byteLength)

function failure(wanted: WantedPartition, error: ErrorName): Answer {
  const response: PartitionResponse = {
    partitionIndex: wanted.partition,
    errorCode: errorCode(error),
    highWatermark: -1,
    lastStableOffset: -1,
    logStartOffset: -1,
    abortedTransactions: null,
    records: NO_RECORDS,
  }
  return { wanted, response, news: newsOf(response, 0, false) }
}

const newsOf = (response: PartitionResponse, recordBytes: number, diverges: boolean): PartitionNews => ({
  errorCode: response.errorCode ?? 0,
  highWatermark: Number(response.highWatermark),
  logStartOffset: Number(response.logStartOffset),
  recordBytes,
  diverges,
})

/** Neighbours of one topic share an entry; the order of the partitions stays. */
function byTopic(answers: readonly Answer[]): TopicResponse[] {
  const topics: { topic: string; topicId: string; partitions: PartitionResponse[] }[] = []
  for (const { wanted, response } of answers) {
    const last = topics.at(-1)
    const isSame =
      last !== undefined && (wanted.topicId !== ZERO_UUID ? last.topicId === wanted.topicId : last.topic === wanted.topic)
    if (isSame) last.partitions.push(response)
    else topics.push({ topic: wanted.topic ?? '', topicId: wanted.topicId, partitions: [response] })
  }
  return topics
}
