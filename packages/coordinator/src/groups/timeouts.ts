/** Sessions that end, ids that never came back, rounds whose time is over. */
import type { CoordinatorConfig } from '../config.js'
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
