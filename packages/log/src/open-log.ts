/**
 * A log for one's own use, without a broker: opened in one line, its ends moved by nobody else. The files are those of a broker's
 * log directory: each log is a folder `topic-partition` in it.
 */

import { type AppendRecord, BatchBuilder, type CodecName } from '@mq/protocol'
import { absolutePath } from './absolute-path.js'
import type { PartitionLog } from './log.js'
import type { LogPartition } from './log-api.js'
import { BrokerLogDirectories } from './log-directories.js'
import { readDirectoryOwner } from './log-directory.js'
import { type DirectoryStats, directoryStatsOf } from './log-stats.js'
import { LogView } from './log-view.js'
import { nodeEnvironment } from './node-environment.js'
import type { Appended, AppendOrigin } from './outcomes.js'
import type { Clock, Disk, Logger, Offload, Processes, Random, Time, Timers, Turn } from './ports.js'
import { orThrow } from './refused-error.js'
import { DEFAULT_TOPIC_CONFIG, type TopicConfig } from './topic-config.js'

/** The outside; by default this machine's. */
export interface LogEnvironment {
  readonly clock: Clock
  readonly timers: Timers
  readonly random: Random
  readonly disk: Disk
  readonly processes: Processes
  readonly pause?: Turn
  readonly offload?: (disk: Disk, time: Time) => Offload
}

export interface OpenDirectoryOptions {
  /**
   * By the documented names of topic configs, for all logs in the directory. Default: Kafka's, but that nothing is deleted by time or
   * size. `'flush.messages': 1` makes each append wait for the disk.
   */
  readonly config?: Partial<TopicConfig>
  /** Told what a start repaired and why the directory failed; default: silence. */
  readonly logger?: Logger
  readonly environment?: LogEnvironment
}

export interface OpenLogOptions extends OpenDirectoryOptions, Partial<LogPartition> {}

/** A record to append. */
export interface NewRecord {
  readonly key?: Buffer | string | null
  readonly value: Buffer | string | null
  readonly headers?: AppendRecord['headers']
  /** Milliseconds since 1970; default: now. */
  readonly timestamp?: number | bigint
}

export interface AppendRecordsOptions {
  /** Default none. */
  readonly codec?: CodecName
}

export type AppendedRecords = Pick<Appended, 'firstOffset' | 'lastOffset' | 'logAppendTime'>

/** Records are never deleted unless the config says so: whoever opens a directory may not know what its topics were set to. */
const KEEP_ALL: Partial<TopicConfig> = { 'retention.ms': -1, 'retention.bytes': -1 }

/**
 * Opens one log of a directory, and makes both where they are missing. The directory is locked until the log is closed.
 * @param directory holds the folder `topic-partition` (by default `log-0`)
 * @throws LogDirectoryError when somebody else uses the directory; DiskError
 */
export async function openLog(directory: string, options: OpenLogOptions = {}): Promise<OpenLog> {
  const { topic = 'log', partition = 0 } = options
  const opened = await openLogDirectory(directory, options)
  try {
    const log = await opened.open({ topic, partition })
    log.closes(opened)
    return log
  } catch (error) {
    await opened.close()
    throw error
  }
}

/**
 * Opens a directory of logs, repairs what the last stop left undone, and locks it until it is closed.
 * @throws LogDirectoryError when somebody else uses it; DiskError
 */
export async function openLogDirectory(directory: string, options: OpenDirectoryOptions = {}): Promise<OpenLogDirectory> {
  const { environment = nodeEnvironment, logger } = options
  const path = absolutePath(directory)
  const config: TopicConfig = { ...DEFAULT_TOPIC_CONFIG, ...KEEP_ALL, ...options.config }
  const owner = readDirectoryOwner(environment.disk, path)
  const directories = await BrokerLogDirectories.open({
    ...environment,
    dirs: [path],
    // Whoever it belongs to goes on owning it; a new one belongs to nobody, and a broker may take it over.
    brokerId: owner?.brokerId ?? -1,
    topicConfig: () => config,
    ...(logger === undefined ? {} : { logger }),
  })
  return new OpenLogDirectory(path, directories, config, environment)
}

export class OpenLogDirectory {
  readonly #directories: BrokerLogDirectories
  readonly #config: TopicConfig
  readonly #environment: LogEnvironment

  constructor(
    readonly path: string,
    directories: BrokerLogDirectories,
    config: TopicConfig,
    environment: LogEnvironment,
  ) {
    this.#directories = directories
    this.#config = config
    this.#environment = environment
  }

  /** The logs in it. */
  get logs(): OpenLog[] {
    return [...this.#directories.all()].map((log) => this.#opened(log))
  }

  /** What its logs hold and cost together. */
  stats(): DirectoryStats {
    return directoryStatsOf(
      this.path,
      this.logs.map((log) => log.stats()),
    )
  }

  get(partition: LogPartition): OpenLog | undefined {
    const log = this.#directories.get(partition)
    return log === undefined ? undefined : this.#opened(log)
  }

  /** The log of that name; it is made when there is none. @throws DiskError */
  async open(partition: LogPartition): Promise<OpenLog> {
    return this.#opened(await this.#directories.create(partition, null, this.#config))
  }

  #opened(log: PartitionLog): OpenLog {
    return new OpenLog(log, this.#environment.clock, () => this.#directories.checkpointAll())
  }

  /** Removes a log with all its files, after `file.delete.delay.ms`. @throws DiskError */
  delete(partition: LogPartition): Promise<void> {
    return this.#directories.delete(partition)
  }

  /** Makes everything durable and lets go of the directory; the next start then has nothing to repair. */
  close(): Promise<void> {
    return this.#directories.close()
  }
}

export class OpenLog extends LogView {
  readonly #clock: Clock
  readonly #checkpoint: () => Promise<void>
  #directory: OpenLogDirectory | null = null

  constructor(
    protected override readonly source: PartitionLog,
    clock: Clock,
    checkpoint: () => Promise<void>,
  ) {
    super()
    this.#clock = clock
    this.#checkpoint = checkpoint
    this.#allIsCommitted()
  }

  /** Its directory was opened for it alone, and closes with it. */
  closes(directory: OpenLogDirectory): void {
    this.#directory = directory
  }

  /** There are no replicas to wait for. */
  #allIsCommitted(): void {
    this.source.updateHighWatermark(this.source.logEndOffset)
  }

  /** What was cut off when it was opened, after a stop that was not clean; null when nothing was. */
  get cut(): PartitionLog['cut'] {
    return this.source.cut
  }

  /**
   * Appends records, in order and without others between them. They are in the page cache when it resolves, or on the disk with
   * `flush.messages` 1. More than `max.message.bytes` become several batches; when one is refused, those before it stay.
   * @throws RefusedError MESSAGE_TOO_LARGE, INVALID_TIMESTAMP, KAFKA_STORAGE_ERROR …; RangeError for no records
   */
  async append(records: NewRecord | readonly NewRecord[], options: AppendRecordsOptions = {}): Promise<AppendedRecords> {
    const list = Array.isArray(records) ? (records as readonly NewRecord[]) : [records as NewRecord]
    const batches = this.#batchesOf(list, options)
    // All are handed over in one turn, so that no other append comes between them.
    const outcomes = await Promise.all(
      batches.map((batch) => this.source.append(batch, { origin: 'client', leaderEpoch: this.#epoch })),
    )
    this.#allIsCommitted()
    const appended = outcomes.map((outcome) => orThrow(outcome))
    const { lastOffset, logAppendTime } = appended.at(-1)!
    return { firstOffset: appended[0]!.firstOffset, lastOffset, logAppendTime }
  }

  /**
   * Appends a batch as BatchBuilder makes it, checked as a broker checks a client's: duplicates of an idempotent producer are answered
   * with what they got the first time. `coordinator` may write the markers that end transactions, `replication` copies another log with
   * its offsets. The bytes belong to the log from now on.
   * @throws RefusedError
   */
  async appendBatch(batch: Buffer, origin: AppendOrigin = 'client'): Promise<Appended> {
    const outcome = await this.source.append(batch, { origin, leaderEpoch: this.#epoch })
    this.#allIsCommitted()
    return orThrow(outcome)
  }

  get #epoch(): number {
    return Math.max(0, this.source.latestLeaderEpoch, this.source.highestEpochFound)
  }

  #batchesOf(records: readonly NewRecord[], { codec = 'none' }: AppendRecordsOptions): Buffer[] {
    if (records.length === 0) throw new RangeError('there is no record to append')
    const options = { codec, maxBytes: this.source.config['max.message.bytes'] }
    const batches: Buffer[] = []
    let builder = new BatchBuilder(options)
    for (const { key = null, value, headers = [], timestamp = this.#clock.now() } of records) {
      const record = { key, value, headers, timestamp }
      if (builder.tryAppend(record)) continue
      batches.push(builder.build())
      builder = new BatchBuilder(options)
      builder.tryAppend(record)
    }
    return [...batches, builder.build()]
  }

  /** Drops everything at and above the offset; what is below it keeps its offsets. @throws RefusedError KAFKA_STORAGE_ERROR */
  async truncateTo(offset: number): Promise<void> {
    await this.source.truncateTo(offset)
    this.#throwIfClosed()
    this.#allIsCommitted()
  }

  /** Drops everything; the next record gets this offset. @throws RefusedError KAFKA_STORAGE_ERROR */
  async truncateFullyAndStartAt(offset: number): Promise<void> {
    await this.source.truncateFullyAndStartAt(offset)
    this.#throwIfClosed()
    this.#allIsCommitted()
  }

  /**
   * Moves the log start: what is below cannot be read any more, also after a kill or a power cut once this resolves. Its files go when
   * their whole segment lies below.
   * @throws RefusedError OFFSET_OUT_OF_RANGE, KAFKA_STORAGE_ERROR
   */
  async deleteRecordsBefore(offset: number): Promise<void> {
    orThrow(await this.source.deleteRecordsBefore(offset))
    await this.source.applyRetention()
    await this.#checkpoint()
    this.#throwIfClosed()
  }

  #throwIfClosed(): void {
    if (this.source.isClosed) orThrow(this.source.refusal())
  }

  /** Begins a new segment. @throws RefusedError KAFKA_STORAGE_ERROR */
  async roll(): Promise<void> {
    await this.source.roll()
    this.#throwIfClosed()
  }

  /** Everything appended before survives a power cut once this resolves. @throws RefusedError KAFKA_STORAGE_ERROR */
  async flush(): Promise<void> {
    await this.source.flush()
    this.#throwIfClosed()
  }

  /** Makes everything durable and lets go of the directory that was opened for this log; otherwise the directory closes its logs. */
  async close(): Promise<void> {
    await this.#directory?.close()
  }
}
