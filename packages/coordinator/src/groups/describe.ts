/** DescribeGroups and ListGroups: what the outside sees of groups. They only read. */
import { errorCode } from '@mq/protocol'
import type { DescribedGroup, ListedGroup } from './commands.js'
import { NO_ASSIGNMENT } from './group.js'
import { metadataFor } from './protocols.js'
import type { GroupsState } from './state.js'

/** A group that is not there is Dead, without an error. What members said and own is told of a stable group only. */
export function describeGroup(state: GroupsState, groupId: string): DescribedGroup {
  const group = state.groups.get(groupId)
  if (!group)
    return { errorCode: errorCode('NONE'), groupId, groupState: 'Dead', protocolType: '', protocolData: '', members: [] }
  const protocol = group.state === 'Stable' ? group.protocolName : null
  return {
    errorCode: errorCode('NONE'),
    groupId,
    groupState: group.state,
    protocolType: group.protocolType ?? '',
    protocolData: protocol ?? '',
    members: Array.from(group.members(), (member) => ({
      memberId: member.memberId,
      groupInstanceId: member.groupInstanceId,
      clientId: member.clientId,
      clientHost: member.clientHost,
      memberMetadata: (protocol !== null && metadataFor(member.protocols, protocol)) || NO_ASSIGNMENT,
      memberAssignment: protocol === null ? NO_ASSIGNMENT : member.assignment,
    })),
  }
}

export interface GroupFilter {
  /** In any letter case; empty: all. */
  readonly states: readonly string[]
  readonly types: readonly string[]
}

/** Every group here is a classic one. */
const TYPE = 'classic'

export function listGroups(state: GroupsState, { states, types }: GroupFilter): ListedGroup[] {
  if (types.length > 0 && !types.some((type) => type.toLowerCase() === TYPE)) return []
  const wanted = new Set(states.map((name) => name.toLowerCase()))
  const listed: ListedGroup[] = []
  for (const { groupId, protocolType, state: groupState } of state.groups.values()) {
    if (wanted.size > 0 && !wanted.has(groupState.toLowerCase())) continue
    listed.push({ groupId, protocolType: protocolType ?? '', groupState, groupType: TYPE })
  }
  return listed
}
