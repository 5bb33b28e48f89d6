// LeaveGroup: members go, one by one or several at once (KIP-345).

import { array, int16, int32, nullableString, string } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

export const LeaveGroupRequest = message(
  'LeaveGroupRequest',
  { key: 13, versions: '0-5', flexible: '4+' },
  {
    groupId: string('0+'),
    memberId: string('0-2'),
    // KIP-345
    members: array('3+', {
      memberId: string('3+'),
      groupInstanceId: nullableString('3+', { default: null }),
      reason: nullableString('5+', { default: null, ignorable: true }), // KIP-800
    }),
  },
)
export type LeaveGroupRequest = Body<typeof LeaveGroupRequest>

export const LeaveGroupResponse = message(
  'LeaveGroupResponse',
  { key: 13, versions: '0-5', flexible: '4+' },
  {
    throttleTimeMs: int32('1+', { ignorable: true }),
    errorCode: int16('0+'),
    members: array('3+', {
      memberId: string('3+'),
      groupInstanceId: nullableString('3+'),
      errorCode: int16('3+'),
    }),
  },
)
export type LeaveGroupResponse = Body<typeof LeaveGroupResponse>
