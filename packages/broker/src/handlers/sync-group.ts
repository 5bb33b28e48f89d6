/** SyncGroup v0-5. v3 static members (KIP-345), v5 protocol type and name, which must be there then (KIP-559). */
import { errorCode } from '@mq/protocol'
import { handler } from './handler.js'

export const syncGroup = handler('SyncGroup', { versions: '0-5' }, (request, { apiVersion, broker }) => {
  if (apiVersion >= 5 && (request.protocolType === null || request.protocolName === null)) {
    return { errorCode: errorCode('INCONSISTENT_GROUP_PROTOCOL') }
  }
  return broker.groups.run(request.groupId, { kind: 'sync', ...request })
})
