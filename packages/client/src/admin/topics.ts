/** Topics and partitions: list, create, delete, extend, describe; and what the cluster is. */

import {
  failureOf,
  KafkaJSAggregateError,
  KafkaJSCreateTopicError,
  KafkaJSError,
  KafkaJSNonRetriableError,
  KafkaJSProtocolError,
  protocolError,
} from '../errors.js'
import type { PartitionMetadata } from '../producer/partitioner.js'
import { checkArray, checkNewPartitions, checkNewTopics, checkTopicName } from './arguments.js'
import { DEFAULT_TIMEOUT_MS, type Routes, UNKNOWN_TOPIC_IS_AN_ANSWER } from './routes.js'

export interface TopicConfig {
  topic: string
  /** -1: the broker's default. */
  numPartitions?: number
  replicationFactor?: number
  replicaAssignment?: { partition: number; replicas: number[] }[]
  configEntries?: { name: string; value: string }[]
}

export class TopicAdmin {
  constructor(private readonly routes: Routes) {}

  async listTopics(): Promise<string[]> {
    const { cluster } = this.routes
    const { topics } = await cluster.retrying(() => cluster.metadata(null))
    return topics.flatMap(({ name }) => (name === null ? [] : [name]))
  }

  /** Resolves true when all were made and have leaders; false when all exist already. Rejects with KafkaJSAggregateError otherwise. */
  async createTopics({
    topics,
    validateOnly = false,
    waitForLeaders = true,
    timeout = DEFAULT_TIMEOUT_MS,
  }: {
    topics: TopicConfig[]
    validateOnly?: boolean
    waitForLeaders?: boolean
    timeout?: number
  }): Promise<boolean> {
    checkNewTopics(topics)
    const names = topics.map(({ topic }) => topic)
    const failures = await this.routes.onController(async (controller) => {
      const response = await controller.send(
        'CreateTopics',
        {
          topics: topics.map(
            ({ topic, numPartitions = -1, replicationFactor = -1, replicaAssignment = [], configEntries = [] }) => ({
              name: topic,
              numPartitions: replicaAssignment.length > 0 ? -1 : numPartitions,
              replicationFactor: replicaAssignment.length > 0 ? -1 : replicationFactor,
              assignments: replicaAssignment.map(({ partition, replicas }) => ({
                partitionIndex: partition,
                brokerIds: replicas,
              })),
              configs: configEntries.map(({ name, value }) => ({ name, value })),
            }),
          ),
          timeoutMs: timeout,
          validateOnly,
        },
        { timeoutMs: timeout + DEFAULT_TIMEOUT_MS },
      )
      return this.#itemFailures(response.topics)
    })
    const real = failures.filter(({ error }) => error.type !== 'TOPIC_ALREADY_EXISTS')
    if (real.length > 0)
      throw new KafkaJSAggregateError(
        'Topic creation errors',
        real.map(({ name, error }) => new KafkaJSCreateTopicError(error, name)),
      )
    const made = names.filter((name) => !failures.some((failure) => failure.name === name))
    if (waitForLeaders && !validateOnly && made.length > 0) await this.#untilLeaders(made)
    return failures.length === 0
  }

  async deleteTopics({ topics, timeout = DEFAULT_TIMEOUT_MS }: { topics: string[]; timeout?: number }): Promise<void> {
    checkArray(topics, 'topics')
    if (topics.some((topic) => typeof topic !== 'string'))
      throw new KafkaJSNonRetriableError('Invalid topics array, the names must be a valid string')
    // What was deleted at one try is not there at the next.
    let left = topics
    await this.routes.onController(async (controller) => {
      const response = await controller.send(
        'DeleteTopics',
        { topicNames: left, timeoutMs: timeout },
        { timeoutMs: timeout + DEFAULT_TIMEOUT_MS },
      )
      const failures = this.#itemFailures(response.responses)
      left = failures.map(({ name }) => name)
      const [failure] = failures
      if (failure !== undefined) throw Object.assign(new KafkaJSProtocolError(failure.error), { topic: failure.name })
    })
    this.routes.cluster.removeTargetTopics(topics)
  }

  async createPartitions({
    topicPartitions,
    validateOnly = false,
    timeout = DEFAULT_TIMEOUT_MS,
  }: {
    topicPartitions: { topic: string; count: number; assignments?: number[][] }[]
    validateOnly?: boolean
    timeout?: number
  }): Promise<boolean> {
    checkNewPartitions(topicPartitions)
    await this.routes.onController(async (controller) => {
      const response = await controller.send(
        'CreatePartitions',
        {
          topics: topicPartitions.map(({ topic, count, assignments }) => ({
            name: topic,
            count,
            assignments:
              assignments === undefined || assignments.length === 0 ? null : assignments.map((brokerIds) => ({ brokerIds })),
          })),
          timeoutMs: timeout,
          validateOnly,
        },
        { timeoutMs: timeout + DEFAULT_TIMEOUT_MS },
      )
      const [failure] = this.#itemFailures(response.results)
      if (failure !== undefined) throw Object.assign(new KafkaJSProtocolError(failure.error), { topic: failure.name })
    }, UNKNOWN_TOPIC_IS_AN_ANSWER)
    return true
  }

  /** Metadata of the named topics, or of all of them. Rejects when a named one does not exist. */
  async fetchTopicMetadata({
    topics = [],
  }: {
    topics?: string[]
  } = {}): Promise<{ topics: { name: string; partitions: PartitionMetadata[] }[] }> {
    for (const topic of topics) checkTopicName(topic)
    const { cluster } = this.routes
    const response = await cluster.retrying(async () => {
      const answer = await cluster.metadata(topics.length === 0 ? null : topics)
      for (const { errorCode, name } of answer.topics)
        if (errorCode !== 0) throw Object.assign(protocolError(errorCode), { topic: name })
      return answer
    }, UNKNOWN_TOPIC_IS_AN_ANSWER)
    return {
      topics: response.topics.map(({ name, partitions }) => ({
        name: name!,
        partitions: partitions.map((each) => ({
          partitionErrorCode: each.errorCode,
          partitionId: each.partitionIndex,
          leader: each.leaderId,
          replicas: each.replicaNodes,
          isr: each.isrNodes,
          offlineReplicas: each.offlineReplicas,
        })),
      })),
    }
  }

  async describeCluster(): Promise<{
    brokers: { nodeId: number; host: string; port: number }[]
    controller: number | null
    clusterId: string
  }> {
    const { cluster } = this.routes
    const { brokers, controllerId, clusterId } = await cluster.retrying(() => cluster.metadata([]))
    return {
      brokers: brokers.map(({ nodeId, host, port }) => ({ nodeId, host, port })),
      controller: controllerId === -1 ? null : controllerId,
      clusterId: clusterId ?? '',
    }
  }

  /** Error codes per item. A controller that moved is thrown, so that the call is tried again at the new one. */
  #itemFailures(items: readonly { name: string | null; errorCode: number; errorMessage?: string | null }[]) {
    const failures = items.flatMap(({ name, errorCode, errorMessage }) =>
      errorCode === 0 ? [] : [{ name: name ?? '', error: failureOf(errorCode, errorMessage) }],
    )
    const moved = failures.find(({ error }) => error.type === 'NOT_CONTROLLER')
    if (moved !== undefined) throw protocolError(moved.error.code)
    return failures
  }

  async #untilLeaders(topics: string[]): Promise<void> {
    const { cluster } = this.routes
    await cluster.retrying(async () => {
      const response = await cluster.metadata(topics)
      for (const { name, errorCode, partitions } of response.topics)
        if (errorCode !== 0 || partitions.length === 0 || partitions.some(({ leaderId }) => leaderId < 0))
          throw new KafkaJSError(`Not all partitions of ${name} have a leader yet`)
    })
  }
}
