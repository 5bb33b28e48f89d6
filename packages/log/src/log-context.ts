/**
 * What the logs of one directory share: the outside (ports), caches with their bounds, and whether the directory still works.
 */
import type { IndexMemory } from './index-memory.js'
import type { OpenFiles } from './open-files.js'
import { type Refused, refused } from './outcomes.js'
import { type Clock, type Disk, DiskError, type Logger, type Random, type Timers, type Turn } from './ports.js'
import type { TailCache } from './tail-cache.js'

export interface LogContext {
  readonly disk: Disk
  readonly clock: Clock
  readonly timers: Timers
  readonly random: Random
  readonly logger: Logger
  /** With it, small appends of one turn leave in one write; without it each is written at once. */
  readonly turn?: Turn | undefined
  readonly files: OpenFiles
  readonly tail: TailCache
  readonly indexMemory: IndexMemory
  readonly directory: DirectoryHealth
  readonly producerIdExpirationMs: () => number
}

/**
 * Whether a log directory can be trusted. The first failed write, read or sync takes it offline for good: after a failed sync
 * nobody knows which bytes are on the disk, so nothing of it is acknowledged any more.
 */
export class DirectoryHealth {
  #error: DiskError | null = null

  constructor(
    readonly path: string,
    readonly whenFailed: (error: DiskError) => void = () => {},
  ) {}

  get isOffline(): boolean {
    return this.#error !== null
  }

  get error(): DiskError | null {
    return this.#error
  }

  /** Takes the directory offline; anything but a failure of the disk is thrown on. */
  failWith(error: unknown): Refused {
    if (!(error instanceof DiskError)) throw error
    if (this.#error === null) {
      this.#error = error
      this.whenFailed(error)
    }
    return this.refusal()
  }

  refusal(): Refused {
    return refused('KAFKA_STORAGE_ERROR', `log directory ${this.path} is offline: ${this.#error?.message ?? 'closed'}`)
  }
}
