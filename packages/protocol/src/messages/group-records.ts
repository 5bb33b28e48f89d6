// Records of __consumer_offsets: committed offsets and classic groups.
// A leading int16 is the record type in a key (kept here as its version: the bytes are the same) and the version in a value.

import { array, bytes, int32, nullableString, offset, string, timestamp, uuid } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

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

export const OffsetCommitValue = message(
  'OffsetCommitValue',
  { versions: '0-4', flexible: '4+' },
  {
    offset: offset('0+'),
    leaderEpoch: int32('3+', { default: -1, ignorable: true }),
    metadata: string('0+'),
    commitTimestamp: timestamp('0+'),
    expireTimestamp: timestamp('1', { default: -1, ignorable: true }),
    topicId: uuid('4+', { ignorable: true, tag: 0 }),
  },
)
export type OffsetCommitValue = Body<typeof OffsetCommitValue>

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
    protocol: nullableString('0+'),
    leader: nullableString('0+'),
    currentStateTimestamp: timestamp('2+', { default: -1, ignorable: true }),
    members: array('0+', memberMetadata),
  },
)
export type GroupMetadataValue = Body<typeof GroupMetadataValue>
