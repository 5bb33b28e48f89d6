/** Which partition a message goes to: Java's choice for keys by default, kafkajs' old (wrong) hash for those who began with it. */

import { murmur2 } from '@mq/protocol'
import type { Message } from './messages.js'

export interface PartitionMetadata {
  partitionErrorCode: number
  partitionId: number
  /** Broker id, -1 when there is none now. */
  leader: number
  replicas: number[]
  isr: number[]
  offlineReplicas?: number[]
}

export interface PartitionerArgs {
  topic: string
  partitionMetadata: PartitionMetadata[]
  message: Message
}

export type Partitioner = (args: PartitionerArgs) => number
/** Called once for each producer; kafkajs' name. */
export type ICustomPartitioner = () => Partitioner

const positive = (hash: number): number => hash & 0x7fffffff
const bytesOf = (key: Buffer | string): Buffer => (Buffer.isBuffer(key) ? key : Buffer.from(String(key)))

/**
 * kafkajs' hash before version 2: murmur2 in floating point, so that products above 2^53 lose their low bits, and with one turn too many
 * for keys whose length is no multiple of four. Wrong, but keys that were placed by it must stay where they are.
 */
export function legacyMurmur2(key: Buffer | string): number {
  const MULTIPLIER = 0x5bd1e995
  const data = bytesOf(key)
  const byte = (at: number): number => data[at] ?? 0
  let hash = 0x9747b28c ^ data.length
  for (let at = 0; at < data.length; at += 4) {
    let word: number = byte(at) + (byte(at + 1) << 8) + (byte(at + 2) << 16) + (byte(at + 3) << 24)
    word *= MULTIPLIER
    word ^= word >>> 24
    word *= MULTIPLIER
    hash *= MULTIPLIER
    hash ^= word
  }
  const tail = data.length & ~3
  const left = data.length % 4
  if (left === 3) hash ^= byte(tail + 2) << 16
  if (left >= 2) hash ^= byte(tail + 1) << 8
  if (left >= 1) {
    hash ^= byte(tail)
    hash *= MULTIPLIER
  }
  hash ^= hash >>> 13
  hash *= MULTIPLIER
  hash ^= hash >>> 15
  return hash
}

/** Without a key: round robin over the partitions that have a leader, from a random start. `startAt` draws a number in [0, 2^32). */
function partitionerWith(hash: (key: Buffer | string) => number, startAt: () => number): Partitioner {
  const counters = new Map<string, number>()
  return ({ topic, partitionMetadata, message }) => {
    if (message.partition !== null && message.partition !== undefined) return message.partition
    if (message.key !== null && message.key !== undefined) return positive(hash(message.key)) % partitionMetadata.length
    const turn = (counters.get(topic) ?? startAt()) + 1
    counters.set(topic, turn)
    const available = partitionMetadata.filter((partition) => partition.leader >= 0)
    if (available.length === 0) return positive(turn) % partitionMetadata.length
    return available[positive(turn) % available.length]!.partitionId
  }
}

/** Java's default for keyed messages (murmur2). */
export const defaultPartitioner =
  (startAt: () => number): ICustomPartitioner =>
  () =>
    partitionerWith((key) => murmur2(bytesOf(key)), startAt)

/** What kafkajs 1.x used. */
export const legacyPartitioner =
  (startAt: () => number): ICustomPartitioner =>
  () =>
    partitionerWith(legacyMurmur2, startAt)
