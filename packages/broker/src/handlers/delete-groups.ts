/** DeleteGroups v0-2 (KIP-229): empty groups, with their offsets. */
import { handler } from './handler.js'

export const deleteGroups = handler('DeleteGroups', { versions: '0-2' }, async (request, { broker }) => ({
  results: await Promise.all(
    [...new Set(request.groupsNames)].map(async (groupId) => ({
      groupId,
      errorCode: (await broker.groups.run(groupId, { kind: 'deleteGroup', groupId })).errorCode,
    })),
  ),
}))
