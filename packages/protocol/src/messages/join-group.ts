// JoinGroup: enter a classic group, or a new round of it.

import { array, bool, bytes, int16, int32, nullableString, string } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

// v4 and later: a member without an id gets one with MEMBER_ID_REQUIRED first (KIP-394).
export const JoinGroupRequest = message(
  'JoinGroupRequest',
  { key: 11, versions: '0-9', flexible: '6+' },
  {
    groupId: string('0+'),
    sessionTimeoutMs: int32('0+'),
    rebalanceTimeoutMs: int32('1+', { default: -1, ignorable: true }), // v0 has none: the session timeout counts
    memberId: string('0+'),
    groupInstanceId: nullableString('5+', { default: null }), // KIP-345
    protocolType: string('0+'),
    protocols: array('0+', {
      name: string('0+', { mapKey: true }),
      metadata: bytes('0+'),
    }),
    reason: nullableString('8+', { default: null, ignorable: true }), // KIP-800
  },
)
export type JoinGroupRequest = Body<typeof JoinGroupRequest>

export const JoinGroupResponse = message(
  'JoinGroupResponse',
  { key: 11, versions: '0-9', flexible: '6+' },
  {
    throttleTimeMs: int32('2+', { ignorable: true }),
    errorCode: int16('0+'),
    generationId: int32('0+', { default: -1 }),
    protocolType: nullableString('7+', { default: null, ignorable: true }), // KIP-559
    protocolName: string('0+', { nullable: '7+' }),
    leader: string('0+'),
    skipAssignment: bool('9+'), // the leader need not assign again (KIP-814)
    memberId: string('0+'),
    // for the leader alone
    members: array('0+', {
      memberId: string('0+'),
      groupInstanceId: nullableString('5+', { default: null, ignorable: true }),
      metadata: bytes('0+'),
    }),
  },
)
export type JoinGroupResponse = Body<typeof JoinGroupResponse>
