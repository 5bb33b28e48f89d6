// DescribeGroups: state and members of classic groups.

import { array, bool, bytes, int16, int32, nullableString, string } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

export const DescribeGroupsRequest = message(
  'DescribeGroupsRequest',
  { key: 15, versions: '0-6', flexible: '5+' },
  {
    groups: array('0+', 'string'),
    includeAuthorizedOperations: bool('3+'), // KIP-430
  },
)
export type DescribeGroupsRequest = Body<typeof DescribeGroupsRequest>

export const DescribeGroupsResponse = message(
  'DescribeGroupsResponse',
  { key: 15, versions: '0-6', flexible: '5+' },
  {
    throttleTimeMs: int32('1+', { ignorable: true }),
    groups: array('0+', {
      errorCode: int16('0+'),
      errorMessage: nullableString('6+', { default: null }), // KIP-1043
      groupId: string('0+'),
      groupState: string('0+'),
      protocolType: string('0+'),
      protocolData: string('0+'),
      members: array('0+', {
        memberId: string('0+'),
        groupInstanceId: nullableString('4+', { default: null, ignorable: true }), // KIP-345
        clientId: string('0+'),
        clientHost: string('0+'),
        memberMetadata: bytes('0+'),
        memberAssignment: bytes('0+'),
      }),
      authorizedOperations: int32('3+', { default: -2147483648 }),
    }),
  },
)
export type DescribeGroupsResponse = Body<typeof DescribeGroupsResponse>
