/**
 * Offsets that nobody needs any more (KIP-211). They stay while the group lives: what its members subscribe to, and everything while
 * a round is under way. After that: `offsets.retention.minutes` from the moment that the group became empty, or from the commit for
 * topics that are not subscribed and for consumers without a group. A commit with a retention time of its own keeps that.
 */
import type { CoordinatorConfig } from '../config.js'
import type { GroupDecision } from '../groups/draft.js'
import type { Group } from '../groups/group.js'
import type { GroupRecord } from '../groups/records.js'
import type { GroupChange, GroupsState } from '../groups/state.js'
import type { Moment } from '../runtime/shard.js'
import type { StoredOffset } from './offsets.js'
import { Budget, burial } from './remove.js'

export const EXPIRY_TIMER = 'expire'
const MS_PER_MINUTE = 60_000

/** @param notBefore nothing counts as older than this: the moment at which a foreign data directory was taken over */
export function decideExpiry(state: GroupsState, { now }: Moment, config: CoordinatorConfig, notBefore: number): GroupDecision {
  const retentionMs = config['offsets.retention.minutes'] * MS_PER_MINUTE
  const records: GroupRecord[] = []
  const changes: GroupChange[] = []
  const budget = new Budget()
  let isWhole = true
  let expired = 0
  for (const group of state.groups.values()) {
    const { groupId } = group
    let taken = 0
    for (const [topic, partition, value] of state.offsets.ofGroup(groupId)) {
      const since = idleSince(group, topic, value)
      if (since === null || !isOver(value, Math.max(since, notBefore), now, retentionMs, notBefore)) continue
      if (state.offsets.isUncommitted(groupId, topic, partition)) continue
      if (!budget.take(groupId, topic)) {
        isWhole = false
        break
      }
      records.push({ kind: 'offsetDeleted', groupId, topic, partition })
      taken++
    }
    expired += taken
    if (!isWhole) break
    const end = burial(state, group, state.offsets.countOf(groupId) - taken)
    if (end) {
      if (!budget.take(groupId, '')) {
        isWhole = false
        break
      }
      records.push(...end.records)
      changes.push(...end.changes)
    }
  }
  const afterMs = isWhole ? config['offsets.retention.check.interval.ms'] : 0
  return {
    records,
    changes,
    timers: [{ kind: 'set', key: EXPIRY_TIMER, afterMs, command: { kind: 'expireOffsets' } }],
    notes: expired > 0 ? [{ level: 'info', fields: { offsets: expired }, message: 'expired offsets were deleted' }] : [],
  }
}

/** Since when the offset counts as not needed; null while it is. */
function idleSince(group: Group, topic: string, { commitTimestamp }: StoredOffset): number | null {
  if (group.protocolType === null) return commitTimestamp
  if (group.state === 'Empty') return group.stateSince ?? commitTimestamp
  const isKnownConsumer = group.state === 'Stable' && group.isConsumerGroup && group.subscribedTopics !== null
  return isKnownConsumer && !group.subscribedTopics!.has(topic) ? commitTimestamp : null
}

function isOver(value: StoredOffset, since: number, now: number, retentionMs: number, notBefore: number): boolean {
  if (value.expireTimestamp === null) return now - since >= retentionMs
  return now >= value.expireTimestamp && (notBefore === 0 || now - notBefore >= retentionMs)
}
