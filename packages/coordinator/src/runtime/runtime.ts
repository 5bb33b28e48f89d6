/**
 * The shards of one kind of coordinator on this broker: loaded when it begins to lead a partition of the internal topic, unloaded
 * when it ceases to, and loaded again when an append leaves open what the log holds.
 */
import type { CodecName, ErrorName } from '@mq/protocol'
import { ActiveShard } from './active-shard.js'
import { load } from './load.js'
import type { Clock, Logger, PartitionPort, Timers } from './ports.js'
import type { Shard, ShardTypes } from './shard.js'

export interface RuntimeOptions<T extends ShardTypes> {
  readonly rules: Shard<T>
  readonly clock: Clock
  readonly timers: Timers
  readonly logger: Logger
  readonly commitTimeoutMs: number
  /** Requests that may be open in one shard, parked ones among them. Default 100,000. */
  readonly requestLimit?: number
  /** Compression of the batches. Default: none. */
  readonly codec?: CodecName
  readonly carryOut?: (effect: T['Effect']) => void
}

export type ShardStatus = 'elsewhere' | 'loading' | 'active'

interface Entry<T extends ShardTypes> {
  readonly port: PartitionPort
  /** Null while it loads. */
  shard: ActiveShard<T> | null
  attempts: number
  cancelRetry: () => void
  /** Who waits for the end of the load; null: it will not be loaded here. */
  onceLoaded: ((shard: ActiveShard<T> | null) => void)[]
}

const REQUEST_LIMIT = 100_000
const FIRST_RETRY_MS = 100
const LAST_RETRY_MS = 30_000

export class Runtime<T extends ShardTypes> {
  readonly #options: RuntimeOptions<T>
  readonly #entries = new Map<number, Entry<T>>()

  constructor(options: RuntimeOptions<T>) {
    this.#options = options
  }

  get isLoading(): boolean {
    for (const entry of this.#entries.values()) if (entry.shard === null) return true
    return false
  }

  status(partition: number): ShardStatus {
    const entry = this.#entries.get(partition)
    if (entry === undefined) return 'elsewhere'
    return entry.shard === null ? 'loading' : 'active'
  }

  /** This broker leads the partition: its state is read from its log. Resolves when the first attempt has ended. */
  async load(port: PartitionPort): Promise<void> {
    const known = this.#entries.get(port.partition)
    if (known?.port === port) return
    if (known) this.unload(port.partition)
    const entry: Entry<T> = { port, shard: null, attempts: 0, cancelRetry: () => {}, onceLoaded: [] }
    this.#entries.set(port.partition, entry)
    await this.#load(entry)
  }

  /** Another broker leads it now: whoever waits is sent there. */
  unload(partition: number, error: ErrorName = 'NOT_COORDINATOR'): void {
    const entry = this.#entries.get(partition)
    if (!entry) return
    this.#entries.delete(partition)
    entry.cancelRetry()
    entry.shard?.close(error)
    for (const tell of entry.onceLoaded.splice(0)) tell(null)
  }

  /** Undefined when the shard is not active here. */
  run(partition: number, command: T['Command']): Promise<T['Reply']> | undefined {
    return this.#entries.get(partition)?.shard?.run(command)
  }

  /** Gives the command to all shards that are here, to those that are loading once they are loaded. Resolves when all have answered. */
  async runEverywhere(command: T['Command']): Promise<void> {
    const answers = Array.from(this.#entries.values(), async (entry) => {
      const shard = entry.shard ?? (await new Promise<ActiveShard<T> | null>((loaded) => entry.onceLoaded.push(loaded)))
      await shard?.run(command)
    })
    await Promise.all(answers)
  }

  /** The state of an active shard, to be read at once and not to be kept. */
  stateOf(partition: number): T['State'] | undefined {
    return this.#entries.get(partition)?.shard?.state
  }

  activePartitions(): number[] {
    return [...this.#entries].filter(([, { shard }]) => shard !== null).map(([partition]) => partition)
  }

  close(): void {
    for (const partition of [...this.#entries.keys()]) this.unload(partition, 'COORDINATOR_NOT_AVAILABLE')
  }

  async #load(entry: Entry<T>): Promise<void> {
    const { rules, clock, logger } = this.#options
    const { port } = entry
    const isWanted = () => this.#entries.get(port.partition) === entry
    const letOthersRun = () => new Promise<void>((resolve) => void this.#options.timers.after(0, resolve))
    const began = clock.monotonic()
    const state = rules.empty()
    try {
      const { records, skipped, bytes } = await load(rules, state, port, logger, isWanted, letOthersRun)
      if (!isWanted()) return
      const ms = Math.round(clock.monotonic() - began)
      if (records + skipped > 0) {
        logger.info({ topic: port.topic, partition: port.partition, records, skipped, bytes, ms }, `${rules.name} loaded`)
      }
      entry.attempts = 0
      entry.shard = new ActiveShard(state, port, {
        ...this.#options,
        requestLimit: this.#options.requestLimit ?? REQUEST_LIMIT,
        codec: this.#options.codec ?? 'none',
        carryOut: this.#options.carryOut ?? (() => {}),
        onBroken: (reason) => this.#reload(entry, reason),
      })
      for (const tell of entry.onceLoaded.splice(0)) tell(entry.shard)
    } catch (error) {
      if (!isWanted()) return
      const retryMs = Math.min(FIRST_RETRY_MS * 2 ** entry.attempts++, LAST_RETRY_MS)
      logger.error({ topic: port.topic, partition: port.partition, error, retryMs }, `${rules.name} could not be loaded`)
      entry.cancelRetry = this.#options.timers.after(retryMs, () => void this.#load(entry))
    }
  }

  /** Memory and log may differ: what memory says is given up for what the log says. */
  #reload(entry: Entry<T>, reason: string): void {
    if (this.#entries.get(entry.port.partition) !== entry) return
    const { rules, logger } = this.#options
    logger.error({ topic: entry.port.topic, partition: entry.port.partition, reason }, `${rules.name} is loaded again`)
    entry.shard?.close('NOT_COORDINATOR')
    entry.shard = null
    void this.#load(entry)
  }
}
