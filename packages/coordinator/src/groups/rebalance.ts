/**
 * A round of rebalancing, from the event that asks for it to the generation that comes out of it: who is waited for and how long,
 * who is dropped, who leads.
 */
import { type ErrorName, errorCode, InvariantError } from '@mq/protocol'
import type { JoinReply } from './commands.js'
import { type Draft, joinRefused, syncRefused, timerKeys } from './draft.js'
import { type Group, type GroupState, type Member, NO_ASSIGNMENT } from './group.js'
import { metadataFor, selectProtocol, subscribedTopics } from './protocols.js'

const MAY_REBALANCE: readonly GroupState[] = ['Empty', 'CompletingRebalance', 'Stable']

/** Begins a round unless one is under way. */
export function rebalance(draft: Draft, reason: string): void {
  if (MAY_REBALANCE.includes(draft.group.state)) beginRound(draft, reason)
}

export function beginRound(draft: Draft, reason: string): void {
  const { group, config } = draft
  if (group.state === 'CompletingRebalance') refuseSyncs(draft, 'REBALANCE_IN_PROGRESS')
  endSyncPhase(draft)
  const wasEmpty = group.state === 'Empty'
  group.become('PreparingRebalance', draft.now)
  draft.note('info', 'a rebalance begins', { reason })
  if (!wasEmpty) {
    waitForAll(draft)
    tryToCompleteRound(draft)
    return
  }
  // Members of a new group come one after the other: waiting a little for the rest saves a round for each of them (KIP-134).
  const delayMs = config['group.initial.rebalance.delay.ms']
  group.round = { kind: 'first', delayMs, remainingMs: Math.max(group.rebalanceTimeoutMs - delayMs, 0), newcomer: false }
  if (delayMs <= 0) completeRound(draft)
  else setJoinTimer(draft, delayMs)
}

/** Ends the round at once when everybody is here. The first round of a group always waits for its time. */
export function tryToCompleteRound(draft: Draft): void {
  const { group } = draft
  if (group.state === 'PreparingRebalance' && group.round?.kind === 'again' && group.allHaveJoined) completeRound(draft)
}

/** The time to join is over. */
export function onJoinDeadline(draft: Draft): void {
  const { round } = draft.group
  if (round?.kind === 'first' && round.newcomer && round.remainingMs > 0) {
    const delayMs = Math.min(draft.config['group.initial.rebalance.delay.ms'], round.remainingMs)
    const remainingMs = Math.max(round.remainingMs - round.delayMs, 0)
    draft.group.round = { kind: 'first', delayMs, remainingMs, newcomer: false }
    setJoinTimer(draft, delayMs)
    return
  }
  completeRound(draft)
}

function completeRound(draft: Draft): void {
  const { group } = draft
  for (const { memberId, joining, groupInstanceId } of [...group.members()]) {
    // A static member may be restarting: it stays until its session ends (KIP-345).
    if (joining !== null || groupInstanceId !== null) continue
    group.remove(memberId)
    draft.endSession(memberId)
    draft.note('info', 'a member did not join in time', { memberId })
  }
  if (!leaderIsHere(group) && group.size > 0) {
    draft.note('warn', 'nobody has joined again: waiting until the sessions of the members end')
    waitForAll(draft)
    return
  }
  draft.cancelTimer(timerKeys.join(group.groupId))
  group.round = null
  group.generation++
  group.expectNoSync()
  if (group.size === 0) becomeEmpty(draft)
  else hold(draft)
}

/** The leader of the last generation, or whoever has joined. */
function leaderIsHere(group: Group): boolean {
  if (group.leader !== null && group.get(group.leader).joining !== null) return true
  for (const { memberId, joining } of group.members()) {
    if (joining === null) continue
    group.leader = memberId
    return true
  }
  return false
}

function becomeEmpty(draft: Draft): void {
  const { group } = draft
  group.protocolName = null
  group.subscribedTopics = subscribedTopics(group)
  group.become('Empty', draft.now)
  draft.store()
  draft.note('info', 'the group is empty now')
}

/** The new generation is told to everybody; the leader gets the list of members and is expected to bring the assignment. */
function hold(draft: Draft): void {
  const { group } = draft
  const protocolName = selectProtocol(group)
  if (protocolName === null) throw new InvariantError(`the members of ${group.groupId} have no protocol in common`)
  group.protocolName = protocolName
  group.subscribedTopics = subscribedTopics(group)
  group.become('CompletingRebalance', draft.now)
  for (const { memberId } of [...group.members()]) {
    draft.answerJoin(memberId, generationFor(group, memberId))
    group.update(memberId, { isNew: false })
    draft.beginSession(memberId)
    group.expectSync(memberId)
  }
  const { groupId, generation: generationId } = group
  draft.setTimer(timerKeys.sync(groupId), group.rebalanceTimeoutMs, { kind: 'syncDeadline', groupId, generationId })
  draft.note('info', 'a generation begins', { members: group.size, protocol: protocolName, leader: group.leader })
}

/** What JoinGroup answers about the present generation. */
export function generationFor(group: Group, memberId: string): JoinReply {
  const isLeader = group.leader === memberId
  return {
    errorCode: errorCode('NONE'),
    generationId: group.generation,
    protocolType: group.protocolType,
    protocolName: group.protocolName,
    leader: group.leader ?? '',
    skipAssignment: false,
    memberId,
    members: isLeader ? membersFor(group) : [],
  }
}

export function membersFor(group: Group): JoinReply['members'] {
  return Array.from(group.members(), ({ memberId, groupInstanceId, protocols }) => ({
    memberId,
    groupInstanceId,
    metadata: metadataFor(protocols, group.protocolName ?? '') ?? NO_ASSIGNMENT,
  }))
}

/** The members' parked SyncGroups fail, and what they were assigned does not count. */
export function refuseSyncs(draft: Draft, error: ErrorName): void {
  for (const { memberId } of [...draft.group.members()]) {
    draft.group.update(memberId, { assignment: NO_ASSIGNMENT })
    if (draft.answerSync(memberId, syncRefused(error))) draft.beginSession(memberId)
  }
}

/** Nobody is waited for any more who has not synced. */
export function endSyncPhase(draft: Draft): void {
  draft.group.expectNoSync()
  draft.cancelTimer(timerKeys.sync(draft.group.groupId))
}

/** A member goes: by itself, by an administrator, or because nothing was heard of it. */
export function removeMember(draft: Draft, member: Member, reason: string): void {
  const { group } = draft
  // A newcomer may still wait for its first answer. It has to come back as a new one.
  draft.answerJoin(member.memberId, joinRefused('', 'UNKNOWN_MEMBER_ID'))
  draft.answerSync(member.memberId, syncRefused('UNKNOWN_MEMBER_ID'))
  group.remove(member.memberId)
  draft.endSession(member.memberId)
  if (group.state === 'PreparingRebalance') tryToCompleteRound(draft)
  else rebalance(draft, reason)
}

function waitForAll(draft: Draft): void {
  draft.group.round = { kind: 'again' }
  setJoinTimer(draft, draft.group.rebalanceTimeoutMs)
}

function setJoinTimer(draft: Draft, afterMs: number): void {
  const { groupId } = draft.group
  draft.setTimer(timerKeys.join(groupId), afterMs, { kind: 'joinDeadline', groupId })
}
