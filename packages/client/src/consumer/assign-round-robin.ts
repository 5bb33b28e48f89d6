/** The default assigner, kafkajs' own (name and bytes, so that members of both share a group): all partitions dealt out one by one. */

import type { Logger } from '../logger.js'
import { AssignerProtocol, type Assignment } from './assigner-protocol.js'

export interface GroupMember {
  memberId: string
  memberMetadata: Buffer
}
export interface GroupMemberAssignment {
  memberId: string
  memberAssignment: Buffer
}
export interface GroupState {
  name: string
  metadata: Buffer
}

export interface Assigner {
  name: string
  version: number
  assign(group: { members: GroupMember[]; topics: string[] }): Promise<GroupMemberAssignment[]>
  protocol(subscription: { topics: string[] }): GroupState
}

/** What an assigner may ask of the cluster; kafkajs hands out its whole cluster, others use only this. */
export interface AssignerCluster {
  findTopicPartitionMetadata(topic: string): { partitionId: number }[]
}

export type PartitionAssigner<Cluster extends AssignerCluster = AssignerCluster> = (config: {
  cluster: Cluster
  groupId: string
  logger: Logger
}) => Assigner

const NAME = 'RoundRobinAssigner'
const VERSION = 0

/**
 * Pure: goes round the members, sorted by id, skipping those that do not subscribe to the partition's topic
 * (kafkajs deals such a partition to a member that then ignores it). A member that gets nothing has no entry.
 */
export function dealOut(
  members: readonly { memberId: string; topics: readonly string[] }[],
  partitions: readonly { topic: string; partition: number }[],
): Map<string, Assignment> {
  const sorted = [...members].sort((one, other) => (one.memberId < other.memberId ? -1 : 1))
  const dealt = new Map<string, Assignment>()
  let turn = 0
  for (const { topic, partition } of partitions) {
    const skipped = sorted.findIndex((_, ahead) => sorted[(turn + ahead) % sorted.length]!.topics.includes(topic))
    if (skipped === -1) continue
    const { memberId } = sorted[(turn + skipped) % sorted.length]!
    turn = (turn + skipped + 1) % sorted.length
    const assignment = dealt.get(memberId) ?? (Object.create(null) as Assignment)
    assignment[topic] ??= []
    assignment[topic].push(partition)
    dealt.set(memberId, assignment)
  }
  return dealt
}

export const roundRobin: PartitionAssigner = ({ cluster }) => ({
  name: NAME,
  version: VERSION,
  async assign({ members, topics }) {
    const partitions = topics.flatMap((topic) =>
      cluster.findTopicPartitionMetadata(topic).map(({ partitionId }) => ({ topic, partition: partitionId })),
    )
    const subscribed = members.map(({ memberId, memberMetadata }) => ({
      memberId,
      topics: AssignerProtocol.MemberMetadata.decode(memberMetadata)?.topics ?? topics,
    }))
    return [...dealOut(subscribed, partitions)].map(([memberId, assignment]) => ({
      memberId,
      memberAssignment: AssignerProtocol.MemberAssignment.encode({ version: VERSION, assignment }),
    }))
  },
  protocol({ topics }) {
    return { name: NAME, metadata: AssignerProtocol.MemberMetadata.encode({ version: VERSION, topics }) }
  },
})
