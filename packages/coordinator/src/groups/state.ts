/**
 * All that one shard knows, and the only functions that change it: `apply` for what is in the log, live and on load alike, and
 * `remember` for what a restart forgets.
 */
import { Offsets } from '../offsets/offsets.js'
import type { Place } from '../runtime/shard.js'
import { Group } from './group.js'
import { type GroupRecord, groupOf, isAsStored } from './records.js'

export interface GroupsState {
  readonly groups: Map<string, Group>
  readonly offsets: Offsets
}

export type GroupChange =
  | { readonly kind: 'group'; readonly group: Group }
  /** It never was in the log and nothing speaks for it any more. */
  | { readonly kind: 'forget'; readonly groupId: string }

export const emptyState = (): GroupsState => ({ groups: new Map(), offsets: new Offsets() })

export function remember(state: GroupsState, change: GroupChange): void {
  if (change.kind === 'group') state.groups.set(change.group.groupId, change.group)
  else state.groups.delete(change.groupId)
}

export function apply(state: GroupsState, record: GroupRecord, place: Place): void {
  const { groupId } = record
  switch (record.kind) {
    case 'offsetCommitted':
      state.offsets.put(groupId, record.topic, record.partition, record.value, place)
      obtainGroup(state, groupId)
      return
    case 'offsetDeleted':
      state.offsets.remove(groupId, record.topic, record.partition, place)
      forgetIfBare(state, groupId)
      return
    case 'groupStored': {
      const known = state.groups.get(groupId)
      const group = known && isAsStored(known, record.value) ? known : groupOf(groupId, record.value)
      group.storedAt = place.offset
      state.groups.set(groupId, group)
      return
    }
    case 'groupDeleted':
      state.groups.delete(groupId)
      if (state.offsets.has(groupId)) obtainGroup(state, groupId)
      return
    default:
      record satisfies never
  }
}

export function endTransaction(state: GroupsState, producerId: number, outcome: 'commit' | 'abort'): void {
  for (const { groupId } of state.offsets.endTransaction(producerId, outcome)) forgetIfBare(state, groupId)
}

/** A consumer without group management has a group all the same: an empty one that keeps its offsets. */
function obtainGroup(state: GroupsState, groupId: string): void {
  if (state.groups.has(groupId)) return
  const group = new Group(groupId, 0)
  group.stateSince = null
  state.groups.set(groupId, group)
}

/** Nobody ever joined, and the last offset is gone: there is no group any more, and no record to delete. */
function forgetIfBare(state: GroupsState, groupId: string): void {
  const group = state.groups.get(groupId)
  if (group && isBare(state, group)) state.groups.delete(groupId)
}

/** Empty, never stored, without offsets and with nobody on the way. */
export function isBare(state: GroupsState, group: Group): boolean {
  return group.state === 'Empty' && group.storedAt < 0 && group.pending.size === 0 && !state.offsets.has(group.groupId)
}
