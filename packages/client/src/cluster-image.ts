/** Pure: what the client knows of the cluster, made from Metadata responses: brokers, controller, who leads what. */

import { errorByCode } from '@mq/protocol'
import type { PartitionMetadata } from './producer/partitioner.js'
import type { ResponseOf } from './versions.js'

export interface BrokerAddress {
  readonly nodeId: number
  readonly host: string
  readonly port: number
  readonly rack: string | null
}

export interface TopicImage {
  readonly partitions: PartitionMetadata[]
  /** Answered for the topic as a whole; 0 when well. */
  readonly errorCode: number
}

export interface ClusterImage {
  readonly clusterId: string | null
  readonly controllerId: number | null
  readonly brokers: ReadonlyMap<number, BrokerAddress>
  readonly topics: ReadonlyMap<string, TopicImage>
}

export const EMPTY_IMAGE: ClusterImage = { clusterId: null, controllerId: null, brokers: new Map(), topics: new Map() }

/** A new image: brokers and controller as answered, the answered topics replaced, the others kept. */
export function withMetadata(image: ClusterImage, response: ResponseOf<'Metadata'>): ClusterImage {
  const topics = new Map(image.topics)
  for (const { name, errorCode, partitions } of response.topics) {
    if (name === null) continue
    if (errorByCode(errorCode) === 'UNKNOWN_TOPIC_OR_PARTITION') {
      topics.delete(name)
      continue
    }
    topics.set(name, {
      errorCode,
      partitions: partitions
        .map((partition) => ({
          partitionErrorCode: partition.errorCode,
          partitionId: partition.partitionIndex,
          leader: partition.leaderId,
          replicas: partition.replicaNodes,
          isr: partition.isrNodes,
          offlineReplicas: partition.offlineReplicas,
        }))
        .sort((one, other) => one.partitionId - other.partitionId),
    })
  }
  return {
    clusterId: response.clusterId,
    controllerId: response.controllerId === -1 ? null : response.controllerId,
    brokers: new Map(response.brokers.map(({ nodeId, host, port, rack }) => [nodeId, { nodeId, host, port, rack }])),
    topics,
  }
}

/** The broker that leads a partition, or undefined while nobody does (or nobody told us). */
export function leaderOf(image: ClusterImage, topic: string, partition: number): number | undefined {
  const found = image.topics.get(topic)?.partitions.find(({ partitionId }) => partitionId === partition)
  return found === undefined || found.leader < 0 ? undefined : found.leader
}

/** Splits `host:port`; IPv6 hosts stand in brackets, or end at the last colon. Throws a RangeError for what is no address. */
export function parseAddress(text: string): { host: string; port: number } {
  const withoutScheme = text.replace(/^[a-z][a-z0-9+.-]*:\/\//i, '')
  const match = /^\[([^\]]+)\]:(\d+)$/.exec(withoutScheme) ?? /^(.+):(\d+)$/.exec(withoutScheme)
  const port = match === null ? Number.NaN : Number(match[2])
  if (match === null || !(port >= 1 && port <= 65535))
    throw new RangeError(`"${text}" is no broker address: expected host:port, e.g. "localhost:9092" or "[::1]:9092"`)
  return { host: match[1]!, port }
}
