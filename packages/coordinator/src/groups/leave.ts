/** LeaveGroup: members go, several at once if an administrator removes them by their instance ids (KIP-345). */
import { type ErrorName, errorCode } from '@mq/protocol'
import type { CoordinatorConfig } from '../config.js'
import type { Moment } from '../runtime/shard.js'
import type { LeaveCommand, LeavingMember } from './commands.js'
import { Draft, type GroupDecision } from './draft.js'
import { checkMember } from './member-check.js'
import { removeMember, tryToCompleteRound } from './rebalance.js'
import type { GroupsState } from './state.js'

export function decideLeave(
  state: GroupsState,
  { groupId, members }: LeaveCommand,
  { now, request }: Moment,
  config: CoordinatorConfig,
): GroupDecision {
  const group = state.groups.get(groupId)
  const draft = group && new Draft(group, now, config)
  const results = members.map((leaving) => {
    const { memberId, groupInstanceId } = leaving
    return { memberId, groupInstanceId, errorCode: errorCode(draft ? leave(draft, leaving) : 'UNKNOWN_MEMBER_ID') }
  })
  const reply = { errorCode: errorCode('NONE'), members: results }
  if (!draft) return { replies: [[request, reply]] }
  draft.answer(request, reply)
  // Whoever leaves does not wait for replicas: should the record be lost, its session ends all the same.
  return { ...draft.decision(), answerWhen: 'written' }
}

function leave(draft: Draft, leaving: LeavingMember): ErrorName {
  const { group } = draft
  const { memberId, groupInstanceId } = leaving
  if (memberId === '') {
    const current = groupInstanceId === null ? undefined : group.staticMember(groupInstanceId)
    if (current === undefined) return 'UNKNOWN_MEMBER_ID'
    remove(draft, current, leaving)
    return 'NONE'
  }
  if (group.pending.has(memberId)) {
    group.remove(memberId)
    draft.endSession(memberId)
    tryToCompleteRound(draft)
    return 'NONE'
  }
  const error = checkMember(group, leaving)
  if (error) return error
  remove(draft, memberId, leaving)
  return 'NONE'
}

function remove(draft: Draft, memberId: string, { reason }: LeavingMember): void {
  draft.note('info', 'a member leaves', { memberId, reason: reason ?? 'not provided' })
  removeMember(draft, draft.group.get(memberId), `member ${memberId} left; client reason: ${reason ?? 'not provided'}`)
}
