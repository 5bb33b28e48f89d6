/** ListGroups v0-5: the groups that this broker coordinates. v4 by state (KIP-518), v5 by type (KIP-848). */
import { handler } from './handler.js'

export const listGroups = handler('ListGroups', { versions: '0-5' }, (request, { broker }) =>
  broker.groups.list({ states: request.statesFilter, types: request.typesFilter }),
)
