/** What programs are told of a group: the shape is kafkajs'. */

import type { ResponseOf } from './versions.js'

export interface GroupDescription {
  /** The protocol's code; 0 when well. */
  errorCode: number
  groupId: string
  members: { memberId: string; clientId: string; clientHost: string; memberMetadata: Buffer; memberAssignment: Buffer }[]
  protocol: string
  protocolType: string
  state: ConsumerGroupState
}

export type ConsumerGroupState = 'Unknown' | 'PreparingRebalance' | 'CompletingRebalance' | 'Stable' | 'Dead' | 'Empty'

export function groupDescription(group: ResponseOf<'DescribeGroups'>['groups'][number]): GroupDescription {
  return {
    errorCode: group.errorCode,
    groupId: group.groupId,
    members: group.members.map(({ memberId, clientId, clientHost, memberMetadata, memberAssignment }) => ({
      memberId,
      clientId,
      clientHost,
      memberMetadata,
      memberAssignment,
    })),
    protocol: group.protocolData,
    protocolType: group.protocolType,
    state: group.groupState as ConsumerGroupState,
  }
}
