// ListGroups: the groups that a broker coordinates.

import { array, int16, int32, string } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

export const ListGroupsRequest = message(
  'ListGroupsRequest',
  { key: 16, versions: '0-5', flexible: '3+' },
  {
    statesFilter: array('4+', 'string'), // none: all (KIP-518)
    typesFilter: array('5+', 'string'), // none: all (KIP-848)
  },
)
export type ListGroupsRequest = Body<typeof ListGroupsRequest>

export const ListGroupsResponse = message(
  'ListGroupsResponse',
  { key: 16, versions: '0-5', flexible: '3+' },
  {
    throttleTimeMs: int32('1+', { ignorable: true }),
    errorCode: int16('0+'),
    groups: array('0+', {
      groupId: string('0+'),
      protocolType: string('0+'),
      groupState: string('4+', { ignorable: true }),
      groupType: string('5+', { ignorable: true }),
    }),
  },
)
export type ListGroupsResponse = Body<typeof ListGroupsResponse>
