// Heartbeat of a member of a classic group.

import { int16, int32, nullableString, string } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

export const HeartbeatRequest = message(
  'HeartbeatRequest',
  { key: 12, versions: '0-4', flexible: '4+' },
  {
    groupId: string('0+'),
    generationId: int32('0+'),
    memberId: string('0+'),
    groupInstanceId: nullableString('3+', { default: null }), // KIP-345
  },
)
export type HeartbeatRequest = Body<typeof HeartbeatRequest>

export const HeartbeatResponse = message(
  'HeartbeatResponse',
  { key: 12, versions: '0-4', flexible: '4+' },
  {
    throttleTimeMs: int32('1+', { ignorable: true }),
    errorCode: int16('0+'),
  },
)
export type HeartbeatResponse = Body<typeof HeartbeatResponse>
