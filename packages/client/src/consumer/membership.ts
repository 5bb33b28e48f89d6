/**
 * One member's life in a group: find the coordinator, join, sync, heartbeat, commit, leave.
 *
 *            join ─▶ (leader: assign) ─▶ sync ─▶ member of a generation ──heartbeats──▶ rebalance? join again
 *   no id ─▶ MEMBER_ID_REQUIRED: join again with the id that the coordinator gave (KIP-394)
 */

import type { Cluster } from '../cluster.js'
import type { Connection } from '../connection.js'
import { failureOf, KafkaJSError, KafkaJSMemberIdRequired, KafkaJSNonRetriableError, protocolError } from '../errors.js'
import type { Logger } from '../logger.js'
import type { ResponseOf } from '../versions.js'
import type { Assigner } from './assign-round-robin.js'
import { AssignerProtocol, type Assignment } from './assigner-protocol.js'
import type { TopicPartitionOffset } from './positions.js'

export interface MembershipOptions {
  readonly cluster: Cluster
  readonly groupId: string
  readonly groupInstanceId: string | undefined
  readonly assigners: readonly Assigner[]
  readonly sessionTimeoutMs: number
  readonly rebalanceTimeoutMs: number
  readonly logger: Logger
}

export interface Generation {
  readonly generationId: number
  readonly memberId: string
  readonly leaderId: string
  readonly isLeader: boolean
  readonly protocol: string
  readonly assignment: Assignment
  /**
   * Topics of all members, with the number of partitions that were assigned; known to the leader only: when one of them gets more, the
   * group has to rebalance.
   */
  readonly watchedTopics: ReadonlyMap<string, number>
}

/** Errors after which the same member joins again. */
const REJOIN = new Set(['REBALANCE_IN_PROGRESS', 'ILLEGAL_GENERATION', 'UNKNOWN_MEMBER_ID'])
/** Errors after which the coordinator is looked for again. */
const COORDINATOR_MOVED = new Set(['NOT_COORDINATOR', 'COORDINATOR_NOT_AVAILABLE', 'COORDINATOR_LOAD_IN_PROGRESS'])
/** How much longer than the rebalance timeout the answer to a JoinGroup may take, in ms. */
const JOIN_MARGIN_MS = 5_000
const NOTHING_ASSIGNED = { assignments: [], watchedTopics: new Map<string, number>() }

export const isRejoin = (error: unknown): boolean => REJOIN.has((error as { type?: string }).type ?? '')

export class Membership {
  readonly #options: MembershipOptions
  #memberId = ''
  #generation: Generation | undefined

  constructor(options: MembershipOptions) {
    this.#options = options
  }

  get generation(): Generation | undefined {
    return this.#generation
  }

  /** Joins the group for these topics; resolves when the assignment is here. Rejects with what the coordinator answered. */
  async join(topics: string[]): Promise<Generation> {
    for (;;) {
      try {
        return await this.#joinOnce(topics)
      } catch (error) {
        if (error instanceof KafkaJSMemberIdRequired) {
          this.#memberId = error.memberId
          continue
        }
        this.#noteFailure(error)
        // Refused because the group moved on: whoever runs the member decides when it comes back.
        if (isRejoin(error)) throw Object.assign(error as Error, { retriable: false })
        throw error
      }
    }
  }

  async #joinOnce(topics: string[]): Promise<Generation> {
    const { groupId, groupInstanceId, assigners, sessionTimeoutMs, rebalanceTimeoutMs } = this.#options
    const coordinator = await this.#options.cluster.findGroupCoordinator({ groupId })
    const joined = await coordinator.send(
      'JoinGroup',
      {
        groupId,
        sessionTimeoutMs,
        rebalanceTimeoutMs,
        memberId: this.#memberId,
        groupInstanceId: groupInstanceId ?? null,
        protocolType: 'consumer',
        protocols: assigners.map((assigner) => assigner.protocol({ topics })),
      },
      { timeoutMs: rebalanceTimeoutMs + JOIN_MARGIN_MS },
    )
    const failure = failureOf(joined.errorCode)
    if (failure.type === 'MEMBER_ID_REQUIRED') throw new KafkaJSMemberIdRequired(failure, { memberId: joined.memberId })
    if (joined.errorCode !== 0) throw protocolError(joined.errorCode)
    this.#memberId = joined.memberId
    const isLeader = joined.leader === joined.memberId
    const { assignments, watchedTopics } = isLeader ? await this.#assign(joined, topics) : NOTHING_ASSIGNED
    const synced = await coordinator.send(
      'SyncGroup',
      {
        groupId,
        generationId: joined.generationId,
        memberId: joined.memberId,
        groupInstanceId: groupInstanceId ?? null,
        protocolType: 'consumer',
        protocolName: joined.protocolName,
        assignments,
      },
      { timeoutMs: rebalanceTimeoutMs + JOIN_MARGIN_MS },
    )
    if (synced.errorCode !== 0) throw protocolError(synced.errorCode)
    this.#generation = {
      generationId: joined.generationId,
      memberId: joined.memberId,
      leaderId: joined.leader,
      isLeader,
      protocol: joined.protocolName ?? '',
      assignment: AssignerProtocol.MemberAssignment.decode(synced.assignment)?.assignment ?? {},
      watchedTopics,
    }
    return this.#generation
  }

  async #assign(joined: ResponseOf<'JoinGroup'>, ownTopics: readonly string[]) {
    const { assigners, cluster, groupId } = this.#options
    const assigner = assigners.find(({ name }) => name === joined.protocolName)
    if (assigner === undefined)
      throw new KafkaJSNonRetriableError(
        `The group "${groupId}" chose the assigner "${joined.protocolName}", which this member does not have`,
      )
    const members = joined.members.map(({ memberId, metadata }) => ({ memberId, memberMetadata: metadata }))
    const topics = new Set(ownTopics)
    for (const { memberMetadata } of members)
      for (const topic of AssignerProtocol.MemberMetadata.decode(memberMetadata)?.topics ?? []) topics.add(topic)
    await cluster.addMultipleTargetTopics([...topics])
    const watchedTopics = new Map([...topics].map((topic) => [topic, cluster.findTopicPartitionMetadata(topic).length]))
    const assigned = await assigner.assign({ members, topics: [...topics] })
    return {
      assignments: assigned.map(({ memberId, memberAssignment }) => ({ memberId, assignment: memberAssignment })),
      watchedTopics,
    }
  }

  /** Rejects with REBALANCE_IN_PROGRESS and its kin when the member has to join again. Not tried again once `stopping` is aborted. */
  async heartbeat(stopping: AbortSignal): Promise<void> {
    const { generationId, memberId } = this.#member()
    const { groupId, groupInstanceId } = this.#options
    await this.#ask(async (coordinator) => {
      const { errorCode } = await coordinator.send('Heartbeat', {
        groupId,
        generationId,
        memberId,
        groupInstanceId: groupInstanceId ?? null,
      })
      return errorCode
    }, stopping)
  }

  /** Stores offsets (the next to read) for the group. */
  async commit(offsets: readonly (TopicPartitionOffset & { metadata?: string | null })[]): Promise<void> {
    const { generationId, memberId } = this.#member()
    const { groupId, groupInstanceId } = this.#options
    const byTopic = new Map<string, { partitionIndex: number; committedOffset: number; committedMetadata: string | null }[]>()
    for (const { topic, partition, offset, metadata } of offsets) {
      const partitions = byTopic.get(topic) ?? []
      byTopic.set(topic, partitions)
      partitions.push({ partitionIndex: partition, committedOffset: offset, committedMetadata: metadata ?? null })
    }
    await this.#ask(async (coordinator) => {
      const response = await coordinator.send('OffsetCommit', {
        groupId,
        generationIdOrMemberEpoch: generationId,
        memberId,
        groupInstanceId: groupInstanceId ?? null,
        topics: [...byTopic].map(([name, partitions]) => ({ name, partitions })),
      })
      for (const topic of response.topics) for (const { errorCode } of topic.partitions) if (errorCode !== 0) return errorCode
      return 0
    })
  }

  /** What the group has stored: -1 where it has nothing. Not tried again once `stopping` is aborted. */
  async committed(assignment: Assignment, stopping: AbortSignal): Promise<TopicPartitionOffset[]> {
    const { groupId } = this.#options
    const found: TopicPartitionOffset[] = []
    await this.#ask(async (coordinator) => {
      found.length = 0
      const response = await coordinator.send('OffsetFetch', {
        groupId,
        topics: Object.entries(assignment).map(([name, partitionIndexes]) => ({ name, partitionIndexes: [...partitionIndexes] })),
        // KIP-447: what an open transaction is about to commit is waited for, or its records would be read twice.
        ...(coordinator.versionOf('OffsetFetch') >= 7 ? { requireStable: true } : {}),
      })
      if (response.errorCode !== 0) return response.errorCode
      for (const { name, partitions } of response.topics)
        for (const { partitionIndex, committedOffset, errorCode } of partitions) {
          if (errorCode !== 0) return errorCode
          found.push({ topic: name, partition: partitionIndex, offset: committedOffset })
        }
      return 0
    }, stopping)
    return found
  }

  /** Leaves the group, so that the others need not wait for the session to end. Tried once: without it the session ends by itself. */
  async leave(): Promise<void> {
    if (this.#memberId === '' || this.#options.groupInstanceId !== undefined) return
    const { cluster, groupId, logger } = this.#options
    const memberId = this.#memberId
    this.#memberId = ''
    this.#generation = undefined
    try {
      const coordinator = await cluster.findGroupCoordinator({ groupId })
      // From version 3 on a list of members leaves; before, the one that asks.
      const who = coordinator.versionOf('LeaveGroup') >= 3 ? { members: [{ memberId, groupInstanceId: null }] } : { memberId }
      await coordinator.send('LeaveGroup', { groupId, ...who })
    } catch (error) {
      logger.debug(`Leaving the group failed: ${(error as Error).message}`, { groupId, memberId })
    }
  }

  async describe(): Promise<ResponseOf<'DescribeGroups'>['groups'][number]> {
    const { groupId } = this.#options
    let found: ResponseOf<'DescribeGroups'>['groups'][number] | undefined
    await this.#ask(async (coordinator) => {
      const { groups } = await coordinator.send('DescribeGroups', { groups: [groupId] })
      found = groups[0]
      if (found === undefined) throw new KafkaJSError(`The coordinator did not describe "${groupId}"`)
      return found.errorCode
    })
    return found!
  }

  #member(): Generation {
    if (this.#generation === undefined)
      throw new KafkaJSNonRetriableError('Consumer group was not initialized, consumer#run must be called first')
    return this.#generation
  }

  /** Asks the coordinator, wherever it moves to. `work` answers an error code. */
  async #ask(work: (coordinator: Connection) => Promise<number>, stopping?: AbortSignal): Promise<void> {
    const { cluster, groupId } = this.#options
    const ask = async (): Promise<void> => {
      try {
        const code = await work(await cluster.findGroupCoordinator({ groupId }))
        if (code !== 0) throw protocolError(code)
      } catch (error) {
        this.#noteFailure(error)
        if (isRejoin(error)) throw Object.assign(error as Error, { retriable: false })
        throw error
      }
    }
    await cluster.retrying(ask, stopping === undefined ? {} : { until: [stopping] })
  }

  #noteFailure(error: unknown): void {
    const { cluster, groupId } = this.#options
    const type = (error as { type?: string }).type
    if (type === undefined || COORDINATOR_MOVED.has(type)) cluster.forgetCoordinator(groupId)
    // The coordinator has forgotten us: we come back as a new member.
    if (type === 'UNKNOWN_MEMBER_ID' || type === 'FENCED_INSTANCE_ID') {
      this.#memberId = ''
      this.#generation = undefined
    }
  }
}
