/** LeaveGroup v0-5. v3 several members at once, by instance id too (KIP-345), v5 reason (KIP-800). */
import { errorCode } from '@mq/protocol'
import { handler } from './handler.js'

export const leaveGroup = handler('LeaveGroup', { versions: '0-5' }, async (request, { apiVersion, broker }) => {
  if (apiVersion >= 3) return broker.groups.run(request.groupId, { kind: 'leave', ...request })
  const members = [{ memberId: request.memberId, groupInstanceId: null, reason: null }]
  const reply = await broker.groups.run(request.groupId, { kind: 'leave', groupId: request.groupId, members })
  // Older versions have one error for the group and its only member.
  return { errorCode: reply.errorCode === errorCode('NONE') ? (reply.members[0]?.errorCode ?? reply.errorCode) : reply.errorCode }
})
