// SyncGroup: the leader hands in assignments, each member takes its own.

import { array, bytes, int16, int32, nullableString, string } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

export const SyncGroupRequest = message(
  'SyncGroupRequest',
  { key: 14, versions: '0-5', flexible: '4+' },
  {
    groupId: string('0+'),
    generationId: int32('0+'),
    memberId: string('0+'),
    groupInstanceId: nullableString('3+', { default: null }), // KIP-345
    protocolType: nullableString('5+', { default: null, ignorable: true }), // KIP-559
    protocolName: nullableString('5+', { default: null, ignorable: true }),
    // from the leader alone
    assignments: array('0+', {
      memberId: string('0+'),
      assignment: bytes('0+'),
    }),
  },
)
export type SyncGroupRequest = Body<typeof SyncGroupRequest>

export const SyncGroupResponse = message(
  'SyncGroupResponse',
  { key: 14, versions: '0-5', flexible: '4+' },
  {
    throttleTimeMs: int32('1+', { ignorable: true }),
    errorCode: int16('0+'),
    protocolType: nullableString('5+', { default: null, ignorable: true }),
    protocolName: nullableString('5+', { default: null, ignorable: true }),
    assignment: bytes('0+'),
  },
)
export type SyncGroupResponse = Body<typeof SyncGroupResponse>
