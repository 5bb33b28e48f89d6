/**
 * Compacts logs whose topics ask for it: again and again the dirtiest that is due, at most two at a time. A log that cannot be cleaned is
 * set aside and reported once; the others go on.
 */
import { formatTopicPartition, type TopicPartition } from '@mq/protocol'
import { Breather } from './breather.js'
import type { CleanerConfig } from './cleaner-config.js'
import { type Cleanable, cleanable } from './compaction/cleanable.js'
import { offsetMapCapacity } from './compaction/offset-map.js'
import type { PartitionLog } from './log.js'
import type { CleanSettings } from './log-compaction.js'
import type { Clock, Logger, Random, Timers, Turn } from './ports.js'

export interface CleanerOptions {
  readonly config: CleanerConfig
  readonly logs: () => Iterable<PartitionLog>
  /** Topics whose configs are not known yet. */
  readonly isHeld: (topic: string) => boolean
  /** Writes the recovery points of a directory to their file. */
  readonly checkpointRecoveryPoints: (directory: string) => Promise<void>
  readonly clock: Clock
  readonly timers: Timers
  /** With it, others are let in between two of many logs. */
  readonly turn?: Turn | undefined
  readonly random: Random
  readonly logger: Logger
}

/** A log that is not cleaned any more, and why. */
export interface Uncleanable {
  readonly partition: TopicPartition
  readonly directory: string
  /** Base offset of the segment, and where in its data file; null when it is not the data that is at fault. */
  readonly segment: number | null
  readonly position: number | null
  readonly problem: string
}

/** More would leave the machine nothing for requests. */
const MOST_AT_A_TIME = 2
/** Most memory of one map, as in Kafka. */
const LARGEST_MAP_BYTES = 0x7fff_ffff

const atATime = (config: CleanerConfig): number => Math.min(MOST_AT_A_TIME, config['log.cleaner.threads'])

function mapBytes(config: CleanerConfig): number {
  return Math.min(Math.floor(config['log.cleaner.dedupe.buffer.size'] / Math.max(1, atATime(config))), LARGEST_MAP_BYTES)
}

/** What is wrong with the configs of the cleaner taken together; null if nothing is. */
export function cleanerProblem(config: CleanerConfig): string | null {
  if (!config['log.cleaner.enable']) return null
  const keys = offsetMapCapacity(mapBytes(config), config['log.cleaner.io.buffer.load.factor'])
  if (keys > 1) return null
  return (
    'log.cleaner.dedupe.buffer.size has no room for a single key, so that compaction would never get on: ' +
    'increase it, or log.cleaner.io.buffer.load.factor, or decrease log.cleaner.threads'
  )
}

export class Cleaner {
  readonly #options: CleanerOptions
  readonly #busy = new Set<PartitionLog>()
  /** One that was deleted is forgotten with its log. */
  readonly #uncleanable = new WeakMap<PartitionLog, Uncleanable>()
  readonly #cancels = new Set<() => void>()
  readonly #running = new Set<Promise<unknown>>()
  #cleanings = 0
  #isClosed = false

  /** @throws RangeError for configs that `cleanerProblem` names */
  constructor(options: CleanerOptions) {
    const problem = cleanerProblem(options.config)
    if (problem !== null) throw new RangeError(problem)
    this.#options = options
  }

  /** How many logs were cleaned since the start. */
  get cleanings(): number {
    return this.#cleanings
  }

  /** Those that are set aside until the next start. */
  get uncleanable(): readonly Uncleanable[] {
    return [...this.#options.logs()].flatMap((log) => this.#uncleanable.get(log) ?? [])
  }

  /** Begins to clean, now and again. */
  start(): void {
    for (let count = atATime(this.#options.config); count > 0; count--) this.#passAfter(0)
  }

  #passAfter(delayMs: number): void {
    const { timers, logger, config } = this.#options
    const cancel = timers.after(delayMs, () => {
      this.#cancels.delete(cancel)
      const pass = this.runOnce()
        .catch((error) => {
          logger.error({ error }, 'a pass of the cleaner failed')
          return false
        })
        .then((cleaned) => {
          this.#running.delete(pass)
          if (!this.#isClosed) this.#passAfter(cleaned ? 0 : config['log.cleaner.backoff.ms'])
        })
      this.#running.add(pass)
    })
    this.#cancels.add(cancel)
  }

  /**
   * One pass: cleans the dirtiest log that is due; then compacted logs lose what lies before their start, or what they no longer keep.
   * @returns whether a log was due
   */
  async runOnce(): Promise<boolean> {
    const due = await this.#dirtiest()
    if (due !== null) await this.#clean(due)
    const breather = new Breather(this.#options)
    for (const log of this.#eligible()) {
      if (!this.#isClosed) await log.applyRetention()
      await breather.breathe()
    }
    return due !== null
  }

  #eligible(): PartitionLog[] {
    const { logs, isHeld } = this.#options
    return [...logs()].filter(
      (log) =>
        log.config['cleanup.policy'].includes('compact') &&
        !this.#busy.has(log) &&
        !this.#uncleanable.has(log) &&
        !log.isOffline &&
        !isHeld(log.topicPartition.topic),
    )
  }

  /** It is taken by whoever asked, until it is cleaned. */
  async #dirtiest(): Promise<PartitionLog | null> {
    const due: { readonly log: PartitionLog; readonly dirtyRatio: number }[] = []
    const breather = new Breather(this.#options)
    for (const log of this.#eligible()) {
      await breather.breathe()
      const picture = await log.compaction.picture()
      const found = picture === null ? null : cleanable(picture)
      if (found === null) continue
      if (found.checkpointIsWrong) await this.#mendCheckpoint(log, found)
      if (found.isDue) due.push({ log, dirtyRatio: found.dirtyRatio })
    }
    due.sort((a, b) => b.dirtyRatio - a.dirtyRatio)
    const dirtiest = due.find(({ log }) => !this.#busy.has(log) && !log.isOffline)
    if (dirtiest === undefined || this.#isClosed) return null
    this.#busy.add(dirtiest.log)
    return dirtiest.log
  }

  async #mendCheckpoint(log: PartitionLog, { firstDirtyOffset }: Cleanable): Promise<void> {
    const { 'cleanup.policy': policy } = log.config
    // Where segments are deleted as well the start overtakes the checkpoint again and again.
    if (!policy.includes('delete')) {
      const fields = { partition: String(log), firstDirtyOffset }
      this.#options.logger.warn(fields, 'the checkpoint of the cleaner names an offset that the log does not have')
    }
    await log.compaction.cleanedTo(firstDirtyOffset)
  }

  async #clean(log: PartitionLog): Promise<void> {
    const { logger } = this.#options
    try {
      const outcome = await log.compaction.clean(this.#settingsFor(log))
      if (outcome.kind === 'cleaned') {
        this.#cleanings++
        const { kind, ...counts } = outcome
        logger.info({ partition: String(log), ...counts }, 'cleaned')
      } else if (outcome.kind === 'uncleanable') {
        const { kind, ...where } = outcome
        const { topicPartition: partition, directory } = log
        this.#uncleanable.set(log, { partition, directory, ...where })
        const text = `${formatTopicPartition(partition)} is not compacted any more: ${where.problem}`
        logger.error({ partition: String(log), directory, ...where }, text)
      }
    } finally {
      this.#busy.delete(log)
    }
  }

  #settingsFor(log: PartitionLog): CleanSettings {
    const { config, random, checkpointRecoveryPoints } = this.#options
    const places = Math.max(1, atATime(config))
    return {
      map: {
        memoryBytes: mapBytes(config),
        loadFactor: config['log.cleaner.io.buffer.load.factor'],
        seed: Math.floor(random.next() * 2 ** 32),
      },
      // One half to read, one half to write.
      chunkBytes: Math.floor(Math.floor(config['log.cleaner.io.buffer.size'] / places) / 2),
      bytesPerSecond: config['log.cleaner.io.max.bytes.per.second'] / places,
      checkpointRecoveryPoints: () => checkpointRecoveryPoints(log.directory),
    }
  }

  /** Ends what is under way, and resolves then. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const cancel of this.#cancels) cancel()
    this.#cancels.clear()
    await Promise.all([...this.#busy].map((log) => log.compaction.without(async () => {})))
    await Promise.all(this.#running)
  }
}
