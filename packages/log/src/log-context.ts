/**
 * What the logs of one directory share: the outside (ports), caches with their bounds, and whether the directory still works.
 */
import type { SlabPool } from '@mq/protocol'
import type { CleanerOffsets } from './cleaner-offsets.js'
import type { IndexMemory } from './index-memory.js'
import { OffloadError } from './offload.js'
import type { OpenFiles } from './open-files.js'
import { type Refused, refused } from './outcomes.js'
import { type Clock, type Disk, DiskError, type Logger, type Offload, type Random, type Timers, type Turn } from './ports.js'
import type { Removals } from './removals.js'
import type { TailCache } from './tail-cache.js'
import { Watchers } from './watch.js'

export interface LogContext {
  readonly disk: Disk
  readonly clock: Clock
  readonly timers: Timers
  readonly random: Random
  readonly logger: Logger
  /** With it, small appends of one turn leave in one write; without it each is written at once. */
  readonly turn?: Turn | undefined
  /** Lets others have their turn in a walk over many logs; default: `turn`. */
  readonly pause?: Turn | undefined
  readonly files: OpenFiles
  readonly tail: TailCache
  readonly removals: Removals
  /** On the same disk as `disk`. */
  readonly offload: Offload
  /** What is read from the disk for readers lies in it. */
  readonly memory: SlabPool
  readonly indexMemory: IndexMemory
  readonly directory: DirectoryHealth
  readonly cleanerOffsets: CleanerOffsets
  readonly producerIdExpirationMs: () => number
  /** Called when a log was cut: resolves once no checkpoint on the disk says more of it than is there now. */
  readonly whenLogWentBack?: (log: {
    readonly name: string
    readonly checkpointedRecoveryPoint: number
    readonly logStartOffset: number
  }) => Promise<void>
}

/**
 * Whether a log directory can be trusted. The first failed write, read or sync takes it offline for good: after a failed sync
 * nobody knows which bytes are on the disk, so nothing of it is acknowledged any more.
 */
export class DirectoryHealth {
  /** To be told when it fails. */
  readonly watchers = new Watchers()
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

  /** Takes the directory offline. A broken invariant does so too: whatever it was, its bytes are not to be trusted. */
  failWith(error: unknown): Refused {
    if (this.#error === null) {
      this.#error = error instanceof DiskError ? error : unexpected(this.path, error)
      this.whenFailed(this.#error)
      this.watchers.changed()
    }
    return this.refusal()
  }

  /** For what only looks: work beside the loop that was not done, by a close or a thread that died, says nothing of the disk. */
  failedLook(error: unknown): Refused {
    return error instanceof OffloadError ? refused('KAFKA_STORAGE_ERROR', error.message) : this.failWith(error)
  }

  refusal(): Refused {
    return refused('KAFKA_STORAGE_ERROR', `log directory ${this.path} is offline: ${this.#error?.message ?? 'closed'}`)
  }
}

function unexpected(path: string, cause: unknown): DiskError {
  const error = new DiskError('EOTHER', 'use', path, cause instanceof Error ? cause.message : String(cause))
  error.cause = cause
  return error
}
