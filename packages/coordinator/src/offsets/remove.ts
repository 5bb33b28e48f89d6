/** Offsets go: deleted by an administrator (KIP-496), with their topic, or with their group. A group that loses its last one goes too. */
import { type ErrorName, errorCode } from '@mq/protocol'
import type { DeleteGroupCommand, DeleteOffsetsCommand, DeleteOffsetsReply, InnerCommand } from '../groups/commands.js'
import { type GroupDecision, timerKeys } from '../groups/draft.js'
import type { Group } from '../groups/group.js'
import type { GroupRecord } from '../groups/records.js'
import type { GroupChange, GroupsState } from '../groups/state.js'
import type { Moment } from '../runtime/shard.js'

/** What one batch of deletions may hold: the broker refuses batches above max.message.bytes, and others wait meanwhile. */
export class Budget {
  #records = 4000
  #bytes = 256 * 1024

  /** False when it is used up. */
  take(groupId: string, topic: string): boolean {
    if (this.#records <= 0 || this.#bytes <= 0) return false
    this.#records--
    this.#bytes -= groupId.length + topic.length + 32
    return true
  }
}

/** What becomes of a group that keeps `left` offsets: null if it stays. An empty group without offsets is forgotten. */
export function burial(
  state: GroupsState,
  group: Group,
  left: number,
): { readonly records: readonly GroupRecord[]; readonly changes: readonly GroupChange[] } | null {
  const { groupId } = group
  if (group.state !== 'Empty' || left > 0 || group.pending.size > 0 || state.offsets.hasStaged(groupId)) return null
  // A group of generation 0 was never written.
  if (group.generation > 0) return { records: [{ kind: 'groupDeleted', groupId }], changes: [] }
  return { records: [], changes: [{ kind: 'forget', groupId }] }
}

export function decideDeleteOffsets(state: GroupsState, command: DeleteOffsetsCommand, { request }: Moment): GroupDecision {
  const { groupId } = command
  const group = state.groups.get(groupId)
  if (!group) return { replies: [[request, refuseDelete('GROUP_ID_NOT_FOUND')]] }
  if (group.state !== 'Empty' && !group.isConsumerGroup) return { replies: [[request, refuseDelete('NON_EMPTY_GROUP')]] }
  const records: GroupRecord[] = []
  let eligible = 0
  const topics = command.topics.map(({ name: topic, partitions }) => {
    const isConsumed = group.state !== 'Empty' && (group.subscribedTopics === null || group.subscribedTopics.has(topic))
    if (!isConsumed) eligible += partitions.length
    for (const { partitionIndex: partition } of isConsumed ? [] : partitions) {
      if (state.offsets.latest(groupId, topic, partition)) records.push({ kind: 'offsetDeleted', groupId, topic, partition })
    }
    const code = errorCode(isConsumed ? 'GROUP_SUBSCRIBED_TO_TOPIC' : 'NONE')
    return { name: topic, partitions: partitions.map(({ partitionIndex }) => ({ partitionIndex, errorCode: code })) }
  })
  const end = eligible > 0 ? burial(state, group, state.offsets.countOf(groupId) - records.length) : null
  return {
    records: [...records, ...(end?.records ?? [])],
    changes: end?.changes ?? [],
    replies: [[request, { errorCode: errorCode('NONE'), topics }]],
  }
}

export const refuseDelete = (error: ErrorName): DeleteOffsetsReply => ({ errorCode: errorCode(error), topics: [] })

/** DeleteGroups: an empty group and all its offsets. */
export function decideDeleteGroup(state: GroupsState, command: DeleteGroupCommand, { request }: Moment): GroupDecision {
  const { groupId } = command
  const group = state.groups.get(groupId)
  const error: ErrorName = !group ? 'GROUP_ID_NOT_FOUND' : group.state === 'Empty' ? 'NONE' : 'NON_EMPTY_GROUP'
  if (!group || error !== 'NONE') return { replies: [[request, { errorCode: errorCode(error) }]] }
  const budget = new Budget()
  const records: GroupRecord[] = []
  for (const [topic, partition] of state.offsets.ofGroup(groupId)) {
    if (!budget.take(groupId, topic)) return { records, next: command }
    records.push({ kind: 'offsetDeleted', groupId, topic, partition })
  }
  if (group.generation > 0) records.push({ kind: 'groupDeleted', groupId })
  return {
    records,
    changes: [{ kind: 'forget', groupId }],
    timers: Array.from(group.pending, (memberId) => ({ kind: 'cancel', key: timerKeys.session(groupId, memberId) })),
    replies: [[request, { errorCode: errorCode('NONE') }]],
    notes: [{ level: 'info', fields: { group: groupId, offsets: records.length }, message: 'a group is deleted' }],
  }
}

/** A topic, or some of its partitions, are gone: a new topic of that name must not begin at old offsets. */
export function decidePartitionsDeleted(
  state: GroupsState,
  command: Extract<InnerCommand, { kind: 'partitionsDeleted' }>,
  { request }: Moment,
): GroupDecision {
  const { topic } = command
  const gone = command.partitions === null ? null : new Set(command.partitions)
  const budget = new Budget()
  const records: GroupRecord[] = []
  const changes: GroupChange[] = []
  for (const group of state.groups.values()) {
    const { groupId } = group
    let taken = 0
    for (const partition of state.offsets.partitionsOf(groupId, topic)) {
      if (gone !== null && !gone.has(partition)) continue
      if (!budget.take(groupId, topic)) return { records, changes, next: command }
      records.push({ kind: 'offsetDeleted', groupId, topic, partition })
      taken++
    }
    if (taken === 0) continue
    const end = burial(state, group, state.offsets.countOf(groupId) - taken)
    if (end) {
      budget.take(groupId, '')
      records.push(...end.records)
      changes.push(...end.changes)
    }
  }
  return { records, changes, replies: [[request, { errorCode: errorCode('NONE') }]] }
}
