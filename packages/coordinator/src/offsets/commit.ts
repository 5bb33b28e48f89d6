/** OffsetCommit: who may store offsets of a group, and what is written for each partition. */
import { type ErrorName, errorCode } from '@mq/protocol'
import type { CoordinatorConfig } from '../config.js'
import type { CommitOffsetsCommand, CommitOffsetsReply, PartitionToCommit } from '../groups/commands.js'
import type { GroupDecision } from '../groups/draft.js'
import type { Group } from '../groups/group.js'
import { sessionOf } from '../groups/heartbeat.js'
import { checkGeneration } from '../groups/member-check.js'
import type { GroupsState } from '../groups/state.js'
import type { Moment } from '../runtime/shard.js'
import type { OffsetRecord } from './records.js'

export function decideCommit(
  state: GroupsState,
  command: CommitOffsetsCommand,
  { now, request }: Moment,
  config: CoordinatorConfig,
): GroupDecision {
  const group = state.groups.get(command.groupId)
  const error = check(group, command)
  if (error) return { replies: [[request, refuseCommit(command, error)]] }
  const results = new Map<string, Map<number, ErrorName>>()
  const records = new Map<string, OffsetRecord>()
  for (const { name, partitions } of command.topics) {
    let ofTopic = results.get(name)
    if (!ofTopic) {
      ofTopic = new Map()
      results.set(name, ofTopic)
    }
    for (const partition of partitions) {
      const result = checkPartition(partition, config)
      ofTopic.set(partition.partitionIndex, result)
      // A partition that is named twice gets what was said last.
      const key = `${partition.partitionIndex}\0${name}`
      records.delete(key)
      if (result === 'NONE') records.set(key, recordOf(command, name, partition, now))
    }
  }
  const isMember = group !== undefined && group.state !== 'Empty'
  return {
    records: [...records.values()],
    replies: [[request, replyOf(results)]],
    // A commit is a sign of life.
    timers: isMember ? [sessionOf(group, command.memberId)] : [],
  }
}

function check(group: Group | undefined, command: CommitOffsetsCommand): ErrorName | null {
  const { generationId, memberId, groupInstanceId } = command
  // Without a generation: an administrator, or a consumer that only keeps its offsets here.
  if (!group) return generationId < 0 ? null : 'ILLEGAL_GENERATION'
  if (group.state === 'Empty' && generationId < 0) return null
  if (generationId < 0 && memberId === '' && groupInstanceId === null) return 'UNKNOWN_MEMBER_ID'
  const error = checkGeneration(group, command)
  if (error) return error
  return group.state === 'CompletingRebalance' ? 'REBALANCE_IN_PROGRESS' : null
}

function checkPartition({ committedMetadata, committedOffset }: PartitionToCommit, config: CoordinatorConfig): ErrorName {
  if (committedMetadata !== null && committedMetadata.length > config['offset.metadata.max.bytes']) {
    return 'OFFSET_METADATA_TOO_LARGE'
  }
  // Beyond 2^53 the request's number was clamped on reading, and a clamped number must not be stored.
  return Math.abs(committedOffset) >= Number.MAX_SAFE_INTEGER ? 'OFFSET_OUT_OF_RANGE' : 'NONE'
}

function recordOf(command: CommitOffsetsCommand, topic: string, partition: PartitionToCommit, now: number): OffsetRecord {
  return {
    kind: 'offsetCommitted',
    groupId: command.groupId,
    topic,
    partition: partition.partitionIndex,
    value: {
      offset: partition.committedOffset,
      leaderEpoch: partition.committedLeaderEpoch,
      metadata: partition.committedMetadata ?? '',
      commitTimestamp: partition.commitTimestamp === -1 ? now : partition.commitTimestamp,
      expireTimestamp: command.retentionTimeMs === -1 ? null : Math.min(now + command.retentionTimeMs, Number.MAX_SAFE_INTEGER),
    },
  }
}

function replyOf(results: ReadonlyMap<string, ReadonlyMap<number, ErrorName>>): CommitOffsetsReply {
  const topics = Array.from(results, ([name, partitions]) => ({
    name,
    partitions: Array.from(partitions, ([partitionIndex, error]) => ({ partitionIndex, errorCode: errorCode(error) })),
  }))
  return { topics }
}

/** The same error for every partition: this API has no error of its own. */
export function refuseCommit({ topics }: CommitOffsetsCommand, error: ErrorName): CommitOffsetsReply {
  const code = errorCode(error)
  return {
    topics: topics.map(({ name, partitions }) => ({
      name,
      partitions: partitions.map(({ partitionIndex }) => ({ partitionIndex, errorCode: code })),
    })),
  }
}
