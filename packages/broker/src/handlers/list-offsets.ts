/**
 * ListOffsets v0-9: offsets by time. v0 lists segment starts, v1 one offset with its timestamp, v2 isolation levels, v4 leader
 * epochs, v6 flexible, v7 the largest timestamp (-3), v8 the earliest local offset (-4), v9 the latest tiered one (-5).
 */
import { type ErrorName, errorCode, type Input, type ListOffsetsRequest, type ListOffsetsResponse } from '@mq/protocol'
import type { RequestContext } from '../services.js'
import { handler } from './handler.js'
import { hostedPartition } from './hosted-partition.js'
import { type Found, findOffset, legacyOffsets, specialIsKnown } from './list-offsets-find.js'

type TopicResponse = NonNullable<Input<typeof ListOffsetsResponse>['topics']>[number]
type PartitionResponse = NonNullable<TopicResponse['partitions']>[number]
type Asked = ListOffsetsRequest['topics'][number]['partitions'][number]

export const listOffsets = handler('ListOffsets', { versions: '0-9' }, async (request, context) => {
  const repeated = repeatedPartitions(request)
  const topics: TopicResponse[] = []
  for (const { name, partitions } of request.topics) {
    const responses: PartitionResponse[] = []
    for (const asked of partitions) {
      if (context.apiVersion === 0) responses.push(answerV0(request, name, asked, context))
      else if (repeated.has(keyOf(name, asked.partitionIndex))) responses.push(failure(asked, 'INVALID_REQUEST'))
      else responses.push(await answer(request, name, asked, context))
    }
    topics.push({ name, partitions: responses })
  }
  return { throttleTimeMs: 0, topics }
})

/** The number goes first: a name may end in a hyphen, and a partition that a client makes up may be negative. */
const keyOf = (topic: string, partition: number): string => `${partition} ${topic}`

function repeatedPartitions(request: ListOffsetsRequest): ReadonlySet<string> {
  const seen = new Set<string>()
  const repeated = new Set<string>()
  for (const { name, partitions } of request.topics) {
    for (const { partitionIndex } of partitions) {
      const key = keyOf(name, partitionIndex)
      if (seen.has(key)) repeated.add(key)
      seen.add(key)
    }
  }
  return repeated
}

const failure = (asked: Asked, error: ErrorName): PartitionResponse => ({
  partitionIndex: asked.partitionIndex,
  errorCode: errorCode(error),
  timestamp: -1,
  offset: -1,
})

async function answer(
  request: ListOffsetsRequest,
  topic: string,
  asked: Asked,
  context: RequestContext,
): Promise<PartitionResponse> {
  if (!specialIsKnown(asked.timestamp, context.apiVersion)) return failure(asked, 'UNSUPPORTED_VERSION')
  const partition = hostedPartition(context.broker, topic, asked.partitionIndex)
  if (typeof partition === 'string') return failure(asked, partition)
  const upTo = request.replicaId !== -1 ? 'logEnd' : request.isolationLevel === 1 ? 'lastStable' : 'highWatermark'
  const found: Found = await findOffset(partition, asked.timestamp, asked.currentLeaderEpoch, upTo)
  if (found.kind === 'refused') {
    // OFFSET_NOT_AVAILABLE came with v5; before it the client is made to try again by another word.
    const isNew = found.error === 'OFFSET_NOT_AVAILABLE' && context.apiVersion < 5
    return failure(asked, isNew ? 'LEADER_NOT_AVAILABLE' : found.error)
  }
  const { timestamp, offset } = found
  const leaderEpoch = context.apiVersion >= 4 ? found.leaderEpoch : -1
  return { partitionIndex: asked.partitionIndex, errorCode: 0, timestamp, offset, leaderEpoch }
}

function answerV0(request: ListOffsetsRequest, topic: string, asked: Asked, context: RequestContext): PartitionResponse {
  // Of the special timestamps v0 knows the first two.
  if (asked.timestamp < -2) return failure(asked, 'UNSUPPORTED_VERSION')
  const partition = hostedPartition(context.broker, topic, asked.partitionIndex)
  if (typeof partition === 'string') return failure(asked, partition)
  const now = context.broker.clock.now()
  const offsets = legacyOffsets(partition, asked.timestamp, asked.maxNumOffsets, now, request.replicaId === -1)
  if (!Array.isArray(offsets)) return failure(asked, offsets.error)
  return { partitionIndex: asked.partitionIndex, errorCode: 0, oldStyleOffsets: offsets }
}
