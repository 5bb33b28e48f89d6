/**
 * A partition's folder, looked into without touching it: no lock, no repair, no file opened for writing. A broker, ours or Java's,
 * may be at work in it. What a start would repair is repaired in memory (overlay-disk.ts), so that the same records come out, and is
 * told in `damage` and `cut`.
 */

import { posix } from 'node:path'
import { formatTopicPartition, SlabPool } from '@mq/protocol'
import { absolutePath } from './absolute-path.js'
import { CatchUp } from './catch-up.js'
import { LOG_START_OFFSETS, RECOVERY_POINTS, readOffsets } from './checkpoint.js'
import { CleanerOffsets } from './cleaner-offsets.js'
import { CLEAN_SHUTDOWN } from './directory-files.js'
import { lockHolder } from './directory-lock.js'
import { partitionFolder } from './folder-names.js'
import { IndexMemory } from './index-memory.js'
import { type ConfigBox, type Cut, PartitionLog } from './log.js'
import type { LogPartition, ReadOptions } from './log-api.js'
import { DirectoryHealth, type LogContext } from './log-context.js'
import { LogDirectoryError } from './log-directory.js'
import { loadLog } from './log-load.js'
import { LogState } from './log-state.js'
import { type LogSource, LogView } from './log-view.js'
import { nodeEnvironment, wakingTimers } from './node-environment.js'
import { InlineOffload } from './offload.js'
import { OpenFiles } from './open-files.js'
import type { LogEnvironment } from './open-log.js'
import type { Read, Refused } from './outcomes.js'
import { OverlayDisk } from './overlay-disk.js'
import { DiskError, type Logger } from './ports.js'
import { Removals } from './removals.js'
import { TailCache } from './tail-cache.js'
import { DEFAULT_TOPIC_CONFIG } from './topic-config.js'
import { Watchers } from './watch.js'
import { readIfThere } from './whole-file.js'

export interface ReadOnlyOptions {
  /** How often the files are looked at while somebody watches or follows; default 100 ms. */
  readonly refreshMs?: number
  readonly environment?: LogEnvironment
}

/** What a start would repair, as far as opening showed it. `verify` looks at everything. */
export interface Damage {
  /** Base offset of the segment, null for a file of the whole partition. */
  readonly segment: number | null
  readonly problem: string
}

/** What the read-only logs of one directory share. */
export interface ReadOnlyShare {
  readonly environment: LogEnvironment
  readonly refreshMs: number
  readonly disk: OverlayDisk
  readonly files: OpenFiles
  readonly indexMemory: IndexMemory
  readonly offload: InlineOffload
}

const REFRESH_MS = 100
const INDEX_MEMORY_BYTES = 32 * 1024 * 1024
/** A broker renames and removes files while they are looked at: a view that was caught in that is loaded again. */
const ATTEMPTS = 5
const NODE = { ...nodeEnvironment, timers: wakingTimers }

export function shareOf({ environment = NODE, refreshMs = REFRESH_MS }: ReadOnlyOptions): ReadOnlyShare {
  const disk = new OverlayDisk(environment.disk)
  return {
    environment,
    refreshMs,
    disk,
    files: new OpenFiles(disk),
    indexMemory: new IndexMemory(INDEX_MEMORY_BYTES),
    offload: new InlineOffload(disk, environment),
  }
}

/**
 * Opens the folder of a partition read-only, for example `/var/lib/kafka/orders-0`.
 * @throws LogDirectoryError when its name is none of a partition's folder; DiskError when it cannot be read
 */
export function openReadOnly(folder: string, options: ReadOnlyOptions = {}): Promise<ReadOnlyLog> {
  return ReadOnlyLog.open(absolutePath(folder), shareOf(options))
}

interface Loaded {
  readonly log: PartitionLog
  readonly state: LogState
  readonly catchUp: CatchUp
  readonly damage: readonly Damage[]
}

export class ReadOnlyLog extends LogView {
  protected override readonly source: LogSource
  readonly #share: ReadOnlyShare
  readonly #watchers = new Watchers()
  #loaded: Loaded
  #refreshing: Promise<void> | null = null
  #reloading: Promise<void> | null = null
  #isClosed = false
  /** The next look of those that go on as long as somebody watches; null when nobody does. */
  #nextLook: { cancel(): void } | null = null
  #failure: DiskError | null = null
  #startsOf = Number.NaN

  private constructor(share: ReadOnlyShare, loaded: Loaded) {
    super()
    this.#share = share
    this.#loaded = loaded
    this.source = this.#sourceOf()
  }

  static async open(folder: string, share: ReadOnlyShare): Promise<ReadOnlyLog> {
    return new ReadOnlyLog(share, await load(folder, share))
  }

  /** A source that goes on when the log behind it is loaded anew. */
  #sourceOf(): LogSource {
    const now = (): PartitionLog => this.#loaded.log
    const isClosed = (): boolean => this.#isClosed
    return {
      get topicPartition() {
        return now().topicPartition
      },
      get topicId() {
        return now().topicId
      },
      get path() {
        return now().path
      },
      get sizeInBytes() {
        return now().sizeInBytes
      },
      get latestLeaderEpoch() {
        return now().latestLeaderEpoch
      },
      get logStartOffset() {
        return now().logStartOffset
      },
      get logEndOffset() {
        return now().logEndOffset
      },
      get lastStableOffset() {
        return now().lastStableOffset
      },
      get isClosed() {
        return isClosed()
      },
      read: (offset, options) => this.#read(offset, options),
      offsetForTimestamp: (query) => this.#loadedAgain(() => now().offsetForTimestamp(query)),
      stats: () => now().stats(),
      watch: (listener) => this.#watch(listener),
    }
  }

  /** What was found damaged; of a directory that is in use, not what is only half written. */
  get damage(): readonly Damage[] {
    return this.#loaded.damage
  }

  /** What a start would cut off, as it was when the folder was opened; null when nothing. */
  get cut(): Cut {
    return this.#loaded.log.cut
  }

  /** Who uses the directory that the folder lies in; null for nobody. */
  get inUseBy(): string | null {
    const { environment } = this.#share
    return lockHolder(environment.disk, environment.processes, posix.dirname(this.path))
  }

  #read(offset: number, options: ReadOptions): Promise<Read | Refused> {
    return this.#loadedAgain(async () => this.#loaded.log.read(offset, options))
  }

  /** A refusal may come from files that a broker replaced or took away meanwhile: it counts if it is the same after a fresh look. */
  async #loadedAgain<Outcome>(ask: () => Promise<Outcome | Refused>): Promise<Outcome | Refused> {
    const outcome = await ask()
    const refusal = outcome as Refused | null
    const mayPass =
      refusal?.kind === 'refused' && (refusal.error === 'CORRUPT_MESSAGE' || refusal.error === 'KAFKA_STORAGE_ERROR')
    if (!mayPass || this.#isClosed) return outcome
    await this.#reload()
    return ask()
  }

  /**
   * Looks at the files again: what was appended since is in the log afterwards.
   * @throws DiskError when the folder is not there any more
   */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#refreshNow().finally(() => {
      this.#refreshing = null
    })
    return this.#refreshing
  }

  async #refreshNow(): Promise<void> {
    if (this.#isClosed) return
    const { state } = this.#loaded
    const { logStartOffset, logEndOffset } = state
    if (!(await this.#catchUp())) await this.#reload()
    this.#moveStart()
    const now = this.#loaded.state
    if (now !== state || now.logEndOffset !== logEndOffset || now.logStartOffset !== logStartOffset) this.#watchers.changed()
  }

  async #catchUp(): Promise<boolean> {
    try {
      return await this.#loaded.catchUp.run()
    } catch (error) {
      // A file went while it was read. When the folder itself is gone, loading says so.
      if (error instanceof DiskError && error.code === 'ENOENT') return false
      throw error
    }
  }

  /** One at a time: whoever wants it while it is under way has the same. */
  #reload(): Promise<void> {
    this.#reloading ??= this.#reloadNow().finally(() => {
      this.#reloading = null
    })
    return this.#reloading
  }

  async #reloadNow(): Promise<void> {
    const before = this.#loaded
    const { path } = before.log
    await before.log.abandon()
    this.#share.disk.forget(path)
    this.#loaded = await load(path, this.#share)
  }

  /** DeleteRecords moves the start without any file going; its checkpoint tells of it. */
  #moveStart(): void {
    const { state } = this.#loaded
    const checkpoint = posix.join(posix.dirname(state.folder.path), LOG_START_OFFSETS)
    const { disk } = this.#share
    const changedAt = disk.statNow(checkpoint)?.modifiedMs ?? Number.NaN
    if (Number.isNaN(changedAt) || changedAt === this.#startsOf) return
    this.#startsOf = changedAt
    const start = checkpointed(disk, state.folder.path, LOG_START_OFFSETS)
    if (start > state.logStartOffset && start <= state.logEndOffset) state.moveLogStart(start)
  }

  #watch(listener: () => void): () => void {
    const cancel = this.#watchers.add(listener)
    this.#poll()
    return () => {
      cancel()
      if (this.#watchers.count === 0) this.#stopLooking()
    }
  }

  /** Looks again and again as long as somebody watches. */
  #poll(): void {
    if (this.#nextLook !== null) return
    const { environment, refreshMs } = this.#share
    const cancel = environment.timers.after(refreshMs, () => {
      void this.refresh()
        .catch((error) => this.#failed(error))
        .then(() => {
          // While it looked the last one may have gone and another come, who has a next look already.
          if (this.#nextLook !== look) return
          this.#nextLook = null
          if (this.#watchers.count > 0 && !this.isClosed) this.#poll()
        })
    })
    const look = { cancel }
    this.#nextLook = look
  }

  #stopLooking(): void {
    this.#nextLook?.cancel()
    this.#nextLook = null
  }

  /** Whoever waits hears of it by the refusal of its next read. */
  async #failed(error: unknown): Promise<void> {
    this.#failure = error instanceof DiskError ? error : null
    await this.close()
  }

  /** Why a watched log closed by itself; null when it did not. */
  get failure(): DiskError | null {
    return this.#failure
  }

  /** Closes the files. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#stopLooking()
    await this.#refreshing?.catch(() => {})
    await this.#reloading?.catch(() => {})
    await this.#loaded.log.abandon()
    this.#watchers.changed()
  }
}

async function load(folder: string, share: ReadOnlyShare): Promise<Loaded> {
  const named = partitionFolder(posix.basename(folder))
  if (named === null) {
    throw new LogDirectoryError(
      'malformed',
      posix.dirname(folder),
      `"${posix.basename(folder)}" is no name of a partition's folder`,
    )
  }
  for (let attempt = 1; ; attempt++) {
    try {
      return await loadOnce(folder, named.partition, share)
    } catch (error) {
      share.disk.forget(folder)
      const isGone = share.environment.disk.statNow(folder) === null
      const mayPass = error instanceof DiskError && error.code === 'ENOENT'
      if (isGone || !mayPass || attempt === ATTEMPTS) throw error
    }
  }
}

async function loadOnce(folder: string, partition: LogPartition, share: ReadOnlyShare): Promise<Loaded> {
  const { disk, environment } = share
  const directory = posix.dirname(folder)
  if (disk.statNow(folder)?.kind !== 'directory') throw new DiskError('ENOENT', 'open', folder, 'no such folder')
  const damage: Damage[] = []
  const logger = collecting(damage)
  const context: LogContext = {
    ...environment,
    ...share,
    // Nothing is appended: what others append is not seen here.
    tail: new TailCache(0),
    memory: new SlabPool(),
    logger,
    offload: share.offload,
    // Nothing of a log that is only read is ever taken away.
    removals: new Removals(disk, environment.timers),
    directory: new DirectoryHealth(directory),
    cleanerOffsets: new CleanerOffsets(disk, directory, logger),
    producerIdExpirationMs: () => Number.POSITIVE_INFINITY,
  }
  const config: ConfigBox = { value: DEFAULT_TOPIC_CONFIG }
  const loaded = await loadLog({
    context,
    partition,
    folder: { path: folder },
    config: () => config.value,
    hadCleanShutdown: disk.statNow(posix.join(directory, CLEAN_SHUTDOWN)) !== null,
    recoveryPoint: checkpointed(disk, folder, RECOVERY_POINTS),
    // The topic's config is not known here: what is missing between two segments may have been compacted away.
    recoveryPointIsKnown: false,
    logStartOffset: checkpointed(disk, folder, LOG_START_OFFSETS),
  })
  const state = new LogState(context, partition, () => config.value, loaded)
  const log = new PartitionLog(context, partition, config, loaded, state)
  log.updateHighWatermark(log.logEndOffset)
  const catchUp = await CatchUp.from(state, disk)
  const isInUse = lockHolder(environment.disk, environment.processes, directory) !== null
  const active = state.segments.active.baseOffset
  return { log, state, catchUp, damage: isInUse ? damage.filter(({ segment }) => segment !== active) : damage }
}

/** What a checkpoint of the directory says of a partition; 0 when it says nothing. */
function checkpointed(disk: OverlayDisk, folder: string, name: string): number {
  const named = partitionFolder(posix.basename(folder))
  const bytes = readIfThere(disk, posix.join(posix.dirname(folder), name))
  const read = bytes === null ? null : readOffsets(bytes)
  if (named === null || read === null || 'problem' in read) return 0
  return read.get(formatTopicPartition(named.partition)) ?? 0
}

/** The loader tells what it repairs as warnings. */
function collecting(damage: Damage[]): Logger {
  return {
    info() {},
    warn(fields, problem) {
      const { segment } = fields as { readonly segment?: number }
      damage.push({ segment: segment ?? null, problem })
    },
    error() {},
  }
}
