/** Whether whoever speaks is a member, and under the name that its instance has now: the checks that most requests share. */
import type { ErrorName } from '@mq/protocol'
import type { Group } from './group.js'

export interface Speaker {
  readonly memberId: string
  readonly groupInstanceId: string | null
}

/** Null: it is a member. A static member that was replaced is fenced (KIP-345). */
export function checkMember(group: Group, { memberId, groupInstanceId }: Speaker): ErrorName | null {
  if (groupInstanceId !== null) {
    const current = group.staticMember(groupInstanceId)
    if (current === undefined) return 'UNKNOWN_MEMBER_ID'
    if (current !== memberId) return 'FENCED_INSTANCE_ID'
  }
  return group.has(memberId) ? null : 'UNKNOWN_MEMBER_ID'
}

/** The same, and whether it speaks of the present generation. */
export function checkGeneration(group: Group, speaker: Speaker & { readonly generationId: number }): ErrorName | null {
  return checkMember(group, speaker) ?? (speaker.generationId === group.generation ? null : 'ILLEGAL_GENERATION')
}
