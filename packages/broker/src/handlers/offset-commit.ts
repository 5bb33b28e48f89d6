/**
 * OffsetCommit v0-9. v0 keeps the offset in the metadata tree (`/consumers/<group>/offsets/…`), v1 a timestamp, v2-4 a retention time,
 * v6 leader epoch (KIP-320), v7 static members (KIP-345). Partitions that do not exist are answered and not stored.
 */
import { type Body, type ErrorName, errorCode, type OffsetCommitRequest } from '@mq/protocol'
import type { BrokerServices } from '../services.js'
import { handler } from './handler.js'
import { commitToTree } from './legacy-offsets.js'

type Topic = Body<typeof OffsetCommitRequest>['topics'][number]
type TopicAnswer = { name: string; partitions: { partitionIndex: number; errorCode: number }[] }

export const offsetCommit = handler('OffsetCommit', { versions: '0-9' }, async (request, { apiVersion, broker }) => {
  const known: Topic[] = []
  const answers = new Map<string, TopicAnswer>()
  for (const topic of request.topics) {
    const partitions = topic.partitions.filter((partition) => {
      if (broker.controller.image().partition(topic.name, partition.partitionIndex)) return true
      answerOf(answers, topic.name).partitions.push(answer(partition.partitionIndex, 'UNKNOWN_TOPIC_OR_PARTITION'))
      return false
    })
    if (partitions.length > 0) known.push({ ...topic, partitions })
  }
  if (known.length === 0) return { topics: [...answers.values()] }
  for (const { name, partitions } of await commit(apiVersion, { ...request, topics: known }, broker)) {
    answerOf(answers, name).partitions.push(...partitions)
  }
  return { topics: [...answers.values()] }
})

async function commit(
  apiVersion: number,
  request: Body<typeof OffsetCommitRequest>,
  broker: BrokerServices,
): Promise<readonly { readonly name: string; readonly partitions: readonly { partitionIndex: number; errorCode: number }[] }[]> {
  if (apiVersion === 0) return commitToTree(request.groupId, request.topics, broker)
  const { topics } = await broker.groups.run(request.groupId, {
    kind: 'commitOffsets',
    ...request,
    generationId: request.generationIdOrMemberEpoch,
  })
  return topics
}

function answerOf(answers: Map<string, TopicAnswer>, name: string): TopicAnswer {
  let topic = answers.get(name)
  if (!topic) {
    topic = { name, partitions: [] }
    answers.set(name, topic)
  }
  return topic
}

const answer = (partitionIndex: number, error: ErrorName) => ({ partitionIndex, errorCode: errorCode(error) })
