/** JoinGroup: who may come in, under which id, and whether that begins a round. Answers are parked until the round ends. */
import { errorCode } from '@mq/protocol'
import type { CoordinatorConfig } from '../config.js'
import type { Moment } from '../runtime/shard.js'
import { type JoinCommand, type JoinReply, newMemberId } from './commands.js'
import { Draft, type GroupDecision, joinRefused, timerKeys } from './draft.js'
import { Group, type Member, NO_ASSIGNMENT, type Protocol } from './group.js'
import { checkMember } from './member-check.js'
import { areSame, selectProtocol, supports } from './protocols.js'
import { generationFor, membersFor, rebalance, tryToCompleteRound } from './rebalance.js'
import type { GroupsState } from './state.js'

/**
 * How long a newcomer's first JoinGroup may be parked. It has no id to send heartbeats with, and a client that gave up would be
 * taken for a member for ever; one that is still there asks again.
 */
const NEW_MEMBER_JOIN_TIMEOUT_MS = 5 * 60 * 1000

/** Ids that a group may have given out at a time: members come from outside, and each could ask for a thousand. */
const MAX_PENDING = 10_000

export function decideJoin(
  state: GroupsState,
  command: JoinCommand,
  { now, request }: Moment,
  config: CoordinatorConfig,
): GroupDecision {
  const { memberId, groupId, sessionTimeoutMs } = command
  if (sessionTimeoutMs < config['group.min.session.timeout.ms'] || sessionTimeoutMs > config['group.max.session.timeout.ms']) {
    return { replies: [[request, joinRefused(memberId, 'INVALID_SESSION_TIMEOUT')]] }
  }
  const isNew = memberId === ''
  const known = state.groups.get(groupId)
  if (!known && !isNew) return { replies: [[request, joinRefused(memberId, 'UNKNOWN_MEMBER_ID')]] }
  const draft = new Draft(known ?? new Group(groupId, now), now, config)
  const refusal = isFull(draft.group, memberId, config['group.max.size'])
    ? expel(draft, memberId)
    : isNew
      ? joinAsNew(draft, command, request)
      : joinAgain(draft, command, request)
  if (refusal) draft.answer(request, refusal)
  tryToCompleteRound(draft)
  return draft.decision()
}

/**
 * Members that are here stay; others come in up to the limit. While a round gathers its members it is those who have joined that
 * count, so that a group above a limit that was lowered loses whoever comes last.
 */
function isFull(group: Group, memberId: string, maxSize: number): boolean {
  if (group.state === 'Empty') return false
  if (group.state === 'PreparingRebalance') {
    return !(group.has(memberId) && group.get(memberId).joining !== null) && group.joiningCount >= maxSize
  }
  return !group.has(memberId) && group.size >= maxSize
}

function expel(draft: Draft, memberId: string): JoinReply {
  if (draft.group.has(memberId)) draft.endSession(memberId)
  draft.group.remove(memberId)
  return joinRefused('', 'GROUP_MAX_SIZE_REACHED')
}

function joinAsNew(draft: Draft, command: JoinCommand, request: number): JoinReply | null {
  const { group } = draft
  const { groupInstanceId } = command
  if (!supports(group, command.protocolType, command.protocols)) return joinRefused('', 'INCONSISTENT_GROUP_PROTOCOL')
  const memberId = newMemberId(command)
  if (groupInstanceId !== null) {
    const current = group.staticMember(groupInstanceId)
    if (current !== undefined) return replaceStatic(draft, current, memberId, command, request)
  } else if (command.requiresKnownMemberId) {
    if (group.pending.size >= MAX_PENDING) return joinRefused('', 'GROUP_MAX_SIZE_REACHED')
    const { groupId, sessionTimeoutMs } = command
    group.expect(memberId)
    draft.setTimer(timerKeys.session(groupId, memberId), sessionTimeoutMs, { kind: 'pendingExpired', groupId, memberId })
    return joinRefused(memberId, 'MEMBER_ID_REQUIRED')
  }
  addMember(draft, memberId, command, request)
  return null
}

function joinAgain(draft: Draft, command: JoinCommand, request: number): JoinReply | null {
  const { group } = draft
  const { memberId, protocols } = command
  if (!supports(group, command.protocolType, protocols)) return joinRefused(memberId, 'INCONSISTENT_GROUP_PROTOCOL')
  if (group.pending.has(memberId)) {
    // Ids are only given out to dynamic members; this one contradicts itself.
    if (command.groupInstanceId !== null) return joinRefused('', 'UNKNOWN_SERVER_ERROR')
    addMember(draft, memberId, command, request)
    return null
  }
  const error = checkMember(group, command)
  if (error) return joinRefused(memberId, error)
  const brings = areSame(group.get(memberId).protocols, protocols) ? 'the same' : 'something new'
  const reason = command.reason ?? 'not provided'
  switch (group.state) {
    case 'PreparingRebalance':
      updateMember(draft, memberId, command, request)
      return null
    case 'CompletingRebalance':
      // Perhaps the answer to its JoinGroup was lost: it gets it again.
      if (brings === 'the same') return generationFor(group, memberId)
      updateMember(draft, memberId, command, request)
      rebalance(draft, `member ${memberId} changed; client reason: ${reason}`)
      return null
    case 'Stable':
      // A leader that comes again has seen something that calls for a new assignment, new partitions for example.
      if (group.leader !== memberId && brings === 'the same') return { ...generationFor(group, memberId), members: [] }
      updateMember(draft, memberId, command, request)
      rebalance(draft, `${group.leader === memberId ? 'leader' : 'member'} ${memberId} joins again; client reason: ${reason}`)
      return null
    default:
      return joinRefused(memberId, 'UNKNOWN_MEMBER_ID')
  }
}

function addMember(draft: Draft, memberId: string, command: JoinCommand, request: number): void {
  const { group } = draft
  if (group.round?.kind === 'first' && group.generation === 0) group.round = { ...group.round, newcomer: true }
  const member: Member = {
    memberId,
    groupInstanceId: command.groupInstanceId,
    clientId: command.clientId,
    clientHost: command.clientHost,
    rebalanceTimeoutMs: command.rebalanceTimeoutMs,
    sessionTimeoutMs: command.sessionTimeoutMs,
    protocols: owned(command.protocols),
    assignment: NO_ASSIGNMENT,
    joining: request,
    syncing: null,
    isNew: true,
  }
  group.add(member, command.protocolType)
  draft.beginSession(memberId, NEW_MEMBER_JOIN_TIMEOUT_MS)
  rebalance(draft, `new member ${memberId}; client reason: ${command.reason ?? 'not provided'}`)
}

function updateMember(draft: Draft, memberId: string, command: JoinCommand, request: number): void {
  draft.parkJoin(memberId, request)
  draft.group.update(memberId, {
    protocols: owned(command.protocols),
    rebalanceTimeoutMs: command.rebalanceTimeoutMs,
    sessionTimeoutMs: command.sessionTimeoutMs,
  })
}

/** A static member is back without its id, after a restart: it takes the place that its instance had. */
function replaceStatic(draft: Draft, current: string, memberId: string, command: JoinCommand, request: number): JoinReply | null {
  const { group } = draft
  const leaderBefore = group.leader ?? ''
  draft.answerJoin(current, joinRefused(current, 'FENCED_INSTANCE_ID'))
  draft.answerSync(current, { ...NO_SYNC, errorCode: errorCode('FENCED_INSTANCE_ID') })
  draft.endSession(current)
  group.rename(current, memberId)
  draft.beginSession(memberId)
  updateMember(draft, memberId, command, request)
  switch (group.state) {
    case 'Stable': {
      if (selectProtocol(group) !== group.protocolName) {
        rebalance(draft, `static member ${command.groupInstanceId} is back with other protocols`)
        return null
      }
      // Its assignment is still good: nobody else needs to be disturbed, only the new id has to be written.
      draft.answerJoin(memberId, placeOfStatic(group, memberId, leaderBefore, command.supportsSkippingAssignment))
      draft.store()
      draft.note('info', 'a static member is back and goes on', { memberId, groupInstanceId: command.groupInstanceId })
      return null
    }
    case 'CompletingRebalance':
      // The leader assigns to the old id.
      rebalance(draft, `static member ${command.groupInstanceId} is back under another id`)
      return null
    default:
      return null
  }
}

const NO_SYNC = { protocolType: null, protocolName: null, assignment: NO_ASSIGNMENT }

/**
 * A returning leader must not assign again, since a stable group would not take the result. Newer clients are told so (KIP-814);
 * older ones get the leader's old id, so that they do not take themselves for it.
 */
function placeOfStatic(group: Group, memberId: string, leaderBefore: string, canSkip: boolean): JoinReply {
  const reply = generationFor(group, memberId)
  if (!canSkip) return { ...reply, leader: leaderBefore, members: [] }
  const isLeader = group.leader === memberId
  return { ...reply, skipAssignment: isLeader, members: isLeader ? membersFor(group) : [] }
}

/** The first of each name, with bytes of our own: those of the request belong to a buffer that is used again. */
function owned(protocols: readonly Protocol[]): Protocol[] {
  const byName = new Map<string, Protocol>()
  for (const { name, metadata } of protocols) if (!byName.has(name)) byName.set(name, { name, metadata: Buffer.from(metadata) })
  return [...byName.values()]
}
