/**
 * JoinGroup v0-9. v1 rebalance timeout (KIP-62), v4 MEMBER_ID_REQUIRED (KIP-394), v5 static members (KIP-345), v7 protocol type in the
 * answer, v8 reason (KIP-800), v9 skip assignment (KIP-814).
 */
import { clientHost } from './client-host.js'
import { handler } from './handler.js'

export const joinGroup = handler('JoinGroup', { versions: '0-9' }, async (request, context) => {
  const { apiVersion, broker } = context
  const join = {
    kind: 'join' as const,
    ...request,
    clientId: context.clientId ?? '',
    clientHost: clientHost(context.clientAddress),
    // v0 has one timeout for both.
    rebalanceTimeoutMs: apiVersion === 0 ? request.sessionTimeoutMs : request.rebalanceTimeoutMs,
    requiresKnownMemberId: apiVersion >= 4,
    supportsSkippingAssignment: apiVersion >= 9,
  }
  const reply = await broker.groups.run(request.groupId, join, (gone) => context.onGone(gone))
  return { ...reply, protocolName: reply.protocolName ?? (apiVersion >= 7 ? null : '') }
})
