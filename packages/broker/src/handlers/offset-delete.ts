/** OffsetDelete v0 (KIP-496): forgets offsets of a group, but not of topics that its members subscribe to. */
import { type ErrorName, errorCode } from '@mq/protocol'
import { handler } from './handler.js'

type TopicAnswer = { name: string; partitions: { partitionIndex: number; errorCode: number }[] }

export const offsetDelete = handler('OffsetDelete', { versions: '0' }, async (request, { broker }) => {
  const answers = new Map<string, TopicAnswer>()
  const answer = (name: string, partitionIndex: number, code: number) => {
    let topic = answers.get(name)
    if (!topic) {
      topic = { name, partitions: [] }
      answers.set(name, topic)
    }
    topic.partitions.push({ partitionIndex, errorCode: code })
  }
  const unknown: ErrorName = 'UNKNOWN_TOPIC_OR_PARTITION'
  const known = request.topics.map(({ name, partitions }) => ({
    name,
    partitions: partitions.filter(({ partitionIndex }) => {
      if (broker.controller.image().partition(name, partitionIndex)) return true
      answer(name, partitionIndex, errorCode(unknown))
      return false
    }),
  }))
  const { groupId } = request
  const reply = await broker.groups.run(groupId, { kind: 'deleteOffsets', groupId, topics: known })
  if (reply.errorCode !== errorCode('NONE')) return { errorCode: reply.errorCode }
  for (const { name, partitions } of reply.topics) {
    for (const { partitionIndex, errorCode: code } of partitions) answer(name, partitionIndex, code)
  }
  return { topics: [...answers.values()] }
})
