/** The admin's public face: topics, configs, groups and their offsets, records. Each call goes to the broker that answers it. */

import type { Cluster } from '../cluster'
import type { Connection } from '../connection'
import { ConfigResourceTypes } from '../enums'
import {
  failureOf,
  KafkaJSAggregateError,
  KafkaJSCreateTopicError,
  KafkaJSDeleteGroupsError,
  KafkaJSDeleteTopicRecordsError,
  KafkaJSError,
  KafkaJSNonRetriableError,
  type PartitionFailure,
  protocolError,
} from '../errors'
import { ADMIN_EVENTS, type Instrumentation, type Listener } from '../events'
import type { Logger } from '../logger'
import type { PartitionMetadata } from '../producer/partitioner'

export interface TopicConfig {
  topic: string
  /** -1: the broker's default. */
  numPartitions?: number
  replicationFactor?: number
  replicaAssignment?: { partition: number; replicas: number[] }[]
  configEntries?: { name: string; value: string }[]
}

export interface PartitionOffset {
  partition: number
  offset: string
}

export interface AdminOptions {
  readonly cluster: Cluster
  readonly instrumentation: Instrumentation
  readonly logger: Logger
}

const EARLIEST = -2
const LATEST = -1
/** Time limit of the broker's own work, in ms. */
const DEFAULT_TIMEOUT_MS = 5_000

const present = (list: readonly unknown[] | undefined, what: string): void => {
  if (!Array.isArray(list)) throw new KafkaJSNonRetriableError(`Invalid ${what} array ${String(list)}`)
}

export class Admin {
  readonly events = ADMIN_EVENTS
  readonly #options: AdminOptions

  constructor(options: AdminOptions) {
    this.#options = options
  }

  logger(): Logger {
    return this.#options.logger
  }

  on(eventName: string, listener: Listener): () => void {
    if (!(Object.values(ADMIN_EVENTS) as string[]).includes(eventName))
      throw new KafkaJSNonRetriableError(`Event name should be one of ${Object.values(ADMIN_EVENTS).join(', ')}`)
    return this.#options.instrumentation.on(eventName, listener)
  }

  async connect(): Promise<void> {
    await this.#options.cluster.connect()
    this.#options.instrumentation.emit(ADMIN_EVENTS.CONNECT, () => null)
  }

  async disconnect(): Promise<void> {
    await this.#options.cluster.disconnect()
    this.#options.instrumentation.emit(ADMIN_EVENTS.DISCONNECT, () => null)
  }

  async listTopics(): Promise<string[]> {
    const { cluster } = this.#options
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
    present(topics, 'topics')
    if (topics.some(({ topic }) => typeof topic !== 'string'))
      throw new KafkaJSNonRetriableError('Invalid topics array, the topic names have to be a valid string')
    const names = topics.map(({ topic }) => topic)
    if (new Set(names).size < names.length)
      throw new KafkaJSNonRetriableError('Invalid topics array, it cannot have multiple entries for the same topic')
    const failures = await this.#onController(async (controller) => {
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
    const { cluster } = this.#options
    await cluster.retrying(async () => {
      const response = await cluster.metadata(topics)
      for (const { name, errorCode, partitions } of response.topics)
        if (errorCode !== 0 || partitions.length === 0 || partitions.some(({ leaderId }) => leaderId < 0))
          throw new KafkaJSError(`Not all partitions of ${name} have a leader yet`)
    })
  }

  async deleteTopics({ topics, timeout = DEFAULT_TIMEOUT_MS }: { topics: string[]; timeout?: number }): Promise<void> {
    present(topics, 'topics')
    if (topics.some((topic) => typeof topic !== 'string'))
      throw new KafkaJSNonRetriableError('Invalid topics array, the names must be a valid string')
    await this.#onController(async (controller) => {
      const response = await controller.send(
        'DeleteTopics',
        { topicNames: topics, timeoutMs: timeout },
        { timeoutMs: timeout + DEFAULT_TIMEOUT_MS },
      )
      const [failure] = this.#itemFailures(response.responses)
      if (failure !== undefined) throw Object.assign(protocolError(failure.error.code), { topic: failure.name })
    })
    this.#options.cluster.removeTargetTopics(topics)
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
    present(topicPartitions, 'topicPartitions')
    if (topicPartitions.length === 0) throw new KafkaJSNonRetriableError('Empty topicPartitions array')
    await this.#onController(async (controller) => {
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
      const failures = this.#itemFailures(response.results)
      if (failures.length > 0)
        throw Object.assign(protocolError(failures[0]!.error.code, failures[0]!.error.message), { topic: failures[0]!.name })
    })
    return true
  }

  /** Metadata of the named topics, or of all of them. Rejects when a named one does not exist. */
  async fetchTopicMetadata({
    topics = [],
  }: {
    topics?: string[]
  } = {}): Promise<{ topics: { name: string; partitions: PartitionMetadata[] }[] }> {
    for (const topic of topics)
      if (!topic || typeof topic !== 'string') throw new KafkaJSNonRetriableError(`Invalid topic ${topic}`)
    const { cluster } = this.#options
    const response = await cluster.retrying(async () => {
      const answer = await cluster.metadata(topics.length === 0 ? null : topics)
      for (const { errorCode, name } of answer.topics)
        if (errorCode !== 0) throw Object.assign(protocolError(errorCode), { topic: name })
      return answer
    })
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

  /** Committed offsets of a group: '-1' where it has none (or, with resolveOffsets, where reading would begin). */
  async fetchOffsets({
    groupId,
    topics,
    resolveOffsets = false,
  }: {
    groupId: string
    topics?: string[]
    resolveOffsets?: boolean
  }) {
    if (!groupId) throw new KafkaJSNonRetriableError(`Invalid groupId ${groupId}`)
    const { cluster } = this.#options
    if (topics !== undefined) await this.#know(topics)
    const response = await this.#onCoordinator(groupId, async (coordinator) => {
      const answer = await coordinator.send('OffsetFetch', {
        groupId,
        topics:
          topics === undefined
            ? null
            : topics.map((name) => ({
                name,
                partitionIndexes: cluster.findTopicPartitionMetadata(name).map(({ partitionId }) => partitionId),
              })),
      })
      if (answer.errorCode !== 0) throw protocolError(answer.errorCode)
      return answer
    })
    const found = response.topics.map(({ name, partitions }) => ({
      topic: name,
      partitions: partitions.map(({ partitionIndex, committedOffset, metadata, errorCode }) => {
        if (errorCode !== 0) throw protocolError(errorCode)
        return { partition: partitionIndex, offset: String(committedOffset), metadata: metadata || null }
      }),
    }))
    if (!resolveOffsets) return found
    return Promise.all(
      found.map(async ({ topic, partitions }) => {
        const starts = new Map((await this.fetchTopicOffsets(topic)).map(({ partition, high }) => [partition, high]))
        return {
          topic,
          partitions: partitions.map((each) =>
            each.offset === '-1' ? { ...each, offset: starts.get(each.partition) ?? '-1' } : each,
          ),
        }
      }),
    )
  }

  /** First and next offset of each partition. */
  async fetchTopicOffsets(topic: string): Promise<(PartitionOffset & { high: string; low: string })[]> {
    if (!topic || typeof topic !== 'string') throw new KafkaJSNonRetriableError(`Invalid topic ${topic}`)
    const [high, low] = await Promise.all([this.#offsets(topic, LATEST), this.#offsets(topic, EARLIEST)])
    return [...high].map(([partition, offset]) => ({
      partition,
      offset: String(offset),
      high: String(offset),
      low: String(low.get(partition)!),
    }))
  }

  /** The first offset at or after a time (ms); the next offset of partitions that have nothing so late. */
  async fetchTopicOffsetsByTimestamp(topic: string, timestamp?: number): Promise<PartitionOffset[]> {
    if (!topic || typeof topic !== 'string') throw new KafkaJSNonRetriableError(`Invalid topic ${topic}`)
    const high = await this.#offsets(topic, LATEST)
    const found = timestamp === undefined ? high : await this.#offsets(topic, timestamp)
    return [...high].map(([partition, end]) => {
      const offset = found.get(partition)!
      return { partition, offset: String(offset >= 0 ? offset : end) }
    })
  }

  async #offsets(topic: string, timestamp: number): Promise<Map<number, number>> {
    const { cluster } = this.#options
    await this.#know([topic])
    const found = await cluster.retrying(async () => {
      await cluster.refreshMetadataIfNecessary()
      return cluster.listOffsets(
        cluster.findTopicPartitionMetadata(topic).map(({ partitionId }) => ({ topic, partition: partitionId, timestamp })),
      )
    })
    return new Map(
      found.sort((one, other) => one.partition - other.partition).map(({ partition, offset }) => [partition, offset]),
    )
  }

  async #know(topics: string[]): Promise<void> {
    const { cluster } = this.#options
    await cluster.retrying(() => cluster.addMultipleTargetTopics(topics))
  }

  /** Sets a group's offsets. The group must have no members. */
  async setOffsets({
    groupId,
    topic,
    partitions,
  }: {
    groupId: string
    topic: string
    partitions: PartitionOffset[]
  }): Promise<void> {
    if (!groupId) throw new KafkaJSNonRetriableError(`Invalid groupId ${groupId}`)
    if (!topic) throw new KafkaJSNonRetriableError(`Invalid topic ${topic}`)
    if (!Array.isArray(partitions) || partitions.length === 0) throw new KafkaJSNonRetriableError('Invalid partitions')
    const { groups } = await this.describeGroups([groupId])
    if (groups[0]!.members.length > 0)
      throw new KafkaJSNonRetriableError(`The consumer group must have no running instances, current state: ${groups[0]!.state}`)
    const special = partitions.filter(({ offset }) => Number(offset) < 0)
    const resolved = new Map<number, number>()
    for (const timestamp of [LATEST, EARLIEST])
      if (special.some(({ offset }) => Number(offset) === timestamp))
        for (const [partition, offset] of await this.#offsets(topic, timestamp))
          if (special.some((each) => each.partition === partition && Number(each.offset) === timestamp))
            resolved.set(partition, offset)
    await this.#onCoordinator(groupId, async (coordinator) => {
      const response = await coordinator.send('OffsetCommit', {
        groupId,
        generationIdOrMemberEpoch: -1,
        memberId: '',
        topics: [
          {
            name: topic,
            partitions: partitions.map(({ partition, offset }) => ({
              partitionIndex: partition,
              committedOffset: resolved.get(partition) ?? Number(offset),
            })),
          },
        ],
      })
      for (const each of response.topics)
        for (const { errorCode } of each.partitions) if (errorCode !== 0) throw protocolError(errorCode)
    })
  }

  /** Sets a group's offsets of a topic to its end, or to its beginning. */
  async resetOffsets({
    groupId,
    topic,
    earliest = false,
  }: {
    groupId: string
    topic: string
    earliest?: boolean
  }): Promise<void> {
    if (!groupId) throw new KafkaJSNonRetriableError(`Invalid groupId ${groupId}`)
    if (!topic) throw new KafkaJSNonRetriableError(`Invalid topic ${topic}`)
    const offsets = await this.#offsets(topic, earliest ? EARLIEST : LATEST)
    await this.setOffsets({
      groupId,
      topic,
      partitions: [...offsets].map(([partition, offset]) => ({ partition, offset: String(offset) })),
    })
  }

  async describeCluster(): Promise<{
    brokers: { nodeId: number; host: string; port: number }[]
    controller: number | null
    clusterId: string
  }> {
    const { cluster } = this.#options
    const { brokers, controllerId, clusterId } = await cluster.retrying(() => cluster.metadata([]))
    return {
      brokers: brokers.map(({ nodeId, host, port }) => ({ nodeId, host, port })),
      controller: controllerId === -1 ? null : controllerId,
      clusterId: clusterId ?? '',
    }
  }

  async describeConfigs({
    resources,
    includeSynonyms = false,
  }: {
    resources: { type: ConfigResourceTypes; name: string; configNames?: string[] }[]
    includeSynonyms?: boolean
  }) {
    this.#checkResources(resources)
    const answers = await this.#byResource(resources, async (connection, group) => {
      const response = await connection.send('DescribeConfigs', {
        resources: group.map(({ type, name, configNames }) => ({
          resourceType: type,
          resourceName: name,
          configurationKeys: configNames ?? null,
        })),
        includeSynonyms,
      })
      for (const { errorCode, errorMessage } of response.results)
        if (errorCode !== 0) throw protocolError(errorCode, errorMessage)
      return response
    })
    return {
      throttleTime: answers[0]?.throttleTimeMs ?? 0,
      resources: answers.flatMap(({ results }) =>
        results.map((result) => ({
          errorCode: result.errorCode,
          errorMessage: result.errorMessage ?? '',
          resourceType: result.resourceType as ConfigResourceTypes,
          resourceName: result.resourceName,
          configEntries: result.configs.map((entry) => ({
            configName: entry.name,
            configValue: entry.value ?? '',
            readOnly: entry.readOnly,
            isDefault: entry.isDefault || entry.configSource === 5,
            configSource: entry.configSource,
            isSensitive: entry.isSensitive,
            configSynonyms: entry.synonyms.map(({ name, value, source }) => ({
              configName: name,
              configValue: value ?? '',
              configSource: source,
            })),
          })),
        })),
      ),
    }
  }

  /** Replaces the whole configuration of each resource (AlterConfigs), as kafkajs does. */
  async alterConfigs({
    resources,
    validateOnly = false,
  }: {
    resources: { type: ConfigResourceTypes; name: string; configEntries: { name: string; value: string }[] }[]
    validateOnly?: boolean
  }) {
    this.#checkResources(resources)
    const answers = await this.#byResource(resources, async (connection, group) => {
      const response = await connection.send('AlterConfigs', {
        resources: group.map(({ type, name, configEntries }) => ({
          resourceType: type,
          resourceName: name,
          configs: configEntries,
        })),
        validateOnly,
      })
      for (const { errorCode, errorMessage } of response.responses)
        if (errorCode !== 0) throw protocolError(errorCode, errorMessage)
      return response
    })
    return { throttleTime: answers[0]?.throttleTimeMs ?? 0, resources: answers.flatMap(({ responses }) => responses) }
  }

  #checkResources(resources: { type: ConfigResourceTypes; name: string }[]): void {
    present(resources, 'resources')
    if (resources.length === 0) throw new KafkaJSNonRetriableError('Resources array cannot be empty')
    for (const { type, name } of resources) {
      if (!Object.values(ConfigResourceTypes).includes(type)) throw new KafkaJSNonRetriableError(`Invalid resource type ${type}`)
      if (typeof name !== 'string' || name === '') throw new KafkaJSNonRetriableError(`Invalid resource name ${name}`)
    }
  }

  /** Configs of a broker are asked of that broker, all others of the controller. */
  async #byResource<Resource extends { type: ConfigResourceTypes; name: string }, Answer>(
    resources: readonly Resource[],
    ask: (connection: Connection, group: Resource[]) => Promise<Answer>,
  ): Promise<Answer[]> {
    const { cluster } = this.#options
    const ofBrokers = new Map<string, Resource[]>()
    const others: Resource[] = []
    for (const each of resources) {
      if (each.type !== ConfigResourceTypes.BROKER && each.type !== ConfigResourceTypes.BROKER_LOGGER) others.push(each)
      else ofBrokers.set(each.name, [...(ofBrokers.get(each.name) ?? []), each])
    }
    const answers: Answer[] = []
    if (others.length > 0) answers.push(await this.#onController((controller) => ask(controller, others)))
    for (const [nodeId, group] of ofBrokers)
      answers.push(await cluster.retrying(async () => ask(await cluster.findBroker({ nodeId }), group)))
    return answers
  }

  /** Groups of all brokers. */
  async listGroups(): Promise<{ groups: { groupId: string; protocolType: string }[] }> {
    const { cluster } = this.#options
    await cluster.retrying(() => cluster.refreshMetadataIfNecessary())
    const answers = await Promise.all(
      cluster.getNodeIds().map((nodeId) =>
        cluster.retrying(async () => {
          const response = await (await cluster.findBroker({ nodeId })).send('ListGroups', {})
          if (response.errorCode !== 0) throw protocolError(response.errorCode)
          return response.groups
        }),
      ),
    )
    return { groups: answers.flat().map(({ groupId, protocolType }) => ({ groupId, protocolType })) }
  }

  async describeGroups(groupIds: string[]) {
    present(groupIds, 'groupIds')
    const groups = await Promise.all(
      groupIds.map((groupId) =>
        this.#onCoordinator(groupId, async (coordinator) => {
          const { groups: answers } = await coordinator.send('DescribeGroups', { groups: [groupId] })
          const group = answers[0]!
          if (group.errorCode !== 0 && failureOf(group.errorCode).retriable) throw protocolError(group.errorCode)
          return {
            errorCode: group.errorCode,
            groupId: group.groupId,
            members: group.members.map(({ memberId, clientId, clientHost, memberMetadata, memberAssignment }) => ({
              memberId,
              clientId,
              clientHost,
              memberMetadata,
              memberAssignment,
            })),
            protocol: group.protocolData,
            protocolType: group.protocolType,
            state: group.groupState,
          }
        }),
      ),
    )
    return { groups }
  }

  /** Resolves when all are deleted; rejects with KafkaJSDeleteGroupsError that lists those that were not. */
  async deleteGroups(groupIds: string[]): Promise<{ groupId: string; errorCode: number }[]> {
    if (!Array.isArray(groupIds)) throw new KafkaJSNonRetriableError(`Invalid groupIds array ${groupIds}`)
    const bad = groupIds.find((groupId) => typeof groupId !== 'string')
    if (bad !== undefined) throw new KafkaJSNonRetriableError(`Invalid groupId name: ${JSON.stringify(bad)}`)
    const results = await Promise.all(
      groupIds.map((groupId) =>
        this.#onCoordinator(groupId, async (coordinator) => {
          const response = await coordinator.send('DeleteGroups', { groupsNames: [groupId] })
          const { errorCode } = response.results[0]!
          if (errorCode !== 0 && failureOf(errorCode).retriable) throw protocolError(errorCode)
          return { groupId, errorCode }
        }),
      ),
    )
    const failed = results
      .filter(({ errorCode }) => errorCode !== 0)
      .map((each) => ({ ...each, error: protocolError(each.errorCode) }))
    if (failed.length > 0) throw new KafkaJSDeleteGroupsError('Error in DeleteGroups', failed)
    return results
  }

  /** Deletes all records before the given offsets ('-1': all there are). */
  async deleteTopicRecords({ topic, partitions }: { topic: string; partitions: PartitionOffset[] }): Promise<void> {
    if (!topic || typeof topic !== 'string') throw new KafkaJSNonRetriableError(`Invalid topic "${topic}"`)
    if (!Array.isArray(partitions) || partitions.length === 0) throw new KafkaJSNonRetriableError('Invalid partitions')
    const { cluster } = this.#options
    await this.#know([topic])
    await cluster.retrying(async () => {
      await cluster.refreshMetadataIfNecessary()
      const led = partitions.map((each) => {
        const leader = cluster.leaderOf(topic, each.partition)
        return { ...each, leader }
      })
      const homeless = led.filter(({ leader }) => leader === undefined)
      if (homeless.length > 0)
        throw new KafkaJSDeleteTopicRecordsError({
          partitions: homeless.map(({ partition, offset }) => ({ partition, offset, error: protocolError(5) })),
        })
      const failures: PartitionFailure[] = []
      for (const leader of new Set(led.map((each) => each.leader!))) {
        const group = led.filter((each) => each.leader === leader)
        const response = await (await cluster.findBroker({ nodeId: leader })).send(
          'DeleteRecords',
          {
            topics: [
              {
                name: topic,
                partitions: group.map(({ partition, offset }) => ({ partitionIndex: partition, offset: Number(offset) })),
              },
            ],
            timeoutMs: DEFAULT_TIMEOUT_MS,
          },
          { timeoutMs: 2 * DEFAULT_TIMEOUT_MS },
        )
        for (const { partitionIndex, errorCode } of response.topics.flatMap((each) => each.partitions))
          if (errorCode !== 0) {
            const offset = group.find(({ partition }) => partition === partitionIndex)?.offset ?? '-1'
            failures.push({ partition: partitionIndex, offset, error: protocolError(errorCode) })
          }
      }
      if (failures.length > 0) throw new KafkaJSDeleteTopicRecordsError({ partitions: failures })
    })
  }

  #onController<Result>(work: (controller: Connection) => Promise<Result>): Promise<Result> {
    const { cluster } = this.#options
    return cluster.retrying(async () => {
      try {
        return await work(await cluster.findControllerBroker())
      } catch (error) {
        if ((error as { type?: string }).type === 'NOT_CONTROLLER') await cluster.refreshMetadata()
        throw error
      }
    })
  }

  #onCoordinator<Result>(groupId: string, work: (coordinator: Connection) => Promise<Result>): Promise<Result> {
    const { cluster } = this.#options
    return cluster.retrying(async () => {
      try {
        return await work(await cluster.findGroupCoordinator({ groupId }))
      } catch (error) {
        if ((error as { retriable?: boolean }).retriable !== false) cluster.forgetCoordinator(groupId)
        throw error
      }
    })
  }
}
