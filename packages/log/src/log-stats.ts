/** What a log holds and costs, as numbers: for metrics, tools and people. */
import type { TopicPartition } from '@mq/protocol'
import type { LogState } from './log-state.js'
import type { Segment } from './segment.js'

export interface SegmentStats {
  readonly baseOffset: number
  readonly sizeInBytes: number
  /** Largest record time in milliseconds, -1 when there is none or nobody has asked for it yet. */
  readonly maxTimestamp: number
  /** When its data file was written last, milliseconds by the wall clock. */
  readonly modifiedMs: number
  /** Of its offset and time index, as far as they are in memory. */
  readonly indexMemoryBytes: number
  /** Aborted transactions whose marker lies in it. */
  readonly abortedTransactions: number
  readonly isFileOpen: boolean
}

export interface LogStats extends TopicPartition {
  readonly path: string
  /** Of the data files. */
  readonly sizeInBytes: number
  readonly logStartOffset: number
  readonly logEndOffset: number
  readonly highWatermark: number
  readonly lastStableOffset: number
  /** Everything below it is known to be on the disk. */
  readonly recoveryPoint: number
  /** -1 before the first. */
  readonly latestLeaderEpoch: number
  /** In the order of their offsets; the last is the active one. */
  readonly segments: readonly SegmentStats[]
  /** Idempotent and transactional producers that it knows. */
  readonly producers: number
  readonly openTransactions: number
  /** Of all its segments. */
  readonly indexMemoryBytes: number
  /** Of its data files. */
  readonly openFiles: number
}

/** All logs of a directory together. */
export interface DirectoryStats extends Pick<LogStats, (typeof SUMMED)[number]> {
  readonly path: string
  readonly logs: number
  readonly segments: number
}

const SUMMED = ['sizeInBytes', 'producers', 'openTransactions', 'indexMemoryBytes', 'openFiles'] as const

export function directoryStatsOf(path: string, logs: readonly LogStats[]): DirectoryStats {
  const sum = (figure: (log: LogStats) => number) => logs.reduce((all, log) => all + figure(log), 0)
  const sums = Object.fromEntries(SUMMED.map((name) => [name, sum((log) => log[name])])) as Pick<
    LogStats,
    (typeof SUMMED)[number]
  >
  return { path, logs: logs.length, segments: sum(({ segments }) => segments.length), ...sums }
}

export function statsOf(state: LogState, { topic, partition }: TopicPartition): LogStats {
  const segments = state.segments.all.map(segmentStats)
  return {
    topic,
    partition,
    path: state.folder.path,
    sizeInBytes: state.segments.sizeInBytes,
    logStartOffset: state.logStartOffset,
    logEndOffset: state.logEndOffset,
    highWatermark: state.highWatermark,
    lastStableOffset: state.lastStableOffset,
    recoveryPoint: state.recoveryPoint,
    latestLeaderEpoch: state.epochs.latest,
    segments,
    producers: state.producers.size,
    openTransactions: state.producers.openCount,
    indexMemoryBytes: segments.reduce((sum, { indexMemoryBytes }) => sum + indexMemoryBytes, 0),
    openFiles: segments.filter(({ isFileOpen }) => isFileOpen).length,
  }
}

function segmentStats(segment: Segment): SegmentStats {
  return {
    baseOffset: segment.baseOffset,
    sizeInBytes: segment.sizeInBytes,
    maxTimestamp: segment.maxTimestamp,
    modifiedMs: segment.modifiedMs(),
    indexMemoryBytes: segment.indexMemoryBytes,
    abortedTransactions: segment.txns.entries.length,
    isFileOpen: segment.data.isOpen,
  }
}
