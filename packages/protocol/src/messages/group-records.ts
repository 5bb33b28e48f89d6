// Records of __consumer_offsets: committed offsets and classic groups.
// A leading int16 is the record type in a key (kept here as its version: the bytes are the same) and the version in a value.

import { array, bytes, int32, nullableString, offset, string, timestamp, uuid } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

// Versions 0 and 1 have the same layout; 1 is what is written.
export const OffsetCommitKey = message(
  'OffsetCommitKey',
  { versions: '0-1' },
  {
    group: string('0-1'),
    topic: string('0-1'),
    partition: int32('0-1'),
  },
)
export type OffsetCommitKey = Body<typeof OffsetCommitKey>

// v2 dropped the expiry of its own, v3 added the leader epoch. 3.9.1 writes v3, or v1 where an expiry is given.
export const OffsetCommitValue = message(
  'OffsetCommitValue',
  { versions: '0-4', flexible: '4+' },
  {
    offset: offset('0+'),
    leaderEpoch: int32('3+', { default: -1, ignorable: true }),
    metadata: string('0+'),
    commitTimestamp: timestamp('0+'),
    expireTimestamp: timestamp('1', { default: -1, ignorable: true }), // given by clients up to OffsetCommit v4
    topicId: uuid('4+', { ignorable: true, tag: 0 }), // KIP-848
  },
)
export type OffsetCommitValue = Body<typeof OffsetCommitValue>

// What 4.x calls an OffsetCommitKey of version 0.
export const LegacyOffsetCommitKey = message(
  'LegacyOffsetCommitKey',
  { versions: '0' },
  {
    group: string('0'),
    topic: string('0'),
    partition: int32('0'),
  },
)
export type LegacyOffsetCommitKey = Body<typeof LegacyOffsetCommitKey>

// What 4.x reads behind a LegacyOffsetCommitKey.
export const LegacyOffsetCommitValue = message(
  'LegacyOffsetCommitValue',
  { versions: '0' },
  {
    offset: offset('0'),
    metadata: string('0'),
    commitTimestamp: timestamp('0'),
  },
)
export type LegacyOffsetCommitValue = Body<typeof LegacyOffsetCommitValue>

// One per classic group; a value of null removes the group.
export const GroupMetadataKey = message(
  'GroupMetadataKey',
  { versions: '2' },
  {
    group: string('2'),
  },
)
export type GroupMetadataKey = Body<typeof GroupMetadataKey>

const memberMetadata = {
  memberId: string('0+'),
  groupInstanceId: nullableString('3+', { default: null, ignorable: true }),
  clientId: string('0+'),
  clientHost: string('0+'),
  rebalanceTimeout: int32('1+', { default: -1, ignorable: true }),
  sessionTimeout: int32('0+'),
  subscription: bytes('0+'),
  assignment: bytes('0+'),
} as const

export const GroupMetadataValue = message(
  'GroupMetadataValue',
  { versions: '0-4', flexible: '4+' },
  {
    protocolType: string('0+'),
    generation: int32('0+'),
    protocol: nullableString('0+'), // null: no member, or no assignment yet
    leader: nullableString('0+'),
    currentStateTimestamp: timestamp('2+', { default: -1, ignorable: true }), // for expiry (KIP-211)
    members: array('0+', memberMetadata),
  },
)
export type GroupMetadataValue = Body<typeof GroupMetadataValue>
