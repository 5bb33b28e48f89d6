/** DescribeGroups v0-5. v3 authorized operations (KIP-430), v4 static members. A group that is not there is Dead, without an error. */
import { errorCode } from '@mq/protocol'
import { handler } from './handler.js'
import { GROUP_OPERATIONS, OPERATIONS_NOT_ASKED } from './operations.js'

export const describeGroups = handler('DescribeGroups', { versions: '0-5' }, (request, { broker }) => ({
  groups: request.groups.map((groupId) => {
    const group = broker.groups.describe(groupId)
    const isAsked = request.includeAuthorizedOperations && group.errorCode === errorCode('NONE')
    return { ...group, authorizedOperations: isAsked ? GROUP_OPERATIONS : OPERATIONS_NOT_ASKED }
  }),
}))
