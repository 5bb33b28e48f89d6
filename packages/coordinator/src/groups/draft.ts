/**
 * What one command makes of one group. A decision works on a draft of the group and gathers what follows from it: answers, timers,
 * records. Nothing of it is true before the runtime has written the records.
 */
import { type ErrorName, errorCode } from '@mq/protocol'
import type { CoordinatorConfig } from '../config.js'
import type { Decision, Note, RequestId, TimerChange } from '../runtime/shard.js'
import type { GroupReply, JoinReply, ShardCommand, SyncReply } from './commands.js'
import { type Group, NO_ASSIGNMENT } from './group.js'
import { type GroupRecord, recordOf } from './records.js'
import type { GroupChange, GroupsState } from './state.js'

export interface GroupTypes {
  readonly State: GroupsState
  readonly Command: ShardCommand
  readonly LogRecord: GroupRecord
  readonly Reply: GroupReply
  readonly Change: GroupChange
  readonly Effect: never
}

export type GroupDecision = Decision<GroupTypes>

export const timerKeys = {
  /** A member's session, or the time that an id which was given out has to come back. */
  session: (groupId: string, memberId: string) => `session\0${groupId}\0${memberId}`,
  join: (groupId: string) => `join\0${groupId}`,
  sync: (groupId: string) => `sync\0${groupId}`,
}

/** Kafka's answer to a JoinGroup that fails. */
export function joinRefused(memberId: string, error: ErrorName): JoinReply {
  return {
    errorCode: errorCode(error),
    generationId: -1,
    protocolType: null,
    protocolName: null,
    leader: '',
    skipAssignment: false,
    memberId,
    members: [],
  }
}

export function syncRefused(error: ErrorName): SyncReply {
  return { errorCode: errorCode(error), protocolType: null, protocolName: null, assignment: NO_ASSIGNMENT }
}

export class Draft {
  readonly group: Group
  readonly now: number
  readonly config: CoordinatorConfig
  readonly #replies: (readonly [RequestId, GroupReply])[] = []
  readonly #timers: TimerChange<ShardCommand>[] = []
  readonly #notes: Note[] = []
  #records: GroupRecord[] = []
  #ifRefused: GroupDecision['ifRefused']
  #shows = -1

  /** @param group stays as it is until the decision holds */
  constructor(group: Group, now: number, config: CoordinatorConfig) {
    this.group = group.draft()
    this.now = now
    this.config = config
  }

  answer(request: RequestId, reply: GroupReply): void {
    this.#replies.push([request, reply])
  }

  /** Answers a member's parked JoinGroup, if there is one. */
  answerJoin(memberId: string, reply: JoinReply): void {
    const { joining } = this.group.get(memberId)
    if (joining === null) return
    this.answer(joining, reply)
    this.group.update(memberId, { joining: null })
  }

  /** Answers a member's parked SyncGroup; false if there is none. */
  answerSync(memberId: string, reply: SyncReply): boolean {
    const { syncing } = this.group.get(memberId)
    if (syncing === null) return false
    this.answer(syncing, reply)
    this.group.update(memberId, { syncing: null })
    return true
  }

  /** Parks a JoinGroup. One that waits already was given up by its client, who asks again: it is told so. */
  parkJoin(memberId: string, request: RequestId): void {
    this.answerJoin(memberId, joinRefused(memberId, 'REBALANCE_IN_PROGRESS'))
    this.group.update(memberId, { joining: request })
  }

  parkSync(memberId: string, request: RequestId): void {
    this.answerSync(memberId, syncRefused('REBALANCE_IN_PROGRESS'))
    this.group.update(memberId, { syncing: request })
  }

  setTimer(key: string, afterMs: number, command: ShardCommand): void {
    this.#timers.push({ kind: 'set', key, afterMs, command })
  }

  cancelTimer(key: string): void {
    this.#timers.push({ kind: 'cancel', key })
  }

  /** From now on the member has its session timeout, or `afterMs`, to be heard of. */
  beginSession(memberId: string, afterMs = this.group.get(memberId).sessionTimeoutMs): void {
    const { groupId } = this.group
    this.setTimer(timerKeys.session(groupId, memberId), afterMs, { kind: 'sessionExpired', groupId, memberId })
  }

  endSession(memberId: string): void {
    this.cancelTimer(timerKeys.session(this.group.groupId, memberId))
  }

  /** Writes the group as it is now, instead of what this decision wanted to write of it before. */
  store(ifRefused?: GroupDecision['ifRefused']): void {
    this.#records = [recordOf(this.group)]
    this.#ifRefused = ifRefused
  }

  /** The answers speak of the generation that is stored: they wait until it is committed. */
  showStored(): void {
    this.#shows = this.group.storedAt
  }

  note(level: Note['level'], message: string, fields: object = {}): void {
    const { groupId: group, generation, state } = this.group
    this.#notes.push({ level, message, fields: { group, generation, state, ...fields } })
  }

  decision(): GroupDecision {
    return {
      records: this.#records,
      changes: [{ kind: 'group', group: this.group }],
      replies: this.#replies,
      timers: this.#timers,
      shows: this.#shows,
      notes: this.#notes,
      ...(this.#ifRefused ? { ifRefused: this.#ifRefused } : {}),
    }
  }
}
