/** The group coordinator as a kind of shard: which rule decides what, and how each kind of request is refused. */
import { type ErrorName, errorByCode, errorCode } from '@mq/protocol'
import type { CoordinatorConfig } from '../config.js'
import { decideCommit, refuseCommit } from '../offsets/commit.js'
import { decideExpiry, EXPIRY_TIMER } from '../offsets/expire.js'
import { decideDeleteGroup, decideDeleteOffsets, decidePartitionsDeleted, refuseDelete } from '../offsets/remove.js'
import type { Moment, Shard } from '../runtime/shard.js'
import type { GroupReply, ShardCommand } from './commands.js'
import { Draft, type GroupDecision, type GroupTypes, joinRefused, syncRefused } from './draft.js'
import { decideHeartbeat, sessionOf } from './heartbeat.js'
import { decideJoin } from './join.js'
import { decideLeave } from './leave.js'
import { rebalance } from './rebalance.js'
import { decodeRecord, encodeRecord } from './records.js'
import { apply, emptyState, endTransaction, type GroupsState, remember } from './state.js'
import { decideNotStored, decideSync, decideSyncDeadline } from './sync.js'
import { decideAbandoned, decideJoinDeadline, decidePendingExpired, decideSessionExpired } from './timeouts.js'

export interface GroupRulesOptions {
  readonly config: CoordinatorConfig
  /** Wall clock: no offset counts as older than this (a data directory that was taken over). 0: no such moment. */
  readonly offsetsExpireNotBefore: () => number
}

export function groupRules({ config, offsetsExpireNotBefore }: GroupRulesOptions): Shard<GroupTypes> {
  return {
    name: 'group coordinator',
    empty: emptyState,
    remember,
    apply,
    endTransaction,
    committed: (state, highWatermark) => state.offsets.committed(highWatermark),
    encode: encodeRecord,
    decode: decodeRecord,
    refusal: refuse,
    loaded: (state, moment) => decideLoaded(state, moment, config),
    decide(state, command, moment) {
      const { now } = moment
      switch (command.kind) {
        case 'join':
          return decideJoin(state, command, moment, config)
        case 'sync':
          return decideSync(state, command, moment, config)
        case 'heartbeat':
          return decideHeartbeat(state, command, moment)
        case 'leave':
          return decideLeave(state, command, moment, config)
        case 'commitOffsets':
          return decideCommit(state, command, moment, config)
        case 'deleteOffsets':
          return decideDeleteOffsets(state, command, moment)
        case 'deleteGroup':
          return decideDeleteGroup(state, command, moment)
        case 'sessionExpired':
          return decideSessionExpired(state, command.groupId, command.memberId, now, config)
        case 'pendingExpired':
          return decidePendingExpired(state, command.groupId, command.memberId, now, config)
        case 'abandoned':
          return decideAbandoned(state, command.groupId, command.memberId, moment, config)
        case 'joinDeadline':
          return decideJoinDeadline(state, command.groupId, now, config)
        case 'syncDeadline':
          return decideSyncDeadline(state, command.groupId, command.generationId, now, config)
        case 'assignmentNotStored': {
          const error = storeError(errorByCode(command.errorCode))
          return decideNotStored(state, command.groupId, command.generationId, error, now, config)
        }
        case 'expireOffsets':
          return decideExpiry(state, moment, config, offsetsExpireNotBefore())
        case 'partitionsDeleted':
          return decidePartitionsDeleted(state, command, moment)
        default:
          return command satisfies never
      }
    },
  }
}

/** Everybody in the log gets a whole session to be heard of; a group above its limit begins a round. */
function decideLoaded(state: GroupsState, { now }: Moment, config: CoordinatorConfig): GroupDecision {
  const decisions: GroupDecision[] = []
  for (const group of state.groups.values()) {
    if (group.size > config['group.max.size']) {
      const draft = new Draft(group, now, config)
      rebalance(draft, `the group has more than group.max.size members: ${group.size}`)
      decisions.push(draft.decision())
    }
    decisions.push({ timers: Array.from(group.members(), ({ memberId }) => sessionOf(group, memberId)) })
  }
  return {
    changes: decisions.flatMap(({ changes }) => changes ?? []),
    timers: [
      ...decisions.flatMap(({ timers }) => timers ?? []),
      {
        kind: 'set',
        key: EXPIRY_TIMER,
        afterMs: config['offsets.retention.check.interval.ms'],
        command: { kind: 'expireOffsets' },
      },
    ],
    notes: decisions.flatMap(({ notes }) => notes ?? []),
  }
}

function refuse(command: ShardCommand, error: ErrorName): GroupReply {
  switch (command.kind) {
    case 'join':
      return joinRefused(command.memberId, storeError(error))
    case 'sync':
      return syncRefused(storeError(error))
    case 'commitOffsets':
      return refuseCommit(command, commitError(error))
    case 'deleteOffsets':
      return refuseDelete(commitError(error))
    case 'leave':
      return { errorCode: errorCode(commitError(error)), members: [] }
    default:
      return { errorCode: errorCode(commitError(error)) }
  }
}

/** What a failed write means to a member: which error makes its client do the right thing. */
const storeError = (error: ErrorName): ErrorName =>
  error === 'REQUEST_TIMED_OUT' ? 'REBALANCE_IN_PROGRESS' : writeError(error, 'UNKNOWN_SERVER_ERROR')

/** The same for commits and deletions. */
const commitError = (error: ErrorName): ErrorName => writeError(error, 'INVALID_COMMIT_OFFSET_SIZE')

function writeError(error: ErrorName, tooLarge: ErrorName): ErrorName {
  switch (error) {
    case 'UNKNOWN_TOPIC_OR_PARTITION':
    case 'NOT_ENOUGH_REPLICAS':
    case 'NOT_ENOUGH_REPLICAS_AFTER_APPEND':
      return 'COORDINATOR_NOT_AVAILABLE'
    case 'NOT_LEADER_OR_FOLLOWER':
    case 'KAFKA_STORAGE_ERROR':
      return 'NOT_COORDINATOR'
    case 'MESSAGE_TOO_LARGE':
    case 'RECORD_LIST_TOO_LARGE':
    case 'INVALID_FETCH_SIZE':
      return tooLarge
    default:
      return error
  }
}
