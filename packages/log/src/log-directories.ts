/**
 * All `log.dirs` of a broker: opened and closed together, with the periodic work (retention, checkpoints, flushes, expiry of
 * producers). One that fails goes offline with its partitions; the others serve on.
 */
import { posix } from 'node:path'
import { formatTopicPartition, SlabPool } from '@mq/protocol'
import { Breather } from './breather.js'
import { Cleaner } from './cleaner.js'
import { type CleanerConfig, DEFAULT_CLEANER_CONFIG } from './cleaner-config.js'
import { CleanerOffsets } from './cleaner-offsets.js'
import { DEFAULT_DIRECTORIES_CONFIG, type DirectoriesConfig } from './directory-config.js'
import { IndexMemory } from './index-memory.js'
import type { PartitionLog } from './log.js'
import type { LogDirectories as LogDirectoriesPort, LogPartition } from './log-api.js'
import { DirectoryHealth } from './log-context.js'
import { LogDirectory, LogDirectoryError } from './log-directory.js'
import { InlineOffload } from './offload.js'
import { OpenFiles } from './open-files.js'
import { PacedDisk } from './paced-disk.js'
import {
  type Clock,
  type Disk,
  DiskError,
  type Logger,
  type Offload,
  type Processes,
  type Random,
  SILENT,
  type Time,
  type Timers,
  type Turn,
} from './ports.js'
import { Removals } from './removals.js'
import { TailCache } from './tail-cache.js'
import type { TopicConfig } from './topic-config.js'

export interface LogDirectoriesOptions {
  /** Absolute paths; made when missing. */
  readonly dirs: readonly string[]
  readonly disk: Disk
  readonly clock: Clock
  readonly timers: Timers
  readonly random: Random
  readonly processes: Processes
  /** With it, small appends of one turn leave in one write (and `append` answers later). */
  readonly turn?: Turn
  /** Lets others have their turn in a walk over many logs; default: `turn`. Without either such a walk keeps the event loop to itself. */
  readonly pause?: Turn
  readonly logger?: Logger
  /** Makes what runs long work on that disk; called once, closed with the directories. Default: on the event loop. */
  readonly offload?: (disk: Disk, time: Time) => Offload
  readonly brokerId: number
  /** Written into a new directory, held against that of an old one. */
  readonly clusterId?: string
  readonly config?: Partial<DirectoriesConfig & CleanerConfig>
  /** Whether the cleaner begins by itself (default), or when `startCleaner` says that all configs of topics are known. */
  readonly cleaner?: 'starts' | 'waits'
  readonly topicConfig: (topic: string) => TopicConfig
  /** Of the newest records, kept for readers; default 64 MiB. */
  readonly tailCacheBytes?: number
  /** For what is read from the disk; default one of its own. */
  readonly memory?: SlabPool
  /** Of the indexes of closed segments; default 32 MiB. */
  readonly indexMemoryBytes?: number
  readonly openFilesLimit?: number
  /** Called once for each directory that fails, now or later. */
  readonly whenDirectoryFails?: (directory: string, error: DiskError) => void
  readonly whenLoaded?: (directory: string, done: number, all: number) => void
}

/** As others see them; `open` makes them. */
export interface LogDirectories extends LogDirectoriesPort {}

export const LogDirectories = {
  /** @throws LogDirectoryError when a directory is not ours, in use, or none works */
  open: (options: LogDirectoriesOptions): Promise<BrokerLogDirectories> => BrokerLogDirectories.open(options),
}

export class BrokerLogDirectories implements LogDirectories {
  readonly #options: LogDirectoriesOptions
  readonly #config: DirectoriesConfig & CleanerConfig
  readonly #directories: LogDirectory[] = []
  readonly offload: Offload
  readonly #removals: Removals
  /** Null when `log.cleaner.enable` is off. */
  readonly cleaner: Cleaner | null
  readonly #byName = new Map<string, PartitionLog>()
  readonly #creating = new Map<string, Promise<PartitionLog>>()
  readonly #deleting = new Map<string, Promise<void>>()
  /** Topics whose configs are not known yet: nothing of them is removed. */
  readonly #held = new Set<string>()
  readonly #cancels = new Set<() => void>()
  /** Periodic work that is under way. */
  readonly #running = new Set<Promise<void>>()
  #isClosed = false

  private constructor(options: LogDirectoriesOptions) {
    this.#options = options
    this.#config = { ...DEFAULT_DIRECTORIES_CONFIG, ...DEFAULT_CLEANER_CONFIG, ...options.config }
    this.#removals = new Removals(options.disk, options.timers)
    this.offload = options.offload?.(options.disk, options) ?? new InlineOffload(options.disk, options)
    this.cleaner = this.#config['log.cleaner.enable'] ? this.#newCleaner() : null
  }

  #newCleaner(): Cleaner {
    const { clock, timers, turn, random, logger = SILENT } = this.#options
    return new Cleaner({
      config: this.#config,
      logs: () => this.#byName.values(),
      isHeld: (topic) => this.#held.has(topic),
      checkpointRecoveryPoints: async (path) =>
        this.#directories.find((directory) => directory.path === path)?.checkpoint('recovery points'),
      clock,
      timers,
      turn,
      random,
      logger,
    })
  }

  static async open(options: LogDirectoriesOptions): Promise<BrokerLogDirectories> {
    const directories = new BrokerLogDirectories(options)
    try {
      await directories.#open()
    } catch (error) {
      await directories.abandon()
      throw error
    }
    return directories
  }

  async #open(): Promise<void> {
    const options = this.#options
    const files = new OpenFiles(options.disk, options.openFilesLimit)
    const shared = {
      clock: options.clock,
      timers: options.timers,
      random: options.random,
      logger: options.logger ?? SILENT,
      turn: options.turn,
      pause: options.pause,
      offload: this.offload,
      removals: this.#removals,
      tail: new TailCache(options.tailCacheBytes ?? 64 * 1024 * 1024),
      memory: options.memory ?? new SlabPool(),
      indexMemory: new IndexMemory(options.indexMemoryBytes ?? 32 * 1024 * 1024),
      producerIdExpirationMs: () => this.#config['producer.id.expiration.ms'],
    }
    for (const dir of new Set(options.dirs.map((path) => posix.normalize(path).replace(/(?<=.)\/+$/, '')))) {
      const health = new DirectoryHealth(dir, (error) => {
        shared.logger.error({ directory: dir, error: error.message }, 'log directory is offline')
        options.whenDirectoryFails?.(dir, error)
      })
      const disk = new PacedDisk(options.disk)
      const directory = new LogDirectory({
        context: {
          ...shared,
          disk,
          files: files.on(disk),
          directory: health,
          cleanerOffsets: new CleanerOffsets(disk, dir, shared.logger),
        },
        locking: options,
        brokerId: options.brokerId,
        clusterId: options.clusterId,
        topicConfig: options.topicConfig,
        loadAtATime: this.#config['num.recovery.threads.per.data.dir'],
        whenLoaded: (done, all) => options.whenLoaded?.(dir, done, all),
      })
      try {
        await directory.claim()
      } catch (error) {
        if (!(error instanceof DiskError)) throw error
        health.failWith(error)
      }
      this.#directories.push(directory)
    }
    for (const directory of this.#directories) if (!directory.health.isOffline) await directory.load()
    const first = this.#directories[0]
    if (this.#directories.every(({ health }) => health.isOffline)) {
      throw new LogDirectoryError('failed', first?.path ?? '(none)', first?.health.error?.message ?? 'there is none')
    }
    for (const directory of this.#directories) this.#take(directory)
    this.#schedule()
    if (options.cleaner !== 'waits') this.startCleaner()
  }

  /** Compaction begins: all configs of topics are known. */
  startCleaner(): void {
    this.cleaner?.start()
  }

  #take(directory: LogDirectory): void {
    for (const [name, log] of directory.logs) {
      const other = this.#byName.get(name)
      if (other !== undefined) {
        throw new LogDirectoryError(
          'duplicate-partition',
          directory.path,
          `${name} is also in ${other.directory}: remove one of the two`,
        )
      }
      this.#byName.set(name, log)
    }
  }

  #schedule(): void {
    const config = this.#config
    const initial = config['log.initial.task.delay.ms']
    this.#every(initial, config['log.retention.check.interval.ms'], () => this.applyRetention())
    this.#every(initial, config['log.flush.scheduler.interval.ms'], () => this.#flushOverdue())
    this.#every(initial, config['log.flush.offset.checkpoint.interval.ms'], () => this.#checkpoint('recovery points'))
    this.#every(initial, config['log.flush.start.offset.checkpoint.interval.ms'], () => this.#checkpoint('log start offsets'))
    const highWatermarks = config['replica.high.watermark.checkpoint.interval.ms']
    this.#every(highWatermarks, highWatermarks, () => this.#checkpoint('high watermarks'))
    const expiry = config['producer.id.expiration.check.interval.ms']
    this.#every(expiry, expiry, async () => {
      for (const log of this.#byName.values()) log.expireProducers()
    })
  }

  /** Again and again, each time counted from the end of the last. */
  #every(first: number, intervalMs: number, work: () => Promise<unknown>): void {
    const arm = (delayMs: number): void => {
      const cancel = this.#options.timers.after(delayMs, () => {
        this.#cancels.delete(cancel)
        const running = work()
          .catch((error) => this.#options.logger?.error({ error }, 'periodic work on the log directories failed'))
          .then(() => {
            this.#running.delete(running)
            if (!this.#isClosed) arm(intervalMs)
          })
        this.#running.add(running)
      })
      this.#cancels.add(cancel)
    }
    arm(first)
  }

  async #checkpoint(which: 'recovery points' | 'log start offsets' | 'high watermarks'): Promise<void> {
    for (const directory of this.#directories) await directory.checkpoint(which)
  }

  async #flushOverdue(): Promise<void> {
    for (const log of this.#byName.values()) {
      const waited = log.unflushedFor()
      if (waited > 0 && waited >= log.config['flush.ms'] && !log.isOffline) await log.flush()
    }
  }

  /** Removes what the topics' configs no longer keep, but of topics that are held. @returns how many segments */
  async applyRetention(): Promise<number> {
    let removed = 0
    const breather = new Breather(this.#options)
    for (const log of [...this.#byName.values()]) {
      if (!this.#held.has(log.topicPartition.topic) && !log.isOffline) removed += await log.applyRetention()
      await breather.breathe()
    }
    return removed
  }

  get(partition: LogPartition): PartitionLog | undefined {
    return this.#byName.get(formatTopicPartition(partition))
  }

  all(): Iterable<PartitionLog> {
    return this.#byName.values()
  }

  get directories(): readonly { readonly path: string; readonly isOffline: boolean }[] {
    return this.#directories.map(({ path, health }) => ({ path, isOffline: health.isOffline }))
  }

  /** Bytes of the file system that a directory lies on. */
  space(directory: string): { readonly totalBytes: number; readonly usableBytes: number } {
    return this.#options.disk.space(directory)
  }

  create(partition: LogPartition, topicId: string | null, config: TopicConfig): Promise<PartitionLog> {
    if (this.#isClosed) return Promise.reject(this.#closedError())
    const name = formatTopicPartition(partition)
    const known = this.#byName.get(name)
    if (known !== undefined) return Promise.resolve(known)
    const underWay = this.#creating.get(name)
    if (underWay !== undefined) return underWay
    const creation = this.#create(partition, topicId, config).finally(() => this.#creating.delete(name))
    this.#creating.set(name, creation)
    return creation
  }

  /** Whoever changed a directory that is closed would not see that another process has it by then. */
  #closedError(): LogDirectoryError {
    return new LogDirectoryError('failed', this.#directories[0]?.path ?? '(none)', 'is closed')
  }

  async #create(partition: LogPartition, topicId: string | null, config: TopicConfig): Promise<PartitionLog> {
    // The folder has the name until it is renamed. If that fails its directory is offline, and takes nothing new.
    await this.#deleting.get(formatTopicPartition(partition))?.catch(() => {})
    for (const directory of this.#directories) if (directory.remembers(partition)) await directory.checkpointAll()
    const target = this.#folderFor(partition)
    try {
      const log = await target.create(partition, topicId, config)
      this.#byName.set(formatTopicPartition(partition), log)
      return log
    } catch (error) {
      target.health.failWith(error)
      throw error
    }
  }

  /**
   * Makes the partition's folder where the fewest are, the first of `log.dirs` among equals. A directory that does not take it is offline, and
   * the next one is asked, as by Kafka; once a folder is there it stays: a partition in two directories stops the next start.
   */
  #folderFor(partition: LogPartition): LogDirectory {
    const online = this.#directories.filter(({ health }) => !health.isOffline)
    let refusal: unknown = new LogDirectoryError('failed', this.#directories[0]!.path, 'every log directory is offline')
    for (const directory of online.sort((a, b) => a.partitionCount - b.partitionCount)) {
      try {
        const taken = directory.nameLike(partition)
        if (taken === null) {
          directory.makeFolderNow(partition)
          return directory
        }
        const what = `${formatTopicPartition(partition)} cannot be told from ${taken}: this file system takes their names for the same`
        refusal = new LogDirectoryError('name-taken', directory.path, what)
      } catch (error) {
        directory.health.failWith(error)
        refusal = error
      }
    }
    throw refusal
  }

  async delete(partition: LogPartition): Promise<void> {
    if (this.#isClosed) throw this.#closedError()
    const name = formatTopicPartition(partition)
    const creation = this.#creating.get(name)
    if (creation !== undefined) await creation.catch(() => {})
    const log = this.#byName.get(name)
    if (log === undefined) return this.#deleting.get(name)
    this.#byName.delete(name)
    const deletion = this.#delete(log).finally(() => this.#deleting.delete(name))
    this.#deleting.set(name, deletion)
    return deletion
  }

  async #delete(log: PartitionLog): Promise<void> {
    const directory = this.#directories.find(({ path }) => path === log.directory)!
    try {
      await directory.delete(log)
    } catch (error) {
      directory.health.failWith(error)
      // Who thinks that it is gone would take its folder for a new topic's at the next start.
      throw error
    }
  }

  setTopicConfig(topic: string, config: TopicConfig): void {
    for (const log of this.#byName.values()) if (log.topicPartition.topic === topic) log.config = config
  }

  holdRetention(topic: string): void {
    this.#held.add(topic)
  }

  releaseRetention(topic: string): void {
    this.#held.delete(topic)
  }

  wasCleanShutdown(directory: string): boolean {
    return this.#directories.find(({ path }) => path === directory)?.wasClean ?? false
  }

  async checkpointAll(): Promise<void> {
    for (const directory of this.#directories) await directory.checkpointAll()
  }

  async close(): Promise<void> {
    if (!this.#stop()) return
    await this.#settled()
    for (const directory of this.#directories) await directory.close()
    await this.offload.close()
  }

  /** Lets go of everything as it is, as a kill of the process would: the next start recovers. */
  async abandon(): Promise<void> {
    if (!this.#stop()) return
    await this.#settled()
    for (const directory of this.#directories) await directory.abandon()
    await this.offload.close()
  }

  /** Nothing is under way any more: a checkpoint, for one, must not replace the last one afterwards. */
  async #settled(): Promise<void> {
    await Promise.allSettled([...this.#creating.values(), ...this.#deleting.values()])
    await this.cleaner?.close()
    await Promise.all(this.#running)
    await this.#removals.close()
  }

  #stop(): boolean {
    if (this.#isClosed) return false
    this.#isClosed = true
    for (const cancel of this.#cancels) cancel()
    this.#cancels.clear()
    return true
  }
}
