/** A log on a disk in memory, and batches to append to it: for the tests of this package. */
import { BatchBuilder, type BatchOptions } from '@mq/protocol'
import type { PartitionLog } from './log.js'
import { type BrokerLogDirectories, LogDirectories, type LogDirectoriesOptions } from './log-directories.js'
import { MemoryDisk } from './memory-disk.js'
import type { Appended, Refused } from './outcomes.js'
import type { Processes, Turn } from './ports.js'
import { ManualTime, seededRandom } from './testing.js'
import { DEFAULT_TOPIC_CONFIG, type TopicConfig } from './topic-config.js'

export const ALONE: Processes = {
  self: { pid: 1, startedAt: '1' },
  isRunning: () => false,
  holdsAdvisoryLock: () => false,
}

export interface Harness {
  readonly disk: MemoryDisk
  readonly time: ManualTime
  directories: BrokerLogDirectories
  log: PartitionLog
  /** Opens the same disk again: after a close, or after a crash. */
  reopen(): Promise<PartitionLog>
}

export interface HarnessOptions {
  readonly config?: Partial<TopicConfig>
  readonly turn?: Turn
  readonly disk?: MemoryDisk
  readonly time?: ManualTime
  readonly directories?: Partial<LogDirectoriesOptions>
}

export const PARTITION = { topic: 't', partition: 0 }
export const TOPIC_ID = 'AAAAAAAAAAAAAAAAAAAAAQ'

export async function harness(options: HarnessOptions = {}): Promise<Harness> {
  const time = options.time ?? new ManualTime()
  const disk = options.disk ?? new MemoryDisk({ now: () => time.now() })
  const config = { ...DEFAULT_TOPIC_CONFIG, ...options.config }
  const open = () =>
    LogDirectories.open({
      dirs: ['/data'],
      disk,
      clock: time,
      timers: time,
      random: seededRandom(7),
      processes: ALONE,
      brokerId: 1,
      clusterId: 'cluster',
      topicConfig: () => config,
      ...(options.turn === undefined ? {} : { turn: options.turn }),
      ...options.directories,
    })
  const directories = await open()
  const made: Harness = {
    disk,
    time,
    directories,
    log: await directories.create(PARTITION, TOPIC_ID, config),
    async reopen() {
      made.directories = await open()
      made.log = made.directories.get(PARTITION)!
      return made.log
    },
  }
  return made
}

/** What waits for `passed` goes on once `open` is called. */
export function gate(): { readonly passed: Promise<void>; readonly open: () => void } {
  let open = () => {}
  const passed = new Promise<void>((resolve) => {
    open = resolve
  })
  return { passed, open }
}

/** Whatever needs no timer and no disk that waits has happened afterwards. */
export async function settled(): Promise<void> {
  for (let turns = 0; turns < 300; turns++) await Promise.resolve()
}

export interface TestBatch extends BatchOptions {
  /** Values, one record each; keys are `k0`, `k1` … */
  readonly values?: readonly (string | Buffer | null)[]
  readonly keys?: readonly (string | null)[]
  readonly timestamp?: number
  readonly timestamps?: readonly number[]
}

export function batch({ values = ['v'], keys, timestamp = 1_700_000_000_000, timestamps, ...options }: TestBatch = {}): Buffer {
  const builder = new BatchBuilder(options)
  for (const [at, value] of values.entries()) {
    builder.tryAppend({ timestamp: timestamps?.[at] ?? timestamp, key: keys === undefined ? `k${at}` : keys[at]!, value })
  }
  return builder.build()
}

/** Appends as a client does, with leader epoch 0. */
export function produce(log: PartitionLog, records: Buffer, leaderEpoch = 0): Promise<Appended | Refused> {
  return Promise.resolve(log.append(records, { origin: 'client', leaderEpoch }))
}

export function appended(outcome: Appended | Refused): Appended {
  if (outcome.kind !== 'appended') throw new Error(`${outcome.error}: ${outcome.message}`)
  return outcome
}
