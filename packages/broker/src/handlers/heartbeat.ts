/** Heartbeat v0-4. v3 static members (KIP-345). */
import { handler } from './handler.js'

export const heartbeat = handler('Heartbeat', { versions: '0-4' }, (request, { broker }) =>
  broker.groups.run(request.groupId, { kind: 'heartbeat', ...request }),
)
