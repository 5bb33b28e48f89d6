/** Sessions that end, ids that never came back, newcomers whose connection broke, rounds whose time is over. */
import { errorCode } from '@mq/protocol'
import type { CoordinatorConfig } from '../config.js'
import type { Moment } from '../runtime/shard.js'
import { Draft, type GroupDecision } from './draft.js'
import { onJoinDeadline, removeMember, tryToCompleteRound } from './rebalance.js'
import type { GroupsState } from './state.js'

/** Nothing was heard of a member for its session timeout. */
export function decideSessionExpired(
  state: GroupsState,
  groupId: string,
  memberId: string,
  now: number,
  config: CoordinatorConfig,
): GroupDecision {
  const group = state.groups.get(groupId)
  if (!group?.has(memberId)) return {}
  const member = group.get(memberId)
  // A parked request is a sign of life; the answer to it begins the session anew. But a newcomer must not be parked for ever.
  const isParked = member.joining !== null || member.syncing !== null
  if (isParked && !member.isNew) return {}
  const draft = new Draft(group, now, config)
  draft.note('info', 'the session of a member has ended', { memberId, sessionTimeoutMs: member.sessionTimeoutMs })
  removeMember(draft, member, `the session of member ${memberId} has ended`)
  return draft.decision()
}

/**
 * The connection of a newcomer ended before it heard its id. Nobody can ever speak for that member, so nobody waits for it: clients
 * that lose their connection in a long round would fill it with members that are not there.
 */
export function decideAbandoned(
  state: GroupsState,
  groupId: string,
  memberId: string,
  { now, request }: Moment,
  config: CoordinatorConfig,
): GroupDecision {
  const done = { errorCode: errorCode('NONE') }
  const group = state.groups.get(groupId)
  if (!group?.has(memberId)) return { replies: [[request, done]] }
  const member = group.get(memberId)
  if (!member.isNew || member.joining === null) return { replies: [[request, done]] }
  const draft = new Draft(group, now, config)
  removeMember(draft, member, `the connection of newcomer ${memberId} has ended`)
  draft.answer(request, done)
  return draft.decision()
}

/** An id was given out and nobody came back with it. */
export function decidePendingExpired(
  state: GroupsState,
  groupId: string,
  memberId: string,
  now: number,
  config: CoordinatorConfig,
): GroupDecision {
  const group = state.groups.get(groupId)
  if (!group?.pending.has(memberId)) return {}
  const draft = new Draft(group, now, config)
  draft.group.remove(memberId)
  tryToCompleteRound(draft)
  return draft.decision()
}

export function decideJoinDeadline(state: GroupsState, groupId: string, now: number, config: CoordinatorConfig): GroupDecision {
  const group = state.groups.get(groupId)
  if (group?.state !== 'PreparingRebalance') return {}
  const draft = new Draft(group, now, config)
  onJoinDeadline(draft)
  return draft.decision()
}
