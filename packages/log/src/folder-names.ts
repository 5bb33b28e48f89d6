/**
 * Names of partition folders (`topic-3`, and on their way out or in: `topic-3.<id>-delete`, `-stray`, `-future`) and of segment
 * files (20 digits and a suffix).
 */
import type { TopicPartition } from '@mq/protocol'

export type FolderKind = 'partition' | 'delete' | 'stray' | 'future'

export interface PartitionFolder {
  readonly kind: FolderKind
  readonly partition: TopicPartition
}

const MARKED = /^(\S+)-(\d+)\.(\S+)-(delete|stray|future)$/
const PLAIN = /^(\S+)-(\d+)$/

/** Longest name a folder may have; Kafka cuts the topic to stay within it. */
const LONGEST_NAME = 255

/** Null for a folder that is none of a partition. */
export function partitionFolder(name: string): PartitionFolder | null {
  const marked = MARKED.exec(name)
  if (marked !== null) {
    return { kind: marked[4] as FolderKind, partition: { topic: marked[1]!, partition: Number(marked[2]) } }
  }
  const plain = PLAIN.exec(name)
  if (plain === null || plain[2] !== String(Number(plain[2])) || Number(plain[2]) > 0x7fff_ffff) return null
  return { kind: 'partition', partition: { topic: plain[1]!, partition: Number(plain[2]) } }
}

/** `id` is 32 hex digits: two deleted partitions of the same name must not meet. */
export function markedFolderName(
  { topic, partition }: TopicPartition,
  kind: Exclude<FolderKind, 'partition'>,
  id: string,
): string {
  const suffix = `-${partition}.${id}-${kind}`
  return topic.slice(0, LONGEST_NAME - suffix.length) + suffix
}

export type SegmentFileKind = 'log' | 'index' | 'timeindex' | 'txnindex' | 'snapshot'

export const segmentFileName = (baseOffset: number, kind: SegmentFileKind): string =>
  `${String(baseOffset).padStart(20, '0')}.${kind}`

export interface SegmentFile {
  readonly baseOffset: number
  readonly kind: SegmentFileKind
  /** What is left when a change was interrupted: `.deleted`, `.cleaned`, `.swap`; empty for a file in use. */
  readonly suffix: '' | '.deleted' | '.cleaned' | '.swap'
}

export function segmentFile(name: string): SegmentFile | null {
  const match = /^(\d{20})\.(log|index|timeindex|txnindex|snapshot)(\.deleted|\.cleaned|\.swap|)$/.exec(name)
  if (match === null || !Number.isSafeInteger(Number(match[1]))) return null
  return { baseOffset: Number(match[1]), kind: match[2] as SegmentFileKind, suffix: match[3] as SegmentFile['suffix'] }
}
