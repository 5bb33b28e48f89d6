/**
 * Metadata v0-12. v0: an empty list means all topics, from v1 null does. v4 may forbid auto-creation, v5 offline replicas, v7 leader epochs,
 * v8 authorized operations (KIP-430; the cluster's until v10), v10 topic ids, v12 asking by topic id.
 */
import { type Body, errorCode, type Input, type MetadataRequest, type MetadataResponse, ZERO_UUID } from '@mq/protocol'
import type { MetadataImage, PartitionImage, TopicImage } from '../metadata/image.js'
import type { RequestContext } from '../services.js'
import { topicNameProblem } from '../topic-name.js'
import { handler } from './handler.js'
import { isInternalTopic } from './internal-topics.js'
import { CLUSTER_OPERATIONS, OPERATIONS_NOT_ASKED, TOPIC_OPERATIONS } from './operations.js'

type TopicAnswer = NonNullable<Input<typeof MetadataResponse>['topics']>[number]

export const metadata = handler('Metadata', { versions: '0-12' }, async (request, context) => {
  const { apiVersion, broker, listenerName } = context
  const image = broker.controller.image()
  const wrong = wrongIn(request, apiVersion)
  if (wrong !== null) return { topics: wrong }
  const topics = await answerTopics(request, context, image)
  const now = broker.controller.image()
  return {
    brokers: endpointsOf(now, listenerName),
    clusterId: broker.clusterId,
    controllerId: now.controllerId,
    topics: request.includeTopicAuthorizedOperations
      ? topics.map((topic) => (topic.name === null ? topic : { ...topic, topicAuthorizedOperations: TOPIC_OPERATIONS }))
      : topics,
    clusterAuthorizedOperations: request.includeClusterAuthorizedOperations ? CLUSTER_OPERATIONS : OPERATIONS_NOT_ASKED,
  }
})

/** v10 and v11 have the fields of topic ids, but do not serve them. */
function wrongIn(request: Body<typeof MetadataRequest>, version: number): TopicAnswer[] | null {
  if (version >= 12 || !request.topics?.some(({ name, topicId }) => name === null || topicId !== ZERO_UUID)) return null
  return request.topics.map(({ name, topicId }) => ({ errorCode: errorCode('INVALID_REQUEST'), name: name ?? '', topicId }))
}

async function answerTopics(
  request: Body<typeof MetadataRequest>,
  context: RequestContext,
  image: MetadataImage,
): Promise<TopicAnswer[]> {
  const { listenerName, apiVersion, broker } = context
  const describe = (topic: TopicImage) => describeTopic(topic, image, listenerName, apiVersion)
  if (request.topics === null || (apiVersion === 0 && request.topics.length === 0)) return Array.from(image.topics(), describe)
  const ids = new Set(request.topics.map(({ topicId }) => topicId).filter((id) => id !== ZERO_UUID))
  if (ids.size > 0) {
    return Array.from(ids, (topicId) => {
      const topic = image.topicById(topicId)
      return topic ? describe(topic) : { errorCode: errorCode('UNKNOWN_TOPIC_ID'), name: null, topicId }
    })
  }
  const names = new Set(request.topics.map(({ name }) => name ?? ''))
  const answers: TopicAnswer[] = []
  const unknown: string[] = []
  for (const name of names) {
    const topic = image.topic(name)
    if (topic) answers.push(describe(topic))
    else unknown.push(name)
  }
  if (unknown.length === 0) return answers
  if (request.allowAutoTopicCreation && broker.config['auto.create.topics.enable']) {
    for (const { name, error } of await broker.controller.autoCreateTopics(unknown)) {
      answers.push({ errorCode: errorCode(error), name, isInternal: isInternalTopic(name) })
    }
    return answers
  }
  for (const name of unknown) {
    const error = topicNameProblem(name) === null ? 'UNKNOWN_TOPIC_OR_PARTITION' : 'INVALID_TOPIC_EXCEPTION'
    answers.push({ errorCode: errorCode(error), name, isInternal: isInternalTopic(name) })
  }
  return answers
}

/** The brokers that clients of this listener can reach. */
export function endpointsOf(image: MetadataImage, listenerName: string) {
  const nodes: { nodeId: number; host: string; port: number; rack: string | null }[] = []
  for (const { id, rack, endpoints } of image.brokers.values()) {
    const endpoint = endpoints.find((one) => one.listenerName === listenerName)
    if (endpoint) nodes.push({ nodeId: id, host: endpoint.host, port: endpoint.port, rack })
  }
  return nodes
}

function describeTopic(topic: TopicImage, image: MetadataImage, listenerName: string, version: number): TopicAnswer {
  return {
    errorCode: 0,
    name: topic.name,
    topicId: topic.topicId,
    isInternal: topic.isInternal,
    partitions: topic.partitions.map((partition, index) => describePartition(partition, index, image, listenerName, version)),
  }
}

function describePartition(
  partition: PartitionImage,
  index: number,
  image: MetadataImage,
  listenerName: string,
  version: number,
) {
  const reachable = (id: number) => image.brokers.get(id)?.endpoints.some((one) => one.listenerName === listenerName) ?? false
  const error = partitionError(partition, image, reachable, version)
  const leaderKnown = error !== 'LEADER_NOT_AVAILABLE' && error !== 'LISTENER_NOT_FOUND'
  // v0 leaves out replicas that are away; later versions name them all.
  const shown = version === 0 ? reachable : () => true
  return {
    errorCode: errorCode(error),
    partitionIndex: index,
    leaderId: leaderKnown ? partition.leader : -1,
    leaderEpoch: partition.leaderEpoch,
    replicaNodes: partition.replicas.filter(shown),
    isrNodes: partition.isr.filter(shown),
    offlineReplicas: [...new Set([...partition.replicas.filter((id) => !image.brokers.has(id)), ...partition.offlineReplicas])],
  }
}

function partitionError(
  partition: PartitionImage,
  image: MetadataImage,
  reachable: (id: number) => boolean,
  version: number,
): 'NONE' | 'LEADER_NOT_AVAILABLE' | 'LISTENER_NOT_FOUND' | 'REPLICA_NOT_AVAILABLE' {
  if (!image.brokers.has(partition.leader)) return 'LEADER_NOT_AVAILABLE'
  if (!reachable(partition.leader)) return version >= 6 ? 'LISTENER_NOT_FOUND' : 'LEADER_NOT_AVAILABLE'
  if (version === 0 && !(partition.replicas.every(reachable) && partition.isr.every(reachable))) return 'REPLICA_NOT_AVAILABLE'
  return 'NONE'
}
