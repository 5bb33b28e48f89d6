/** Public face of @mq/log. */
export { type Cut, Log, type LogPartition, type ReadOptions, type TimestampQuery } from './log.js'
export type { LogDirectories } from './log-directory.js'
export type {
  AbortedTransaction,
  Appended,
  AppendOrigin,
  LogError,
  ProducerStateView,
  Read,
  ReadLimit,
  RecordError,
  Refused,
  TimestampOffset,
} from './outcomes.js'
export type {
  Clock,
  Disk,
  DiskEntry,
  DiskErrorCode,
  DiskFile,
  DiskStat,
  Logger,
  OpenMode,
  Random,
  Timers,
  Turn,
} from './ports.js'
export { DiskError, SILENT } from './ports.js'
export { DEFAULT_TOPIC_CONFIG, type TopicConfig } from './topic-config.js'
