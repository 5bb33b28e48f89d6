/** Offsets: of topics, of groups, and the deletion of records before one. */

import {
  KafkaJSBrokerNotFound,
  KafkaJSDeleteTopicRecordsError,
  KafkaJSNonRetriableError,
  type PartitionFailure,
  protocolError,
} from '../errors.js'
import type { RetryLimits } from '../retry.js'
import { checkTopicName } from './arguments.js'
import type { GroupAdmin } from './groups.js'
import { DEFAULT_TIMEOUT_MS, type Routes, UNKNOWN_TOPIC_IS_AN_ANSWER } from './routes.js'

export interface PartitionOffset {
  partition: number
  offset: string
}

const EARLIEST = -2
const LATEST = -1

/** Partitions that nobody leads are named at once, as in kafkajs; what their leaders answered may be worth another try. */
const LEADERLESS_IS_AN_ANSWER: RetryLimits = {
  isAnswer: (error) =>
    error instanceof KafkaJSDeleteTopicRecordsError &&
    error.partitions.every((each) => each.error instanceof KafkaJSBrokerNotFound),
}

export class OffsetAdmin {
  constructor(
    private readonly routes: Routes,
    private readonly groups: GroupAdmin,
  ) {}

  /**
   * Committed offsets of a group, in the named topics or (none named) in all that it has some for: '-1' where it has none, or, with
   * resolveOffsets, where reading would begin.
   */
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
    const { cluster } = this.routes
    if (topics !== undefined && topics !== null && !Array.isArray(topics))
      throw new KafkaJSNonRetriableError('Expected topics array to be set')
    const named = topics?.length ? topics : null
    if (named !== null) await this.routes.know(named, UNKNOWN_TOPIC_IS_AN_ANSWER)
    const response = await this.routes.onCoordinator(groupId, async (coordinator) => {
      const answer = await coordinator.send('OffsetFetch', {
        groupId,
        topics:
          named === null
            ? null
            : named.map((name) => ({
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
    checkTopicName(topic)
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
    checkTopicName(topic)
    const high = await this.#offsets(topic, LATEST)
    const found = timestamp === undefined ? high : await this.#offsets(topic, timestamp)
    return [...high].map(([partition, end]) => {
      const offset = found.get(partition)!
      return { partition, offset: String(offset >= 0 ? offset : end) }
    })
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
    const { groups } = await this.groups.describeGroups([groupId])
    if (groups[0]!.members.length > 0)
      throw new KafkaJSNonRetriableError(`The consumer group must have no running instances, current state: ${groups[0]!.state}`)
    const special = partitions.filter(({ offset }) => Number(offset) < 0)
    const resolved = new Map<number, number>()
    for (const timestamp of [LATEST, EARLIEST])
      if (special.some(({ offset }) => Number(offset) === timestamp))
        for (const [partition, offset] of await this.#offsets(topic, timestamp))
          if (special.some((each) => each.partition === partition && Number(each.offset) === timestamp))
            resolved.set(partition, offset)
    await this.routes.onCoordinator(groupId, async (coordinator) => {
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

  /** Deletes all records before the given offsets ('-1': all there are). */
  async deleteTopicRecords({ topic, partitions }: { topic: string; partitions: PartitionOffset[] }): Promise<void> {
    if (!topic || typeof topic !== 'string') throw new KafkaJSNonRetriableError(`Invalid topic "${topic}"`)
    if (!Array.isArray(partitions) || partitions.length === 0) throw new KafkaJSNonRetriableError('Invalid partitions')
    const { cluster } = this.routes
    await this.routes.know([topic])
    await cluster.retrying(async () => {
      await cluster.refreshMetadataIfNecessary()
      const led = partitions.map((each) => {
        const leader = cluster.leaderOf(topic, each.partition)
        return { ...each, leader }
      })
      const homeless = led.filter(({ leader }) => leader === undefined)
      if (homeless.length > 0)
        throw new KafkaJSDeleteTopicRecordsError({
          partitions: homeless.map(({ partition, offset }) => ({
            partition,
            offset,
            error: new KafkaJSBrokerNotFound('Could not find the leader for the partition', { retriable: false }),
          })),
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
    }, LEADERLESS_IS_AN_ANSWER)
  }

  async #offsets(topic: string, timestamp: number): Promise<Map<number, number>> {
    const { cluster } = this.routes
    await this.routes.know([topic])
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
}
