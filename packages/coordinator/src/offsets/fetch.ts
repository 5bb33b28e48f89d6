/** OffsetFetch: what a group has committed. It only reads, and only what is committed itself. */
import { type ErrorName, errorCode } from '@mq/protocol'
import type { FetchedOffsets } from '../groups/commands.js'
import type { GroupsState } from '../groups/state.js'

export interface OffsetQuery {
  readonly groupId: string
  /** Null: all that there are. */
  readonly topics: readonly { readonly name: string; readonly partitionIndexes: readonly number[] }[] | null
  /** An offset that is about to change is answered with UNSTABLE_OFFSET_COMMIT instead (KIP-447). */
  readonly requireStable: boolean
}

type FetchedPartition = FetchedOffsets['topics'][number]['partitions'][number]

export function fetchOffsets(state: GroupsState, query: OffsetQuery): FetchedOffsets {
  const topics = query.topics ?? allTopics(state, query.groupId)
  return {
    errorCode: errorCode('NONE'),
    topics: topics.map(({ name, partitionIndexes }) => ({
      name,
      partitions: [...new Set(partitionIndexes)].map((partition) => fetchOne(state, query, name, partition)),
    })),
  }
}

function fetchOne({ offsets }: GroupsState, query: OffsetQuery, topic: string, partitionIndex: number): FetchedPartition {
  if (query.requireStable && offsets.isUnstable(query.groupId, topic, partitionIndex)) {
    return nothing(partitionIndex, 'UNSTABLE_OFFSET_COMMIT')
  }
  const found = offsets.visible(query.groupId, topic, partitionIndex)
  if (!found) return nothing(partitionIndex, 'NONE')
  const { offset, leaderEpoch, metadata } = found
  return {
    partitionIndex,
    committedOffset: offset,
    committedLeaderEpoch: leaderEpoch,
    metadata,
    errorCode: errorCode('NONE'),
  }
}

/** Kafka's way to say that there is no offset, with or without an error. */
function nothing(partitionIndex: number, error: ErrorName): FetchedPartition {
  return { partitionIndex, committedOffset: -1, committedLeaderEpoch: -1, metadata: '', errorCode: errorCode(error) }
}

function allTopics({ offsets }: GroupsState, groupId: string): { name: string; partitionIndexes: number[] }[] {
  const byTopic = new Map<string, number[]>()
  for (const [topic, partition] of offsets.visibleOfGroup(groupId)) {
    const partitions = byTopic.get(topic)
    if (partitions) partitions.push(partition)
    else byTopic.set(topic, [partition])
  }
  return Array.from(byTopic, ([name, partitionIndexes]) => ({ name, partitionIndexes }))
}

/** With this error, and for APIs that can say it only there, with the error on every partition that was asked for. */
export function refuseFetch({ topics }: OffsetQuery, error: ErrorName): FetchedOffsets {
  return {
    errorCode: errorCode(error),
    topics: (topics ?? []).map(({ name, partitionIndexes }) => ({
      name,
      partitions: partitionIndexes.map((partition) => nothing(partition, error)),
    })),
  }
}
