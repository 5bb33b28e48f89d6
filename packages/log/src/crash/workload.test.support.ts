/** What is done to the logs of one directory while the machine may stop: every operation that the engine has, as the seed says. */
import assert from 'node:assert/strict'
import { endTransactionMarker, RECORD_BATCH } from '@mq/protocol'
import type { PartitionLog } from '../log.js'
import { ALONE, batch } from '../log.test.support.js'
import { type BrokerLogDirectories, LogDirectories } from '../log-directories.js'
import type { Appended, Refused } from '../outcomes.js'
import type { Disk, Random } from '../ports.js'
import { ManualTime, ManualTurn, seededRandom } from '../testing.js'
import { DEFAULT_TOPIC_CONFIG, type TopicConfig } from '../topic-config.js'
import { continueFromCleaned } from './cleaned.test.support.js'
import { isCompacted, type Kind, type Model, PartitionModel } from './model.test.support.js'

const SMALL = { 'segment.bytes': 700, 'index.interval.bytes': 100, 'segment.index.bytes': 1024, 'retention.ms': -1 }

export const KINDS: readonly Kind[] = [
  { topic: 'kept', origin: 'client', config: SMALL },
  { topic: 'copied', origin: 'replication', config: SMALL },
  { topic: 'sized', origin: 'client', config: { ...SMALL, 'retention.bytes': 2000 } },
  { topic: 'large', origin: 'client', config: { ...SMALL, 'segment.bytes': 400_000 } },
  { topic: 'synced', origin: 'client', config: { ...SMALL, 'flush.messages': 1 } },
  {
    topic: 'compacted',
    origin: 'client',
    config: { ...SMALL, 'cleanup.policy': ['compact'], 'min.cleanable.dirty.ratio': 0, 'delete.retention.ms': 0 },
  },
]

const CONFIGS = new Map(KINDS.map(({ topic, config }) => [topic, { ...DEFAULT_TOPIC_CONFIG, ...config }]))

const configOf = (topic: string): TopicConfig => CONFIGS.get(topic) ?? DEFAULT_TOPIC_CONFIG

/** What a workload runs on: a machine that may stop, or a real disk. All that it decides comes from `random` and `model`. */
export interface Ground {
  readonly disk: Disk
  readonly model: Model
  readonly random: Random
  /** Rises as the work goes on: makes values that no other record has. */
  readonly changes: number
  /** Ends the turn that appends wait for, where they do. */
  endTurn: () => void
  until<R>(operation: R | Promise<R>): Promise<R>
  /** Lets everything that is under way end; null where nobody can tell when it has. */
  readonly settle: (() => Promise<void>) | null
  someTime(): Promise<void>
}

/** The time of the first records. */
const BEGAN = 1_700_000_000_000

/** One life of the process: from opening the directory to wherever it ends. */
export class Life {
  readonly #time = new ManualTime(BEGAN)
  readonly #turn: ManualTurn | undefined
  readonly #chanceOfTheEngine: Random
  #directories: BrokerLogDirectories | null = null
  #failure: Error | null = null

  constructor(
    readonly machine: Ground,
    readonly directory = '/data',
  ) {
    this.#chanceOfTheEngine = seededRandom(Math.floor(machine.random.next() * 2 ** 32))
    const turn = machine.random.next() < 0.3 ? new ManualTurn() : undefined
    this.#turn = turn
    machine.endTurn = () => turn?.end()
  }

  get directories(): BrokerLogDirectories {
    assert.ok(this.#directories !== null)
    return this.#directories
  }

  get #model(): Model {
    return this.machine.model
  }

  async open(): Promise<BrokerLogDirectories> {
    const opening = LogDirectories.open({
      dirs: [this.directory],
      disk: this.machine.disk,
      clock: this.#time,
      timers: this.#time,
      random: this.#chanceOfTheEngine,
      processes: ALONE,
      brokerId: 1,
      clusterId: 'cluster',
      topicConfig: configOf,
      cleaner: 'waits',
      config: { 'producer.id.expiration.ms': 2 ** 60 },
      tailCacheBytes: this.#chance(0.5) ? 0 : 1 << 20,
      ...(this.#turn === undefined ? {} : { turn: this.#turn }),
      whenDirectoryFails: (_, error) => {
        this.#failure = error
      },
    })
    this.#directories = await this.machine.until(opening)
    this.#mustWork()
    return this.#directories
  }

  /** A sound disk gives no reason to go offline. */
  #mustWork(): void {
    if (this.#failure !== null) throw this.#failure.cause ?? this.#failure
  }

  #chance(probability: number): boolean {
    return this.machine.random.next() < probability
  }

  /** A whole number from 0 on, below the limit. */
  #below(limit: number): number {
    return Math.floor(this.machine.random.next() * limit)
  }

  #one<T>(values: readonly T[]): T {
    return values[this.#below(values.length)]!
  }

  #logOf(partition: PartitionModel): PartitionLog {
    return this.directories.get({ topic: partition.kind.topic, partition: partition.partition })!
  }

  async step(): Promise<void> {
    const partitions = [...this.#model.partitions.values()]
    if (partitions.length < 2) return this.#create()
    const partition = this.#one(partitions)
    const log = this.#logOf(partition)
    const dice = this.machine.random.next()
    if (dice < 0.48) await this.#append(partition, log)
    else if (dice < 0.56) await this.#endTransaction(partition, log)
    else if (dice < 0.62) await this.#flush(partition, log)
    else if (dice < 0.66) await this.#flushWithAppends(partition, log)
    else if (dice < 0.69) await this.machine.until(log.roll())
    else if (dice < 0.72) await this.#clean()
    else if (dice < 0.75) await this.#checkpoint()
    else if (dice < 0.79) await this.#deleteRecords(partition, log)
    else if (dice < 0.83) await this.#retain(() => this.directories.applyRetention())
    else if (dice < 0.87) await this.#truncate(partition, log)
    else if (dice < 0.88) await this.#startOver(partition, log)
    else if (dice < 0.91) await this.#newEpoch(partition, log)
    else if (dice < 0.93) await this.#delete(partition)
    else if (dice < 0.95) await this.#create()
    else if (dice < 0.97 && this.machine.settle !== null)
      await this.#retain(async () => this.#time.advance(this.#one([6_000, 60_000, 300_000])))
    else await this.restart()
    await this.machine.someTime()
    this.#mustWork()
  }

  async #create(topic?: string): Promise<void> {
    const kind = KINDS.find((one) => one.topic === topic) ?? this.#one(KINDS)
    const number = this.#below(2)
    const name = `${kind.topic}-${number}`
    if (this.#model.partitions.has(name)) return
    const topicId = this.#chance(0.2) ? null : `${this.machine.changes.toString(36).padStart(6, 'B')}AAAAAAAAAAAAAAAQ`
    const partition = new PartitionModel(kind, number, topicId)
    partition.underWay = { kind: 'create' }
    this.#model.partitions.set(name, partition)
    await this.machine.until(this.directories.create({ topic: kind.topic, partition: number }, topicId, configOf(kind.topic)))
    partition.underWay = null
  }

  async #delete(partition: PartitionModel): Promise<void> {
    partition.underWay = { kind: 'delete' }
    await this.machine.until(this.directories.delete({ topic: partition.kind.topic, partition: partition.partition }))
    this.#model.partitions.delete(partition.name)
  }

  #values(partition: PartitionModel): string[] {
    // Beyond 128 KiB a write is asynchronous.
    const isLarge = partition.kind.topic === 'large' && this.#chance(0.1)
    return Array.from(
      { length: 1 + this.#below(3) },
      (_, at) => `${partition.name} ${this.machine.changes}.${at} ${'x'.repeat(isLarge ? 70_000 : this.#below(120))}`,
    )
  }

  /** Compaction needs keys that come again, and tombstones. */
  #keys(partition: PartitionModel, values: readonly string[]): { values: (string | null)[]; keys?: string[] } {
    if (!isCompacted(partition)) return { values: [...values] }
    return { values: values.map((value) => (this.#chance(0.25) ? null : value)), keys: values.map(() => `k${this.#below(5)}`) }
  }

  #timestamps(count: number): number[] {
    return Array.from({ length: count }, () => BEGAN + this.#below(1000))
  }

  async #append(partition: PartitionModel, log: PartitionLog): Promise<void> {
    if (partition.kind.origin === 'replication') return this.#replicate(partition, log)
    const { producers } = partition.history.replayWritten()
    const producerId = this.#one([-1, 1, 2, 3])
    const facts = producers.get(producerId)
    const known = log.producers().find((one) => one.producerId === producerId)
    // A hole in a compacted log may have swallowed its last batch.
    const lastSequence = (isCompacted(partition) ? known : facts)?.lastSequence ?? -1
    if (facts !== undefined && facts.lastSequence >= 0 && facts.lastSequence === lastSequence && this.#chance(0.08))
      return this.#repeat(partition, log, producerId)
    const group: Buffer[] = []
    const isNewEpoch = facts !== undefined && facts.firstOffset < 0 && this.#chance(0.06)
    const producerEpoch = (facts?.producerEpoch ?? 0) + (isNewEpoch ? 1 : 0)
    // Of one whose records were deleted, all but a marker, the log knows the epoch and expects it to begin anew.
    const isForgotten = known !== undefined && known.lastSequence < 0
    let baseSequence = isNewEpoch || isForgotten ? 0 : lastSequence + 1
    for (let left = this.#turn === undefined ? 1 : 1 + this.#below(3); left > 0; left--) {
      const values = this.#values(partition)
      const producer = producerId < 0 ? {} : { producerId, producerEpoch, baseSequence, transactional: producerId > 1 }
      group.push(batch({ ...this.#keys(partition, values), timestamps: this.#timestamps(values.length), ...producer }))
      baseSequence += values.length
    }
    await this.#write(partition, log, group, (one) => log.append(one, { origin: 'client', leaderEpoch: partition.epoch }))
  }

  /** A producer that did not hear the answer sends its last batch again. */
  async #repeat(partition: PartitionModel, log: PartitionLog, producerId: number): Promise<void> {
    const last = partition.history.written.findLast((one) => one.ofProducer?.producerId === producerId && !one.isControl)
    if (last === undefined || last.baseOffset < partition.start) return
    const again = Buffer.from(last.bytes)
    RECORD_BATCH.baseOffset.set(again, 0, 0)
    const outcome = await this.#answered(log.append(again, { origin: 'client', leaderEpoch: partition.epoch }))
    assert.ok(outcome.kind === 'appended' && outcome.duplicate, JSON.stringify(outcome))
    assert.deepEqual([outcome.firstOffset, outcome.lastOffset], [last.baseOffset, last.lastOffset])
  }

  #answered(outcome: ReturnType<PartitionLog['append']>): Promise<Appended | Refused> {
    this.#turn?.end()
    return this.machine.until(Promise.resolve(outcome))
  }

  /** What a follower fetched: batches with their offsets, after a gap where the leader's log was compacted. */
  async #replicate(partition: PartitionModel, log: PartitionLog): Promise<void> {
    const batches: Buffer[] = []
    let baseOffset = partition.end
    const { producers } = partition.history.replayWritten()
    const sequences = new Map([...producers].map(([producerId, { lastSequence }]) => [producerId, lastSequence + 1]))
    for (let left = 1 + this.#below(3); left > 0; left--) {
      if (this.#chance(0.15)) baseOffset += 1 + this.#below(3)
      const values = this.#values(partition)
      const producerId = this.#one([-1, 1, 2])
      const producer = {
        producerId,
        producerEpoch: producers.get(producerId)?.producerEpoch ?? 0,
        baseSequence: sequences.get(producerId) ?? 0,
        transactional: producerId === 2,
      }
      sequences.set(producerId, producer.baseSequence + values.length)
      const timestamps = this.#timestamps(values.length)
      batches.push(batch({ values, timestamps, ...(producerId < 0 ? {} : producer), baseOffset, leaderEpoch: partition.epoch }))
      baseOffset += values.length
    }
    while (batches.length > 1 && Buffer.concat(batches).length > 700) batches.pop()
    const fetched = Buffer.concat(batches)
    await this.#write(
      partition,
      log,
      batches,
      () => log.append(fetched, { origin: 'replication', leaderEpoch: partition.epoch }),
      1,
    )
  }

  /** Appends, and believes what is answered. */
  async #write(
    partition: PartitionModel,
    log: PartitionLog,
    batches: readonly Buffer[],
    append: (one: Buffer) => ReturnType<PartitionLog['append']>,
    calls = batches.length,
  ): Promise<void> {
    partition.underWay = { kind: 'append', batches }
    const answers = batches.slice(0, calls).map(append)
    this.#turn?.end()
    const outcomes = await this.machine.until(answers.some((one) => one instanceof Promise) ? Promise.all(answers) : answers)
    for (const outcome of outcomes)
      assert.ok(!(outcome instanceof Promise) && outcome.kind === 'appended', JSON.stringify(outcome))
    for (const one of batches) partition.history.add(Buffer.from(one))
    partition.underWay = null
    assert.equal(log.logEndOffset, partition.end)
    if (partition.kind.config['flush.messages'] === 1) partition.durableEnd = partition.end
    if (this.#chance(0.8)) log.updateHighWatermark(log.logEndOffset)
  }

  async #endTransaction(partition: PartitionModel, log: PartitionLog): Promise<void> {
    const open = [...partition.history.replayWritten().producers.values()].filter(({ firstOffset }) => firstOffset >= 0)
    if (open.length === 0) return this.#append(partition, log)
    const { producerId, producerEpoch, coordinatorEpoch } = this.#one(open)
    const marker = endTransactionMarker({
      producerId,
      producerEpoch,
      commit: this.#chance(0.4),
      coordinatorEpoch: Math.max(0, coordinatorEpoch) + (this.#chance(0.2) ? 1 : 0),
      timestamp: BEGAN + this.#below(1000),
      ...(partition.kind.origin === 'replication' ? { offset: partition.end, leaderEpoch: partition.epoch } : {}),
    })
    const origin = partition.kind.origin === 'replication' ? 'replication' : 'coordinator'
    await this.#write(partition, log, [marker], (one) => log.append(one, { origin, leaderEpoch: partition.epoch }))
  }

  async #flush(partition: PartitionModel, log: PartitionLog): Promise<void> {
    await this.machine.until(log.flush())
    partition.durableEnd = partition.end
  }

  async #flushWithAppends(partition: PartitionModel, log: PartitionLog): Promise<void> {
    const promised = partition.end
    const flushing = log.flush()
    for (let left = 1 + this.#below(4); left > 0; left--) await this.#append(partition, log)
    await this.machine.until(flushing)
    partition.durableEnd = Math.max(partition.durableEnd, promised)
  }

  async #checkpoint(): Promise<void> {
    await this.machine.until(this.directories.checkpointAll())
    for (const partition of this.#model.partitions.values()) {
      partition.durableStart = partition.start
      partition.durableHighWatermark = this.#logOf(partition).highWatermark
    }
  }

  async #deleteRecords(partition: PartitionModel, log: PartitionLog): Promise<void> {
    const to = log.logStartOffset + this.#below(log.highWatermark - log.logStartOffset + 1)
    partition.start = to
    const outcome = await this.machine.until(log.deleteRecordsBefore(to))
    assert.deepEqual(outcome, { kind: 'deleted', logStartOffset: to })
  }

  /** Anything that may take old segments away. */
  async #retain(work: () => Promise<unknown>): Promise<void> {
    for (const partition of this.#model.partitions.values()) {
      partition.underWay = { kind: 'retention' }
    }
    await this.machine.until(work())
    await this.machine.settle?.()
    for (const partition of this.#model.partitions.values()) {
      const log = this.#logOf(partition)
      assert.ok(log.logStartOffset >= partition.start)
      partition.underWay = null
      partition.start = log.logStartOffset
      partition.durableStart = Math.max(partition.durableStart, Math.min(log.firstSegmentOffset, partition.start))
    }
  }

  /** Cleans all that is due, while one of those that are cleaned goes on growing. */
  async #clean(): Promise<void> {
    const compacted = [...this.#model.partitions.values()].filter(isCompacted)
    if (compacted.length === 0) return this.#create('compacted')
    for (const partition of compacted) partition.isBeingCleaned = true
    const grows = this.#one(compacted)
    const cleaning = this.directories.cleaner!.runOnce()
    for (let left = this.#below(3); left > 0; left--) await this.#append(grows, this.#logOf(grows))
    await this.machine.until(cleaning)
    assert.deepEqual(this.directories.cleaner!.uncleanable, [])
    for (const partition of compacted) {
      const log = this.#logOf(partition)
      await this.machine.until(continueFromCleaned(log, partition))
      partition.isBeingCleaned = false
      // Nothing that was cleaned may be lost any more. Where the cleaner's offset only followed the log's start, nothing was.
      const cleaned = log.compaction.state.context.cleanerOffsets.get(log.topicPartition) ?? 0
      if (cleaned > log.logStartOffset) partition.durableEnd = Math.max(partition.durableEnd, cleaned)
    }
  }

  /** A follower whose log differs from its leader's: it cuts, at a batch. */
  async #truncate(partition: PartitionModel, log: PartitionLog): Promise<void> {
    const { history } = partition
    const left = history.batches.slice(history.indexAt(partition.start)).filter(({ baseOffset }) => baseOffset >= partition.start)
    if (left.length === 0) return
    const to = left[Math.floor(left.length * (1 - this.machine.random.next() ** 2))]!.baseOffset
    const end = history.clone().cutTo(to)
    partition.underWay = { kind: 'truncate', to: end }
    partition.durableEnd = Math.min(partition.durableEnd, end)
    partition.durableHighWatermark = Math.min(partition.durableHighWatermark, to)
    const epochLeft =
      to > Math.max(partition.statesKnownFrom, partition.start)
        ? (history.batches[history.indexAt(to) - 1]?.leaderEpoch ?? -1)
        : -1
    partition.durableEpoch = Math.min(partition.durableEpoch, epochLeft)
    // Without a snapshot, its producers are looked for from the log's start on.
    await this.machine.until(log.truncateTo(to))
    history.cutTo(to)
    partition.producersKnownFrom = [...partition.producersKnownFrom, partition.start]
    partition.underWay = null
    assert.equal(log.logEndOffset, to)
    if (history.end < to) await this.#fillGap(partition, log, to)
  }

  /** A cut behind a gap leaves the log's end behind it, too: the next batch comes there. */
  async #fillGap(partition: PartitionModel, log: PartitionLog, at: number): Promise<void> {
    const filling = batch({ values: ['behind a gap'], timestamps: [BEGAN], baseOffset: at, leaderEpoch: partition.epoch })
    await this.#write(partition, log, [filling], (one) =>
      log.append(one, { origin: 'replication', leaderEpoch: partition.epoch }),
    )
  }

  /** A follower whose records its leader has deleted. */
  async #startOver(partition: PartitionModel, log: PartitionLog): Promise<void> {
    const at = partition.end + this.#below(6)
    partition.underWay = { kind: 'startOver' }
    partition.durableHighWatermark = 0
    partition.durableEpoch = -1
    await this.machine.until(log.truncateFullyAndStartAt(at))
    partition.history.startOver(at)
    partition.statesKnownFrom = 0
    partition.producersKnownFrom = []
    partition.start = at
    partition.allIsDurable()
    partition.underWay = null
  }

  async #newEpoch(partition: PartitionModel, log: PartitionLog): Promise<void> {
    partition.epoch++
    const { epoch } = partition
    await this.machine.until(log.assignEpoch(epoch, log.logEndOffset))
    partition.durableEpoch = epoch
  }

  /** A clean stop: all of it stays, and the next start scans nothing. */
  async restart(): Promise<void> {
    for (const partition of this.#model.partitions.values())
      partition.producersWhenClean = partition.end > partition.start ? producerIds(this.#logOf(partition)) : []
    await this.close()
    for (const partition of this.#model.partitions.values()) {
      partition.allIsDurable()
      // An epoch without records is not kept over a start.
      partition.durableEpoch = -1
    }
    await this.open()
    assert.equal(this.directories.wasCleanShutdown(this.directory), true)
    for (const partition of this.#model.partitions.values()) {
      const log = this.#logOf(partition)
      assert.deepEqual(
        [log.logStartOffset, log.logEndOffset],
        [partition.start, partition.end],
        `${partition.name} after a clean stop`,
      )
      assert.equal(log.cut, null)
      partition.producersWhenClean = []
      log.updateHighWatermark(log.logEndOffset)
    }
  }

  async close(): Promise<void> {
    await this.machine.until(this.directories.close())
    this.#mustWork()
  }
}

const producerIds = (log: PartitionLog): number[] => log.producers().map(({ producerId }) => producerId)
