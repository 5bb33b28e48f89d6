/**
 * All `log.dirs` of a broker: which partitions they hold, and what happens to a directory that fails.
 */
import type { Log, LogPartition } from './log.js'
import type { TopicConfig } from './topic-config.js'

export interface LogDirectories {
  get(partition: LogPartition): Log | undefined
  /** In the directory with the fewest partitions; resolves when the folder is on disk. */
  create(partition: LogPartition, topicId: string | null, config: TopicConfig): Promise<Log>
  /** Renames the folder to `-delete` at once; its files go after `file.delete.delay.ms`. */
  delete(partition: LogPartition): Promise<void>
  all(): Iterable<Log>
  setTopicConfig(topic: string, config: TopicConfig): void
  /** Nothing of this topic is deleted or cleaned until it is released: its configs are not known yet. */
  holdRetention(topic: string): void
  releaseRetention(topic: string): void
  wasCleanShutdown(directory: string): boolean
  checkpointAll(): Promise<void>
  close(): Promise<void>
}
