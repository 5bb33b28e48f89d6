/** Public face of @mq/log. */

export type { AppendOptions } from './append-queue.js'
export { LEADER_EPOCHS, makeDirectory, readEpochs } from './checkpoint.js'
export { Cleaner, cleanerProblem, type Uncleanable } from './cleaner.js'
export { type CleanerConfig, DEFAULT_CLEANER_CONFIG } from './cleaner-config.js'
export { LOG_CONFIG } from './config.js'
export { COMPACTION_CONFIG } from './config-compaction.js'
export { DEFAULT_DIRECTORIES_CONFIG, type DirectoriesConfig } from './directory-config.js'
export type { MetaProperties } from './directory-files.js'
export { type Locking, lockDirectory, unlockDirectory } from './directory-lock.js'
export { nodeDisk, nodeProcesses } from './disk-node.js'
export { type DownConverted, downConverted } from './down-convert.js'
export {
  type DumpEntry,
  type DumpOptions,
  kindOfLogFile,
  type LogFileKind,
  logFileEntries,
  logRecordBytes,
  logRecordEntries,
} from './dump.js'
export { partitionFolder, segmentFile } from './folder-names.js'
export { type Cut, PartitionLog } from './log.js'
export type { Log, LogPartition, ReadOptions, SegmentView, TimestampQuery } from './log-api.js'
export { BrokerLogDirectories, LogDirectories, type LogDirectoriesOptions } from './log-directories.js'
export { LogDirectoryError, readDirectoryOwner } from './log-directory.js'
export { batchesOf, type Isolation, type IterableLog, type IterateOptions, recordsOf, type StartOffset } from './log-records.js'
export type { DirectoryStats, LogStats, SegmentStats } from './log-stats.js'
export type { LogView, ReadBytesOptions } from './log-view.js'
export { MemoryDisk } from './memory-disk.js'
export { nodeEnvironment } from './node-environment.js'
export { OffloadError } from './offload.js'
export {
  type AppendedRecords,
  type AppendRecordsOptions,
  type LogEnvironment,
  type NewRecord,
  type OpenDirectoryOptions,
  type OpenLog,
  type OpenLogDirectory,
  type OpenLogOptions,
  openLog,
  openLogDirectory,
} from './open-log.js'
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
  Offload,
  OpenMode,
  Processes,
  ProcessIdentity,
  Random,
  Timers,
  Turn,
} from './ports.js'
export { DiskError, SILENT } from './ports.js'
export { readProducerSnapshot } from './producer-snapshot.js'
export { openDirectoryReadOnly, type ReadOnlyDirectory } from './read-only-directory.js'
export { type Damage, openReadOnly, type ReadOnlyLog, type ReadOnlyOptions } from './read-only-log.js'
export { RefusedError } from './refused-error.js'
export { DEFAULT_TOPIC_CONFIG, type TopicConfig } from './topic-config.js'
export type { Finding, Verified } from './verify/finding.js'
export { type VerifyOptions, type VerifyTarget, verifyLogs, verifyTarget } from './verify/verify.js'
