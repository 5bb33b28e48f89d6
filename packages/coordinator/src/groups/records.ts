/**
 * Groups as they stand in `__consumer_offsets`. Key: int16 2 and the group. Value: int16 3 and the generation with its members, what
 * each subscribed to and was assigned; without members: an empty group. A null value deletes.
 */
import { decodeVersioned, encodeVersioned, GroupMetadataKey, GroupMetadataValue, InvariantError } from '@mq/protocol'
import { decodeOffset, encodeOffset, type OffsetRecord } from '../offsets/records.js'
import type { KeyAndValue, Unreadable } from '../runtime/shard.js'
import { Group, type Member } from './group.js'
import { metadataFor, subscribedTopics } from './protocols.js'

export interface StoredMember {
  readonly memberId: string
  readonly groupInstanceId: string | null
  readonly clientId: string
  readonly clientHost: string
  readonly rebalanceTimeout: number
  readonly sessionTimeout: number
  /** What it said for the protocol of this generation. */
  readonly subscription: Buffer
  readonly assignment: Buffer
}

export interface StoredGroup {
  /** Empty: never had one. */
  readonly protocolType: string
  readonly generation: number
  readonly protocol: string | null
  readonly leader: string | null
  /** -1: an old record, which does not say. */
  readonly currentStateTimestamp: number
  readonly members: readonly StoredMember[]
}

export type GroupRecord =
  | { readonly kind: 'groupStored'; readonly groupId: string; readonly value: StoredGroup }
  | { readonly kind: 'groupDeleted'; readonly groupId: string }
  | OffsetRecord

const KEY_VERSION = 2
const HIGHEST_OFFSET_KEY_VERSION = 1
/** Highest version without tagged fields: what Kafka 3.9 writes. */
const VALUE_VERSION = 3

export function encodeRecord(record: GroupRecord): KeyAndValue {
  if (record.kind === 'offsetCommitted' || record.kind === 'offsetDeleted') return encodeOffset(record)
  const key = encodeVersioned(GroupMetadataKey, KEY_VERSION, { group: record.groupId })
  if (record.kind === 'groupDeleted') return { key, value: null }
  return { key, value: encodeVersioned(GroupMetadataValue, VALUE_VERSION, record.value) }
}

export function decodeRecord(key: Buffer | null, value: Buffer | null): GroupRecord | Unreadable {
  if (key === null || key.length < 2) return { kind: 'unreadable', reason: 'it has no key' }
  const version = key.readInt16BE(0)
  if (version < 0 || version > KEY_VERSION) {
    return { kind: 'unreadable', reason: `key of version ${version}, perhaps of a newer broker` }
  }
  try {
    if (version <= HIGHEST_OFFSET_KEY_VERSION) return decodeOffset(key, value)
    const groupId = decodeVersioned(GroupMetadataKey, key).body.group
    if (value === null) return { kind: 'groupDeleted', groupId }
    const { version: valueVersion, body } = decodeVersioned(GroupMetadataValue, value)
    const members = body.members.map((member) => ({
      ...member,
      // Version 0 knew one timeout only.
      rebalanceTimeout: valueVersion === 0 ? member.sessionTimeout : member.rebalanceTimeout,
      subscription: Buffer.from(member.subscription),
      assignment: Buffer.from(member.assignment),
    }))
    return { kind: 'groupStored', groupId, value: { ...body, members } }
  } catch (error) {
    return { kind: 'unreadable', reason: error instanceof Error ? error.message : String(error) }
  }
}

/** What is to be written of a group in Stable or Empty. */
export function recordOf(group: Group): GroupRecord {
  const { protocolName } = group
  const members = Array.from(group.members(), (member): StoredMember => {
    const subscription = protocolName === null ? undefined : metadataFor(member.protocols, protocolName)
    if (subscription === undefined) throw new InvariantError(`${member.memberId} does not take part in protocol ${protocolName}`)
    return {
      memberId: member.memberId,
      groupInstanceId: member.groupInstanceId,
      clientId: member.clientId,
      clientHost: member.clientHost,
      rebalanceTimeout: member.rebalanceTimeoutMs,
      sessionTimeout: member.sessionTimeoutMs,
      subscription,
      assignment: member.assignment,
    }
  })
  const value: StoredGroup = {
    protocolType: group.protocolType ?? '',
    generation: group.generation,
    protocol: protocolName,
    leader: group.leader,
    currentStateTimestamp: group.stateSince ?? -1,
    members,
  }
  return { kind: 'groupStored', groupId: group.groupId, value }
}

/** The group that a record tells of: Stable with its members, or Empty. */
export function groupOf(groupId: string, stored: StoredGroup): Group {
  const group = new Group(groupId, 0)
  for (const member of stored.members) group.add(memberOf(member, stored.protocol), stored.protocolType)
  group.state = stored.members.length === 0 ? 'Empty' : 'Stable'
  group.stateSince = stored.currentStateTimestamp === -1 ? null : stored.currentStateTimestamp
  group.protocolType = stored.protocolType === '' ? null : stored.protocolType
  group.protocolName = stored.protocol
  group.generation = stored.generation
  if (stored.leader === null || group.has(stored.leader)) group.leader = stored.leader
  group.subscribedTopics = subscribedTopics(group)
  return group
}

function memberOf(stored: StoredMember, protocol: string | null): Member {
  return {
    memberId: stored.memberId,
    groupInstanceId: stored.groupInstanceId,
    clientId: stored.clientId,
    clientHost: stored.clientHost,
    rebalanceTimeoutMs: stored.rebalanceTimeout,
    sessionTimeoutMs: stored.sessionTimeout,
    protocols: [{ name: protocol ?? '', metadata: stored.subscription }],
    assignment: stored.assignment,
    joining: null,
    syncing: null,
    isNew: false,
  }
}

/** Whether memory already says what the record says, as it does when this broker has just written it. */
export function isAsStored(group: Group, stored: StoredGroup): boolean {
  if (group.generation !== stored.generation || group.size !== stored.members.length) return false
  if (group.state !== (stored.members.length === 0 ? 'Empty' : 'Stable') || group.leader !== stored.leader) return false
  if (group.protocolName !== stored.protocol) return false
  return stored.members.every((member) => {
    if (!group.has(member.memberId)) return false
    const known = group.get(member.memberId)
    return (
      known.groupInstanceId === member.groupInstanceId &&
      known.rebalanceTimeoutMs === member.rebalanceTimeout &&
      known.sessionTimeoutMs === member.sessionTimeout &&
      known.assignment.equals(member.assignment) &&
      (metadataFor(known.protocols, stored.protocol ?? '')?.equals(member.subscription) ?? false)
    )
  })
}
