/** From a topic and an index to the partition here, or to the error that says why not. */
import type { Partition } from '@mq/replica'
import type { BrokerServices } from '../services.js'

export type NotHere = 'UNKNOWN_TOPIC_OR_PARTITION' | 'NOT_LEADER_OR_FOLLOWER'

/**
 * A partition of the cluster that has no replica here sends the client to its leader; one that does not exist is unknown. What is
 * led here exists: the picture of the cluster is asked about the others alone.
 */
export function hostedPartition(broker: BrokerServices, topic: string, index: number): Partition | NotHere {
  const partition = broker.partitions.get(topic, index)
  if (partition?.isLeader) return partition
  if (broker.controller.image().partition(topic, index) === undefined) return 'UNKNOWN_TOPIC_OR_PARTITION'
  return partition ?? 'NOT_LEADER_OR_FOLLOWER'
}
