/**
 * Which protocol a group uses, and what its members subscribe to. The coordinator compares protocol names and passes their bytes on;
 * only the topics of consumers are looked at, to know which offsets may be deleted.
 */
import { ConsumerProtocolSubscription, decodeBody } from '@mq/protocol'
import type { Group, Protocol } from './group.js'

/** Whether somebody with these protocols may join: in a group with members there must be one that all of them know. */
export function supports(group: Group, protocolType: string, protocols: readonly Protocol[]): boolean {
  if (group.state === 'Empty') return protocolType !== '' && protocols.length > 0
  return group.protocolType === protocolType && protocols.some(({ name }) => group.isKnownToAll(name))
}

/** Each member votes for the first protocol of its list that all know; most votes win, the earlier one of equals. Null: none fits. */
export function selectProtocol(group: Group): string | null {
  const votes = new Map<string, number>()
  for (const { protocols } of group.members()) {
    const favourite = protocols.find(({ name }) => group.isKnownToAll(name))
    if (favourite) votes.set(favourite.name, (votes.get(favourite.name) ?? 0) + 1)
  }
  let winner: string | null = null
  for (const [name, count] of votes) if (winner === null || count > votes.get(winner)!) winner = name
  return winner
}

export function metadataFor(protocols: readonly Protocol[], name: string): Buffer | undefined {
  return protocols.find((protocol) => protocol.name === name)?.metadata
}

/** Whether a member that joins again brings what it brought before, in the same order. */
export function areSame(a: readonly Protocol[], b: readonly Protocol[]): boolean {
  return a.length === b.length && a.every(({ name, metadata }, i) => name === b[i]!.name && metadata.equals(b[i]!.metadata))
}

/** All topics that the members of a consumer group named in the present generation; null when that is not known. */
export function subscribedTopics(group: Group): ReadonlySet<string> | null {
  if (!group.isConsumerGroup) return null
  const topics = new Set<string>()
  if (group.size === 0) return topics
  if (group.protocolName === null) return null
  for (const { protocols } of group.members()) {
    const named = topicsOf(metadataFor(protocols, group.protocolName))
    if (named === null) return null
    for (const topic of named) topics.add(topic)
  }
  return topics
}

/** Version 0 is the beginning of every later version, and all that is asked for stands there. Null: not a subscription. */
function topicsOf(metadata: Buffer | undefined): readonly string[] | null {
  if (metadata === undefined || metadata.length < 2 || metadata.readInt16BE(0) < 0) return null
  try {
    return decodeBody(ConsumerProtocolSubscription, 0, metadata.subarray(2)).topics
  } catch {
    return null
  }
}
