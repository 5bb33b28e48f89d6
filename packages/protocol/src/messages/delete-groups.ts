// DeleteGroups: remove empty groups.

import { array, int16, int32, nullableString, string } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

export const DeleteGroupsRequest = message(
  'DeleteGroupsRequest',
  { key: 42, versions: '0-3', flexible: '2+' },
  {
    groupsNames: array('0+', 'string'),
  },
)
export type DeleteGroupsRequest = Body<typeof DeleteGroupsRequest>

export const DeleteGroupsResponse = message(
  'DeleteGroupsResponse',
  { key: 42, versions: '0-3', flexible: '2+' },
  {
    throttleTimeMs: int32('0+'),
    results: array('0+', {
      groupId: string('0+', { mapKey: true }),
      errorCode: int16('0+'),
      errorMessage: nullableString('3+', { default: null, ignorable: true }),
    }),
  },
)
export type DeleteGroupsResponse = Body<typeof DeleteGroupsResponse>
