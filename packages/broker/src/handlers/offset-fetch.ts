/**
 * OffsetFetch v0-9. v0 reads the metadata tree, v2 all partitions and an error for the whole, v5 leader epoch, v7 require stable
 * (KIP-447), v8 several groups (KIP-709).
 */
import { errorCode, type OffsetFetchRequest } from '@mq/protocol'
import type { BrokerServices } from '../services.js'
import { handler } from './handler.js'
import { fetchFromTree } from './legacy-offsets.js'

export const offsetFetch = handler('OffsetFetch', { versions: '0-9' }, async (request, { apiVersion, broker }) => {
  if (apiVersion === 0) return { topics: await fromTree(request, broker) }
  const { requireStable } = request
  if (apiVersion < 8) {
    const { groupId, topics } = request
    const fetched = broker.groups.fetchOffsets({ groupId, topics, requireStable })
    const failed = fetched.errorCode !== errorCode('NONE')
    // v1 has no error of its own, so it goes to the partitions; from v2 on a failed answer has no topics, as Kafka's.
    return { errorCode: fetched.errorCode, topics: failed && apiVersion >= 2 ? [] : fetched.topics }
  }
  const groups = request.groups.map(({ groupId, topics }) => {
    const fetched = broker.groups.fetchOffsets({ groupId, topics, requireStable })
    const failed = fetched.errorCode !== errorCode('NONE')
    return { groupId, errorCode: fetched.errorCode, topics: failed ? [] : fetched.topics }
  })
  return { groups }
})

async function fromTree({ groupId, topics }: OffsetFetchRequest, broker: BrokerServices) {
  const answers = []
  for (const { name, partitionIndexes } of topics ?? []) {
    const partitions = []
    for (const partition of partitionIndexes) partitions.push(await fetchFromTree(broker, groupId, name, partition))
    answers.push({ name, partitions })
  }
  return answers
}
