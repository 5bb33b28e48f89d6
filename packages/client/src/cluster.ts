/**
 * The client's way to a cluster: bootstrap, metadata, one connection per broker and purpose, coordinators.
 * Rules are in cluster-image.ts and retry.ts; this file runs them.
 */

import { BrokerConnections, type BrokerConnectionsOptions, type Purpose } from './broker-connections.js'
import { type ClusterImage, EMPTY_IMAGE, leaderOf, withMetadata } from './cluster-image.js'
import type { Connection } from './connection.js'
import {
  KafkaJSBrokerNotFound,
  KafkaJSConnectionError,
  KafkaJSError,
  KafkaJSGroupCoordinatorNotFound,
  KafkaJSNonRetriableError,
  KafkaJSTopicMetadataNotLoaded,
  protocolError,
} from './errors.js'
import type { PartitionMetadata } from './producer/partitioner.js'
import { newAbortController, type RetryLimits, type RetryPolicy, retrying } from './retry.js'
import type { ResponseOf } from './versions.js'

export interface ClusterOptions extends BrokerConnectionsOptions {
  readonly metadataMaxAgeMs: number
  readonly allowAutoTopicCreation: boolean
  readonly retry: RetryPolicy
}

export class Cluster {
  readonly #options: ClusterOptions
  readonly #brokers: BrokerConnections
  readonly #coordinators = new Map<string, number>()
  readonly #targetTopics = new Set<string>()
  #image: ClusterImage = EMPTY_IMAGE
  #loadedAt: number | undefined
  #refreshing: Promise<void> | undefined
  #connected = false
  /** Aborted while the client is disconnected. */
  #closing = newAbortController()

  constructor(options: ClusterOptions) {
    this.#options = options
    this.#closing.abort()
    this.#brokers = new BrokerConnections(options)
  }

  get image(): ClusterImage {
    return this.#image
  }

  isConnected(): boolean {
    return this.#connected
  }

  /** Finds a broker that answers, by the policy's tries, and loads the metadata. */
  async connect(): Promise<void> {
    if (this.#connected) return
    this.#connected = true
    this.#closing = newAbortController()
    this.#brokers.open()
    try {
      await this.retrying(() => this.refreshMetadata())
    } catch (error) {
      await this.disconnect()
      throw error
    }
  }

  async disconnect(): Promise<void> {
    this.#connected = false
    this.#closing.abort()
    this.#brokers.close()
    this.#coordinators.clear()
    this.#loadedAt = undefined
  }

  /** Runs work under the client's retry policy; ends early when the client is disconnected. */
  retrying<Result>(work: () => Promise<Result>, { until = [], isAnswer }: RetryLimits = {}): Promise<Result> {
    const { retry, environment } = this.#options
    const { timers, random } = environment
    return retrying({ policy: retry, timers, random, until: [this.#closing.signal, ...until], isAnswer }, work)
  }

  getNodeIds(): number[] {
    return [...this.#image.brokers.keys()]
  }

  async addTargetTopic(topic: string): Promise<void> {
    await this.addMultipleTargetTopics([topic])
  }

  /**
   * Adds topics to those whose metadata is kept, and loads what is not known yet. A topic that cannot be loaded is not kept, or its trouble
   * would be everybody's.
   */
  async addMultipleTargetTopics(topics: readonly string[]): Promise<void> {
    const isKnown = (topic: string): boolean => this.#image.topics.get(topic)?.errorCode === 0
    const added = topics.filter((topic) => !this.#targetTopics.has(topic))
    for (const topic of added) this.#targetTopics.add(topic)
    if (topics.every(isKnown)) return
    try {
      // A request on its way may have been made before these topics were added.
      await this.#refreshing?.catch(() => {})
      if (!topics.every(isKnown)) await this.refreshMetadata()
    } catch (error) {
      for (const topic of added) if (!isKnown(topic)) this.#targetTopics.delete(topic)
      if (!topics.every(isKnown)) throw error
    }
  }

  /** Forgets topics that were deleted, so that their metadata is not asked for any more. */
  removeTargetTopics(topics: readonly string[]): void {
    for (const topic of topics) this.#targetTopics.delete(topic)
    this.#image = { ...this.#image, topics: new Map([...this.#image.topics].filter(([topic]) => !topics.includes(topic))) }
  }

  /** Callers at the same time share one request. */
  refreshMetadata(): Promise<void> {
    this.#refreshing ??= this.#loadMetadata().finally(() => {
      this.#refreshing = undefined
    })
    return this.#refreshing
  }

  /** Is the metadata older than `metadataMaxAge`, or did something happen that it does not know of? */
  get isStale(): boolean {
    const { environment, metadataMaxAgeMs } = this.#options
    return this.#loadedAt === undefined || environment.clock.monotonic() - this.#loadedAt >= metadataMaxAgeMs
  }

  async refreshMetadataIfNecessary(): Promise<void> {
    if (this.isStale || [...this.#targetTopics].some((topic) => this.#image.topics.get(topic)?.errorCode !== 0))
      await this.refreshMetadata()
  }

  async #loadMetadata(): Promise<void> {
    const topics = [...this.#targetTopics]
    const response = await this.metadata(topics)
    this.#image = withMetadata(this.#image, response)
    this.#loadedAt = this.#options.environment.clock.monotonic()
    for (const { errorCode, name } of response.topics)
      if (errorCode !== 0 && name !== null) throw this.#topicError(errorCode, name)
  }

  #topicError(errorCode: number, topic: string): Error {
    return Object.assign(protocolError(errorCode), { topic })
  }

  /** One Metadata request to any broker: the topics named, or all of them for null. Leaves the image alone. */
  async metadata(topics: readonly string[] | null): Promise<ResponseOf<'Metadata'>> {
    const connection = await this.anyBroker()
    return connection.send('Metadata', {
      topics: topics === null ? null : topics.map((name) => ({ name })),
      allowAutoTopicCreation: topics !== null && this.#options.allowAutoTopicCreation,
    })
  }

  /** A connection to some broker that answers. */
  anyBroker(): Promise<Connection> {
    return this.#brokers.any([...this.#image.brokers.values()])
  }

  /** The connection to a broker by its id. A broker that cannot be reached makes the metadata stale. */
  async findBroker({ nodeId }: { nodeId: number | string }, purpose: Purpose = 'main'): Promise<Connection> {
    const address = this.#image.brokers.get(Number(nodeId))
    if (address === undefined) throw new KafkaJSBrokerNotFound(`Broker ${nodeId} not found in the cached metadata`)
    try {
      return await this.#brokers.to(address.host, address.port, purpose)
    } catch (error) {
      if (error instanceof KafkaJSConnectionError) this.#loadedAt = undefined
      throw error
    }
  }

  async findControllerBroker(): Promise<Connection> {
    await this.refreshMetadataIfNecessary()
    const { controllerId } = this.#image
    if (controllerId === null || !this.#image.brokers.has(controllerId)) {
      await this.refreshMetadata()
      if (this.#image.controllerId === null) throw new KafkaJSTopicMetadataNotLoaded('The cluster has no controller now')
    }
    return this.findBroker({ nodeId: this.#image.controllerId! })
  }

  /** The broker that coordinates a group; asked once and remembered until `forgetCoordinator`. */
  async findGroupCoordinator({ groupId }: { groupId: string }): Promise<Connection> {
    const known = this.#coordinators.get(groupId)
    if (known !== undefined) return this.findBroker({ nodeId: known })
    const asked = await this.anyBroker()
    const response = await asked.send('FindCoordinator', { key: groupId, keyType: 0 })
    if (response.errorCode !== 0) throw protocolError(response.errorCode, response.errorMessage)
    if (!this.#image.brokers.has(response.nodeId)) await this.refreshMetadata()
    if (!this.#image.brokers.has(response.nodeId))
      throw new KafkaJSGroupCoordinatorNotFound(`Coordinator ${response.nodeId} of "${groupId}" is not among the brokers`)
    this.#coordinators.set(groupId, response.nodeId)
    return this.findBroker({ nodeId: response.nodeId })
  }

  forgetCoordinator(groupId: string): void {
    this.#coordinators.delete(groupId)
  }

  leaderOf(topic: string, partition: number): number | undefined {
    return leaderOf(this.#image, topic, partition)
  }

  findTopicPartitionMetadata(topic: string): PartitionMetadata[] {
    if (this.#loadedAt === undefined && !this.#image.topics.has(topic))
      throw new KafkaJSTopicMetadataNotLoaded('Topic metadata not loaded', { topic })
    return this.#image.topics.get(topic)?.partitions ?? []
  }

  /** Partitions by leading broker; those without a leader are left out. */
  findLeaderForPartitions(topic: string, partitions: readonly number[]): { [leader: string]: number[] } {
    const byLeader: { [leader: string]: number[] } = {}
    for (const partition of partitions) {
      const leader = this.leaderOf(topic, partition)
      if (leader === undefined) continue
      byLeader[leader] ??= []
      byLeader[leader].push(partition)
    }
    return byLeader
  }

  /**
   * Offsets by time, asked of each partition's leader. `timestamp` -1: latest, -2: earliest.
   * Partitions without a record at or after the time answer -1. Rejects with the first partition's error.
   */
  async listOffsets(
    wanted: readonly { topic: string; partition: number; timestamp: number }[],
    { isolationLevel = 0 }: { isolationLevel?: 0 | 1 } = {},
  ): Promise<{ topic: string; partition: number; offset: number }[]> {
    const byLeader = new Map<number, (typeof wanted)[number][]>()
    for (const each of wanted) {
      const leader = this.leaderOf(each.topic, each.partition)
      if (leader === undefined) {
        this.#loadedAt = undefined
        throw new KafkaJSError(`No leader is known for ${each.topic}-${each.partition}`)
      }
      byLeader.set(leader, [...(byLeader.get(leader) ?? []), each])
    }
    const answers = await Promise.all(
      [...byLeader].map(async ([nodeId, asked]) => {
        const topics = byTopic(asked)
        const connection = await this.findBroker({ nodeId })
        const response = await connection.send('ListOffsets', {
          replicaId: -1,
          isolationLevel,
          topics: [...topics].map(([name, partitions]) => ({
            name,
            partitions: partitions.map(({ partition, timestamp }) => ({
              partitionIndex: partition,
              timestamp,
              currentLeaderEpoch: -1,
            })),
          })),
        })
        return response.topics.flatMap(({ name, partitions }) =>
          partitions.map(({ partitionIndex, errorCode, offset }) => {
            if (errorCode !== 0) {
              this.#loadedAt = undefined
              throw Object.assign(protocolError(errorCode), { topic: name, partition: partitionIndex })
            }
            if (typeof offset === 'bigint')
              throw new KafkaJSNonRetriableError(`${name}-${partitionIndex}: offset ${offset} is beyond 2^53-1`)
            return { topic: name, partition: partitionIndex, offset }
          }),
        )
      }),
    )
    return answers.flat()
  }
}

export function byTopic<Entry extends { topic: string }>(entries: readonly Entry[]): Map<string, Entry[]> {
  const groups = new Map<string, Entry[]>()
  for (const entry of entries) {
    const group = groups.get(entry.topic)
    if (group === undefined) groups.set(entry.topic, [entry])
    else group.push(entry)
  }
  return groups
}
