/**
 * One log directory: its lock, whose it is, the partitions in it, its checkpoints and the mark of a clean shutdown.
 *
 * Order of a start: lock, `meta.properties`, clean-shutdown mark taken away (a stop while loading must not look clean), then the
 * partitions. Order of a stop: partitions closed, checkpoints, the mark, unlock.
 */
import { posix } from 'node:path'
import { formatTopicPartition, type TopicPartition } from '@mq/protocol'
import { Breather } from './breather.js'
import {
  HIGH_WATERMARKS,
  LOG_START_OFFSETS,
  makeDirectory,
  offsetsToText,
  type PartitionOffsets,
  RECOVERY_POINTS,
  readOffsets,
  writeAtomically,
} from './checkpoint.js'
import {
  CLEAN_SHUTDOWN,
  cleanShutdownText,
  META_PROPERTIES,
  type MetaProperties,
  metaPropertiesToText,
  readMetaProperties,
} from './directory-files.js'
import { type Locking, lockDirectory, unlockDirectory } from './directory-lock.js'
import { markedFolderName, partitionFolder } from './folder-names.js'
import { type ConfigBox, PartitionLog } from './log.js'
import type { DirectoryHealth, LogContext } from './log-context.js'
import { type LoadRequest, loadLog } from './log-load.js'
import { RecoveryProgress, unflushedBytes } from './recovery-progress.js'
import type { TopicConfig } from './topic-config.js'
import { readIfThere } from './whole-file.js'

/** Why log directories cannot be opened: nothing was changed in them. */
export class LogDirectoryError extends Error {
  override readonly name = 'LogDirectoryError'
  constructor(
    readonly reason: 'locked' | 'not-ours' | 'malformed' | 'duplicate-partition' | 'name-taken' | 'failed',
    readonly directory: string,
    detail: string,
  ) {
    super(`log directory ${directory}: ${detail}`)
  }
}

/** Whose a directory is; null for a new one. Reads only. */
export function readDirectoryOwner(disk: LogContext['disk'], directory: string): MetaProperties | null {
  const bytes = readIfThere(disk, posix.join(directory, META_PROPERTIES))
  if (bytes === null) return null
  const read = readMetaProperties(bytes)
  if ('problem' in read) throw new LogDirectoryError('malformed', directory, `${META_PROPERTIES}: ${read.problem}`)
  return read
}

export interface DirectoryOptions {
  readonly context: LogContext
  /** The disk as others of this process see it: they hold the lock by it. */
  readonly locking: Locking
  readonly brokerId: number
  /** Undefined: whatever the directory has. */
  readonly clusterId: string | undefined
  readonly topicConfig: (topic: string) => TopicConfig
  readonly loadAtATime: number
  /** Called after each log, for progress. */
  readonly whenLoaded: (done: number, all: number) => void
}

type WentBack = Parameters<NonNullable<LogContext['whenLogWentBack']>>[0]

type Checkpoint = 'recovery points' | 'log start offsets' | 'high watermarks'

/** Each waits for the disk most of the time. */
const CLOSED_AT_A_TIME = 8

export class LogDirectory {
  readonly path: string
  readonly logs = new Map<string, PartitionLog>()
  readonly #options: DirectoryOptions
  wasClean = false
  #loaded = false
  #lastSync: Promise<void> = Promise.resolve()
  #nextSync: Promise<void> | null = null
  #beingMade = 0
  #checkpoints: Promise<void> = Promise.resolve()
  /** By name: what the checkpoints on the disk hold. An idle broker writes none. */
  readonly #written = new Map<string, PartitionOffsets>()

  constructor(options: DirectoryOptions) {
    const context = { ...options.context, whenLogWentBack: (log: WentBack) => this.#lowerCheckpoints(log) }
    this.#options = { ...options, context }
    this.path = options.context.directory.path
  }

  get health(): DirectoryHealth {
    return this.#options.context.directory
  }

  get #disk() {
    return this.#options.context.disk
  }

  /** With those that are just being made. */
  get partitionCount(): number {
    return this.logs.size + this.#beingMade
  }

  #pathOf(name: string): string {
    return posix.join(this.path, name)
  }

  /** Takes the directory into use. @throws LogDirectoryError, DiskError */
  async claim(): Promise<void> {
    await makeDirectory(this.#disk, this.path)
    const holder = await lockDirectory(this.#options.locking, this.path)
    if (holder !== null) throw new LogDirectoryError('locked', this.path, `in use by ${holder}`)
    try {
      await this.#checkOwner()
    } catch (error) {
      unlockDirectory(this.#options.locking.disk, this.path)
      throw error
    }
    this.wasClean = this.#disk.statNow(this.#pathOf(CLEAN_SHUTDOWN)) !== null
    this.#disk.removeNow(this.#pathOf(CLEAN_SHUTDOWN))
    await this.#disk.syncDirectory(this.path)
  }

  async #checkOwner(): Promise<void> {
    const { brokerId, clusterId, context } = this.#options
    const owner = readDirectoryOwner(this.#disk, this.path)
    if (owner === null) {
      if (clusterId === undefined) return
      await writeAtomically(
        this.#disk,
        this.#pathOf(META_PROPERTIES),
        metaPropertiesToText({ brokerId, clusterId }, context.clock.now()),
      )
      return
    }
    if (owner.brokerId !== brokerId) {
      throw new LogDirectoryError('not-ours', this.path, `belongs to broker ${owner.brokerId}, this is broker ${brokerId}`)
    }
    if (clusterId !== undefined && owner.clusterId !== clusterId) {
      throw new LogDirectoryError('not-ours', this.path, `belongs to cluster ${owner.clusterId}, this is cluster ${clusterId}`)
    }
  }

  /** Opens every partition in it; a failure of the disk takes the directory offline. */
  async load(): Promise<void> {
    try {
      await this.#loadAll()
      this.#loaded = !this.health.isOffline
      if (this.#isTooTrusting(this.#written.get(RECOVERY_POINTS))) await this.checkpoint('recovery points')
    } catch (error) {
      this.health.failWith(error)
    }
  }

  /**
   * Without the checkpoint the next start after a stop that was not clean would not know that nothing was flushed; one from before a
   * truncation that a kill interrupted would count for what is appended from now on.
   */
  #isTooTrusting(recoveryPoints: PartitionOffsets | undefined): boolean {
    if (recoveryPoints === undefined) return true
    return [...this.logs].some(([name, log]) => (recoveryPoints.get(name) ?? 0) > log.logEndOffset)
  }

  async #loadAll(): Promise<void> {
    const recoveryPoints = this.#readCheckpoint(RECOVERY_POINTS)
    const startOffsets = this.#readCheckpoint(LOG_START_OFFSETS)
    const highWatermarks = this.#readCheckpoint(HIGH_WATERMARKS)
    const waiting: { readonly name: string; readonly partition: TopicPartition }[] = []
    for (const { name, kind } of this.#disk.listNow(this.path)) {
      const folder = kind === 'directory' ? partitionFolder(name) : null
      if (folder?.kind === 'partition') waiting.push({ name, partition: folder.partition })
      else if (folder?.kind === 'delete')
        this.#removeLater(name, this.#options.topicConfig(folder.partition.topic)['file.delete.delay.ms'])
    }
    const all = waiting.length
    const breather = new Breather(this.#options.context)
    let bytes = 0
    for (const { name } of this.wasClean ? [] : waiting) {
      bytes += unflushedBytes(this.#disk, this.#pathOf(name), recoveryPoints.get(name) ?? 0)
      await breather.breathe()
    }
    const progress = new RecoveryProgress({ directory: this.path, bytes, logs: all }, this.#options.context)
    let done = 0
    const worker = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined && !this.health.isOffline; next = waiting.shift()) {
        const log = await this.#loadOne(next.name, next.partition, {
          recoveryPoint: recoveryPoints.get(next.name) ?? 0,
          recoveryPointIsKnown: this.#written.has(RECOVERY_POINTS),
          logStartOffset: startOffsets.get(next.name) ?? 0,
          scanned: (count) => progress.scanned(count),
        })
        log.updateHighWatermark(highWatermarks.get(next.name) ?? 0)
        this.#options.whenLoaded(++done, all)
        await breather.breathe()
      }
    }
    this.#options.context.cleanerOffsets.loadNow(waiting.map(({ partition }) => partition))
    await Promise.all(Array.from({ length: Math.max(1, Math.min(2, this.#options.loadAtATime)) }, worker))
    progress.ended()
  }

  async #loadOne(
    name: string,
    partition: TopicPartition,
    from: Pick<LoadRequest, 'recoveryPoint' | 'recoveryPointIsKnown' | 'logStartOffset' | 'scanned'>,
  ): Promise<PartitionLog> {
    const { context, topicConfig } = this.#options
    const config: ConfigBox = { value: topicConfig(partition.topic) }
    const loaded = await loadLog({
      context,
      partition,
      folder: { path: this.#pathOf(name) },
      config: () => config.value,
      hadCleanShutdown: this.wasClean,
      ...from,
    })
    const log = new PartitionLog(context, partition, config, loaded)
    // What a killed process had written and not synced will be read from now on, so it must stay as long as flush.messages says.
    if (log.logEndOffset - log.recoveryPoint >= config.value['flush.messages']) await log.flush()
    this.logs.set(formatTopicPartition(partition), log)
    return log
  }

  #readCheckpoint(name: string): PartitionOffsets {
    const bytes = readIfThere(this.#disk, this.#pathOf(name))
    if (bytes === null) return new Map()
    const read = readOffsets(bytes)
    if (!('problem' in read)) {
      this.#written.set(name, read)
      return read
    }
    this.#options.context.logger.warn({ directory: this.path }, `${name}: ${read.problem}; it counts as empty`)
    return new Map()
  }

  /** What the checkpoints still say of an older partition of this name would count for a new one after a stop of the machine. */
  remembers(partition: TopicPartition): boolean {
    const name = formatTopicPartition(partition)
    return !this.logs.has(name) && [...this.#written.values()].some((offsets) => offsets.has(name))
  }

  /** Where letters are not told by their case (macOS, Windows), two topics would share a folder: the name as it is there, else null. */
  nameLike(partition: TopicPartition): string | null {
    const name = formatTopicPartition(partition)
    if (this.#disk.statNow(this.#pathOf(name)) === null) return null
    const names = this.#disk.listNow(this.path).map((entry) => entry.name)
    return names.includes(name) ? null : (names.find((other) => other.toLowerCase() === name.toLowerCase()) ?? name)
  }

  /** The folder of a new partition, which need not last yet. */
  makeFolderNow(partition: TopicPartition): void {
    this.#disk.makeDirectoryNow(this.#pathOf(formatTopicPartition(partition)))
  }

  /** Makes the log of a new partition in its folder; resolves when it is on the disk. Nothing stays open when it fails. */
  async create(partition: TopicPartition, topicId: string | null, config: TopicConfig): Promise<PartitionLog> {
    this.#beingMade++
    try {
      return await this.#create(partition, topicId, config)
    } finally {
      this.#beingMade--
    }
  }

  async #create(partition: TopicPartition, topicId: string | null, config: TopicConfig): Promise<PartitionLog> {
    const name = formatTopicPartition(partition)
    const box: ConfigBox = { value: config }
    const { context } = this.#options
    const folder = { path: this.#pathOf(name) }
    const loaded = await loadLog({
      context,
      partition,
      folder,
      config: () => box.value,
      hadCleanShutdown: true,
      recoveryPoint: 0,
      recoveryPointIsKnown: true,
      logStartOffset: 0,
    })
    const log = new PartitionLog(context, partition, box, { ...loaded, epochsChanged: false })
    try {
      if (topicId !== null && log.topicId === null) await log.assignTopicId(topicId)
      await this.#sync()
      if (this.health.error !== null) throw this.health.error
    } catch (error) {
      await log.abandon()
      throw error
    }
    this.logs.set(name, log)
    return log
  }

  /** The folder is renamed at once, so that the name is free again; it goes after `file.delete.delay.ms`. */
  async delete(log: PartitionLog): Promise<void> {
    const { context } = this.#options
    const name = formatTopicPartition(log.topicPartition)
    await log.abandon()
    this.logs.delete(name)
    await context.cleanerOffsets.forget(log.topicPartition)
    const gone = markedFolderName(log.topicPartition, 'delete', context.random.bytes(16).toString('hex'))
    this.#disk.renameNow(this.#pathOf(name), this.#pathOf(gone))
    await this.#sync()
    this.#removeLater(gone, log.config['file.delete.delay.ms'])
  }

  /** Makes the folders' names durable: one sync for all that wait while another is under way. */
  #sync(): Promise<void> {
    if (this.#nextSync === null) {
      const next = this.#lastSync.then(() => {
        this.#nextSync = null
        return this.#disk.syncDirectory(this.path)
      })
      this.#nextSync = next
      this.#lastSync = next.catch(() => {})
    }
    return this.#nextSync
  }

  #removeLater(name: string, delayMs: number): void {
    this.#options.context.removals.later({
      paths: [this.#pathOf(name)],
      delayMs,
      failed: (error) => this.health.failWith(error),
    })
  }

  /** Writes one of the checkpoints for all partitions, one after the other; a failure takes the directory offline. */
  checkpoint(which: Checkpoint): Promise<void> {
    // The periodic one and the one of a stop would take each other's temporary file away.
    this.#checkpoints = this.#checkpoints.then(() => this.#checkpointNow(which))
    return this.#checkpoints
  }

  async #checkpointNow(which: Checkpoint): Promise<void> {
    if (this.health.isOffline || !this.#loaded) return
    const rows: [string, number, number][] = []
    for (const log of this.logs.values()) {
      const { topic, partition } = log.topicPartition
      if (which === 'recovery points') rows.push([topic, partition, log.checkpointedRecoveryPoint])
      else if (which === 'high watermarks') rows.push([topic, partition, log.highWatermark])
      else if (log.logStartOffset > log.firstSegmentOffset) rows.push([topic, partition, log.logStartOffset])
    }
    const name = which === 'recovery points' ? RECOVERY_POINTS : which === 'high watermarks' ? HIGH_WATERMARKS : LOG_START_OFFSETS
    const offsets = new Map(rows.map(([topic, partition, offset]) => [formatTopicPartition({ topic, partition }), offset]))
    const written = this.#written.get(name)
    if (written?.size === offsets.size && [...offsets].every(([log, offset]) => written.get(log) === offset)) return
    try {
      await writeAtomically(this.#disk, this.#pathOf(name), offsetsToText(rows))
      this.#written.set(name, offsets)
    } catch (error) {
      this.health.failWith(error)
    }
  }

  async #lowerCheckpoints({ name, checkpointedRecoveryPoint, logStartOffset }: WentBack): Promise<void> {
    if ((this.#written.get(RECOVERY_POINTS)?.get(name) ?? 0) > checkpointedRecoveryPoint) await this.checkpoint('recovery points')
    if ((this.#written.get(LOG_START_OFFSETS)?.get(name) ?? 0) > logStartOffset) await this.checkpoint('log start offsets')
  }

  async checkpointAll(): Promise<void> {
    await this.checkpoint('recovery points')
    await this.checkpoint('log start offsets')
    await this.checkpoint('high watermarks')
  }

  /** A clean stop: everything durable, and the mark that says so. */
  async close(): Promise<void> {
    const waiting = [...this.logs.values()]
    const worker = async (): Promise<void> => {
      for (let log = waiting.pop(); log !== undefined; log = waiting.pop()) await log.close()
    }
    await Promise.all(Array.from({ length: CLOSED_AT_A_TIME }, worker))
    await this.checkpointAll()
    if (this.#loaded && !this.health.isOffline) {
      try {
        await writeAtomically(this.#disk, this.#pathOf(CLEAN_SHUTDOWN), cleanShutdownText())
      } catch (error) {
        this.health.failWith(error)
      }
    }
    unlockDirectory(this.#options.locking.disk, this.path)
  }

  /** Lets go of the files as they are. */
  async abandon(): Promise<void> {
    for (const log of this.logs.values()) await log.abandon()
    unlockDirectory(this.#options.locking.disk, this.path)
  }
}
