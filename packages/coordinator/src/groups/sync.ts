/** SyncGroup: the leader brings the assignment, which is written and then told to all; the others wait for it. */
import { type ErrorName, errorCode } from '@mq/protocol'
import type { CoordinatorConfig } from '../config.js'
import type { Moment } from '../runtime/shard.js'
import type { SyncCommand, SyncReply } from './commands.js'
import { Draft, type GroupDecision, syncRefused, timerKeys } from './draft.js'
import { type Group, NO_ASSIGNMENT } from './group.js'
import { checkGeneration } from './member-check.js'
import { beginRound, rebalance, refuseSyncs } from './rebalance.js'
import type { GroupsState } from './state.js'

export function decideSync(
  state: GroupsState,
  command: SyncCommand,
  { now, request }: Moment,
  config: CoordinatorConfig,
): GroupDecision {
  const group = state.groups.get(command.groupId)
  const error = group ? check(group, command) : 'UNKNOWN_MEMBER_ID'
  if (error || !group) return { replies: [[request, syncRefused(error ?? 'UNKNOWN_MEMBER_ID')]] }
  const { memberId } = command
  const draft = new Draft(group, now, config)
  draft.group.synced(memberId)
  if (draft.group.pendingSync.size === 0) draft.cancelTimer(timerKeys.sync(command.groupId))
  if (group.state === 'Stable') {
    draft.answer(request, assignmentOf(draft.group, memberId))
    draft.beginSession(memberId)
    draft.showStored()
    return draft.decision()
  }
  draft.parkSync(memberId, request)
  if (draft.group.leader === memberId) assign(draft, command)
  return draft.decision()
}

function check(group: Group, command: SyncCommand): ErrorName | null {
  const error = checkGeneration(group, command)
  if (error) return error
  const { protocolType, protocolName } = command
  if (protocolType !== null && protocolType !== group.protocolType) return 'INCONSISTENT_GROUP_PROTOCOL'
  if (protocolName !== null && protocolName !== group.protocolName) return 'INCONSISTENT_GROUP_PROTOCOL'
  if (group.state === 'PreparingRebalance') return 'REBALANCE_IN_PROGRESS'
  return group.state === 'Empty' ? 'UNKNOWN_MEMBER_ID' : null
}

/** Stable, once it is in the log: a coordinator that takes over must know who owns what. */
function assign(draft: Draft, { assignments }: SyncCommand): void {
  const { group } = draft
  const given = new Map(assignments.map(({ memberId, assignment }) => [memberId, Buffer.from(assignment)]))
  const forgotten: string[] = []
  for (const { memberId } of [...group.members()]) {
    if (!given.has(memberId)) forgotten.push(memberId)
    group.update(memberId, { assignment: given.get(memberId) ?? NO_ASSIGNMENT })
  }
  if (forgotten.length > 0) {
    draft.note('warn', 'the leader assigned nothing to some members', {
      count: forgotten.length,
      members: forgotten.slice(0, 10),
    })
  }
  const { groupId, generation: generationId } = group
  draft.store((error) => ({ kind: 'assignmentNotStored', groupId, generationId, errorCode: errorCode(error) }))
  group.become('Stable', draft.now)
  for (const { memberId } of [...group.members()]) {
    if (draft.answerSync(memberId, assignmentOf(group, memberId))) draft.beginSession(memberId)
  }
  draft.note('info', 'the assignment of the leader is stored', { members: group.size })
}

function assignmentOf(group: Group, memberId: string): SyncReply {
  const { protocolType, protocolName } = group
  return { errorCode: errorCode('NONE'), protocolType, protocolName, assignment: group.get(memberId).assignment }
}

/** The log refused the assignment, and the leader knows. The others must not wait for it. */
export function decideNotStored(
  state: GroupsState,
  groupId: string,
  generationId: number,
  error: ErrorName,
  now: number,
  config: CoordinatorConfig,
): GroupDecision {
  const group = state.groups.get(groupId)
  if (group?.state !== 'CompletingRebalance' || group.generation !== generationId) return {}
  const draft = new Draft(group, now, config)
  refuseSyncs(draft, error)
  rebalance(draft, `the assignment could not be stored: ${error}`)
  return draft.decision()
}

/** The time to sync is over: whoever did not, the leader perhaps, is taken for gone (KAFKA-12890). */
export function decideSyncDeadline(
  state: GroupsState,
  groupId: string,
  generationId: number,
  now: number,
  config: CoordinatorConfig,
): GroupDecision {
  const group = state.groups.get(groupId)
  if (group === undefined || group.generation !== generationId || group.pendingSync.size === 0) return {}
  if (group.state !== 'CompletingRebalance' && group.state !== 'Stable') return {}
  const draft = new Draft(group, now, config)
  for (const memberId of group.pendingSync) {
    draft.group.remove(memberId)
    draft.endSession(memberId)
    draft.note('info', 'a member did not sync in time', { memberId })
  }
  beginRound(draft, `${group.pendingSync.size} members did not sync in time`)
  return draft.decision()
}
