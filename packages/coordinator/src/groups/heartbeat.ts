/** Heartbeat: the member lives, and learns whether a round is under way. It changes nothing but a timer. */
import { type ErrorName, errorCode } from '@mq/protocol'
import type { Moment, TimerChange } from '../runtime/shard.js'
import type { HeartbeatCommand, ShardCommand } from './commands.js'
import { type GroupDecision, timerKeys } from './draft.js'
import type { Group } from './group.js'
import { checkGeneration } from './member-check.js'
import type { GroupsState } from './state.js'

export function decideHeartbeat(state: GroupsState, command: HeartbeatCommand, { request }: Moment): GroupDecision {
  const group = state.groups.get(command.groupId)
  const error = group ? checkGeneration(group, command) : 'UNKNOWN_MEMBER_ID'
  if (!group || error) return answer(request, error ?? 'UNKNOWN_MEMBER_ID')
  const beats = group.state === 'PreparingRebalance' ? 'REBALANCE_IN_PROGRESS' : 'NONE'
  return { ...answer(request, beats), timers: [sessionOf(group, command.memberId)] }
}

const answer = (request: number, error: ErrorName): GroupDecision => ({ replies: [[request, { errorCode: errorCode(error) }]] })

/** The session begins anew: something was heard of the member. */
export function sessionOf(group: Group, memberId: string): TimerChange<ShardCommand> {
  const { groupId } = group
  return {
    kind: 'set',
    key: timerKeys.session(groupId, memberId),
    afterMs: group.get(memberId).sessionTimeoutMs,
    command: { kind: 'sessionExpired', groupId, memberId },
  }
}
