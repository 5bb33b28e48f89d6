/** Pure: what programs hand to the consumer, checked. The texts are kafkajs' own: programs and tests match on them. */

import { KafkaJSNonRetriableError } from '../errors.js'
import type { TopicPartitionOffset } from './positions.js'

export interface TopicPartitions {
  topic: string
  partitions?: number[]
}

export interface TopicPartitionOffsetAndMetadata {
  topic: string
  partition: number
  offset: string
  metadata?: string | null
}

/** Offsets that stand for a place and not for themselves. */
export const LATEST = -1
export const EARLIEST = -2

export function checkTopicPartition(topic: string, partition: number): void {
  if (!topic) throw new KafkaJSNonRetriableError(`Invalid topic ${topic}`)
  if (Number.isNaN(Number(partition)))
    throw new KafkaJSNonRetriableError(`Invalid partition, expected a number received ${partition}`)
}

function parseOffset(offset: unknown, least: number): number {
  const text = typeof offset === 'string' || typeof offset === 'number' ? String(offset).trim() : ''
  const parsed = /^-?\d+$/.test(text) ? Number(text) : Number.NaN
  if (!Number.isSafeInteger(parsed)) throw new KafkaJSNonRetriableError(`Invalid offset, expected a long received ${offset}`)
  if (parsed < least) throw new KafkaJSNonRetriableError('Offset must not be a negative number')
  return parsed
}

export function parseSeek({
  topic,
  partition,
  offset,
}: {
  topic: string
  partition: number
  offset: string
}): TopicPartitionOffset {
  checkTopicPartition(topic, partition)
  return { topic, partition: Number(partition), offset: parseOffset(offset, EARLIEST) }
}

export function parseCommits(
  topicPartitions: readonly TopicPartitionOffsetAndMetadata[],
): (TopicPartitionOffset & { metadata: string | null })[] {
  return topicPartitions.map(({ topic, partition, offset, metadata = null }) => {
    checkTopicPartition(topic, partition)
    const parsed = parseOffset(offset, 0)
    if (metadata !== null && typeof metadata !== 'string')
      throw new KafkaJSNonRetriableError(`Invalid offset metadata, expected string or null, received ${metadata}`)
    return { topic, partition: Number(partition), offset: parsed, metadata }
  })
}

/** `verb` is `pause` or `resume`. */
export function checkTopics(topics: readonly TopicPartitions[], verb: 'pause' | 'resume'): void {
  for (const each of topics) {
    if (!each?.topic) throw new KafkaJSNonRetriableError(`Invalid topic ${String(each?.topic || each)}`)
    if (
      each.partitions !== undefined &&
      (!Array.isArray(each.partitions) || each.partitions.some((one) => Number.isNaN(Number(one))))
    )
      throw new KafkaJSNonRetriableError(
        `Array of valid partitions required to ${verb} specific partitions instead of ${each.partitions}`,
      )
  }
}

export interface Subscription {
  topics?: (string | RegExp)[]
  topic?: string | RegExp
  fromBeginning?: boolean
}

export function checkSubscription({ topics, topic }: Subscription): (string | RegExp)[] {
  if (!topic && !topics) throw new KafkaJSNonRetriableError('Missing required argument "topics"')
  if (topics !== undefined && topics !== null && !Array.isArray(topics))
    throw new KafkaJSNonRetriableError('Argument "topics" must be an array')
  const wanted = topics ?? [topic as string | RegExp]
  for (const each of wanted)
    if (typeof each !== 'string' && !(each instanceof RegExp))
      throw new KafkaJSNonRetriableError(
        `Invalid topic ${String(each)} (${typeof each}), the topic name has to be a String or a RegExp`,
      )
  return wanted
}

/** A RegExp with the flag `g` or `y` remembers where it stopped: here each name is tested from its beginning. */
export function matches(pattern: RegExp, name: string): boolean {
  return new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, '')).test(name)
}
