/** Apache Kafka 3.9.1 and we clean the same directory: the same is left, byte for byte where Kafka's own bytes do not depend on its libraries. */
import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import {
  type BrokerLogDirectories,
  DEFAULT_TOPIC_CONFIG,
  LogDirectories,
  nodeEnvironment,
  type PartitionLog,
  type TopicConfig,
  type Uncleanable,
} from '@mq/log'
import { BatchBuilder, type BatchOptions, type CodecName, endTransactionMarker, iterateBatches } from '@mq/protocol'
import { type ApacheTools, apacheTools } from './testing/apache-tools.test.support.js'
import { RawClient } from './testing/raw-client.js'

const HOUR = 3_600_000
const NOW = Date.now()

/** Small segments and dense indexes, so that groups of several are formed. */
const SMALL: Partial<TopicConfig> = {
  'cleanup.policy': ['compact'],
  'segment.bytes': 40_000,
  'index.interval.bytes': 300,
  'segment.index.bytes': 65_536,
  'min.cleanable.dirty.ratio': 0.01,
  'delete.retention.ms': HOUR,
}

interface Scene {
  readonly config?: Partial<TopicConfig>
  readonly codec?: CodecName
  /** How the records are written. */
  readonly producers?: 'none' | 'idempotent' | 'transactional'
  /** Whether gzip and its like write the records anew: their bytes depend on the library. */
  readonly bytesDiffer?: boolean
}

const SCENES: Readonly<Record<string, Scene>> = {
  plain: {},
  stamped: { config: { 'message.timestamp.type': 'LogAppendTime' } },
  idempotent: { producers: 'idempotent' },
  transactional: { producers: 'transactional' },
  gzip: { codec: 'gzip', producers: 'transactional', bytesDiffer: true },
  snappy: { codec: 'snappy', bytesDiffer: true },
  lz4: { codec: 'lz4', producers: 'idempotent', bytesDiffer: true },
  zstd: { codec: 'zstd', producers: 'transactional', bytesDiffer: true },
}

/** Filled like `plain`; then a bit of a value flips. */
const DAMAGED = 'damaged'
const TOPICS = [...Object.keys(SCENES), DAMAGED]

const configOf = (topic: string): TopicConfig => ({ ...DEFAULT_TOPIC_CONFIG, ...SMALL, ...SCENES[topic]?.config })

class Ours {
  private constructor(
    readonly directories: BrokerLogDirectories,
    readonly clock: { at: number },
  ) {}

  static async open(path: string): Promise<Ours> {
    const clock = { at: NOW }
    const directories = await LogDirectories.open({
      ...nodeEnvironment,
      clock: { now: () => clock.at, monotonic: nodeEnvironment.clock.monotonic },
      dirs: [path],
      brokerId: 1,
      cleaner: 'waits',
      topicConfig: configOf,
    })
    return new Ours(directories, clock)
  }

  /** Cleans what is due: so many logs. */
  async cleaned(count: number): Promise<void> {
    const cleaner = this.directories.cleaner!
    const before = cleaner.cleanings
    while (await cleaner.runOnce());
    assert.equal(cleaner.cleanings - before, count)
  }

  logs(): PartitionLog[] {
    const logs = [...this.directories.all()].filter(({ topicPartition }) => TOPICS.includes(topicPartition.topic))
    for (const log of logs) log.updateHighWatermark(log.logEndOffset)
    return logs
  }
}

/** Numbers that depend on the seed alone. */
function dice(seed: number): (sides: number) => number {
  let state = seed
  return (sides) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return Math.floor((state / 2 ** 32) * sides)
  }
}

/** Some thousand records: keys come again and again, tombstones, transactions that end either way, one producer that stays behind. */
async function fill(log: PartitionLog, topic: string, from: number, to: number): Promise<void> {
  const { codec = 'none', producers = 'none' } = SCENES[topic] ?? {}
  const roll = dice(from * 7919 + topic.length)
  const sequences = new Map<number, number>()
  const open = new Set<number>()
  const append = async (records: Buffer, origin: 'client' | 'coordinator') => {
    const outcome = await log.append(records, { origin, leaderEpoch: 0 })
    assert.equal(outcome.kind, 'appended', JSON.stringify(outcome))
    log.updateHighWatermark(log.logEndOffset)
  }
  const finish = (producerId: number) => {
    open.delete(producerId)
    const marker = { producerId, producerEpoch: 0, commit: roll(2) === 0, coordinatorEpoch: 0, timestamp: NOW - HOUR }
    return append(endTransactionMarker(marker), 'coordinator')
  }
  for (let step = from; step < to; step++) {
    const producerId = from * 100 + roll(4)
    const count = 1 + roll(12)
    const options: BatchOptions = {
      codec,
      ...(producers === 'none' ? {} : { producerId, producerEpoch: 0, baseSequence: sequences.get(producerId) ?? 0 }),
      ...(producers === 'transactional' ? { transactional: true } : {}),
    }
    const builder = new BatchBuilder(options)
    for (let at = 0; at < count; at++) {
      const key = `key-${roll(60)}`
      const value = roll(6) === 0 ? null : `${topic} ${step} ${'x'.repeat(roll(120))}`
      const headers = roll(5) === 0 ? [{ key: 'h', value: Buffer.from([at]) }] : []
      builder.tryAppend({ timestamp: NOW - 2 * HOUR + step * 1000 - roll(3000), key, value, headers })
    }
    sequences.set(producerId, (sequences.get(producerId) ?? 0) + count)
    await append(builder.build(), 'client')
    if (producers === 'transactional') {
      open.add(producerId)
      if (roll(3) === 0) await finish(producerId)
    }
  }
  for (const producerId of open) await finish(producerId)
}

interface Left {
  readonly offset: number
  readonly line: string
}

/** What stands in the data files: a line for each batch and for each record. */
function leftIn(folder: string): Left[] {
  const found: Left[] = []
  for (const file of dataFiles(folder)) {
    for (const batch of iterateBatches(readFileSync(join(folder, file)))) {
      const { baseOffset, lastOffset, baseSequence, producerId, codec, deleteHorizonMs, maxTimestamp, partitionLeaderEpoch } =
        batch
      const flags = `${batch.isControl ? 'control ' : ''}${batch.isTransactional ? 'transactional ' : ''}${batch.timestampType}`
      const header = {
        baseOffset,
        lastOffset,
        baseSequence,
        producerId,
        codec,
        deleteHorizonMs,
        maxTimestamp,
        partitionLeaderEpoch,
      }
      found.push({ offset: baseOffset, line: `${file} ${JSON.stringify(header)} ${flags}` })
      assert.ok(batch.crcIsValid())
      for (const { offset, timestamp, sequence, key, value, headers } of batch.records()) {
        const text = [offset, timestamp, sequence, key?.toString('latin1'), value?.toString('latin1') ?? null, headers]
        found.push({ offset, line: JSON.stringify(text) })
      }
    }
  }
  return found
}

const dataFiles = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.log'))
    .sort()
const lines = (left: readonly Left[]): string[] => left.map(({ line }) => line)
const folderOf = (logs: string, topic: string): string => join(logs, `${topic}-0`)

/** In the last value with padding of a closed segment: the last of its key, so that it stays when its batch loses others. */
function flipBit(folder: string): void {
  const path = join(folder, dataFiles(folder).at(-2)!)
  const bytes = readFileSync(path)
  bytes.write('X', bytes.lastIndexOf('xx'))
  writeFileSync(path, bytes)
}

/** When Java cleaned the log, from a horizon that it wrote. */
function cleanedAt(folder: string): number {
  const horizons = dataFiles(folder).flatMap((file) =>
    [...iterateBatches(readFileSync(join(folder, file)))].map(({ deleteHorizonMs }) => deleteHorizonMs ?? 0),
  )
  const latest = Math.max(...horizons)
  assert.ok(latest > NOW, 'Java wrote no horizon')
  return latest - HOUR
}

function checkpoint(logs: string): Map<string, number> {
  const [, , ...rows] = readFileSync(join(logs, 'cleaner-offset-checkpoint'), 'utf8').trim().split('\n')
  return new Map(rows.map((row) => row.split(' ')).map(([topic, , offset]) => [topic!, Number(offset)]))
}

async function withClient<R>(port: number, use: (client: RawClient) => Promise<R>): Promise<R> {
  const client = await RawClient.connect(port)
  try {
    return await use(client)
  } finally {
    client.socket.destroy()
  }
}

async function createTopics(client: RawClient): Promise<void> {
  const topics = TOPICS.map((name) => ({
    name,
    numPartitions: 1,
    replicationFactor: 1,
    assignments: [],
    configs: Object.entries({ ...SMALL, ...SCENES[name]?.config }).map(([key, value]) => ({ name: key, value: String(value) })),
  }))
  for (let tries = 0; ; tries++) {
    const answer = await client.ask('CreateTopics', 5, { topics, timeoutMs: 30_000, validateOnly: false })
    // A Java broker listens before it knows of itself.
    const isEarly = answer.topics.some(({ errorCode }) => errorCode === 38) && tries < 100
    if (!isEarly) return assert.deepEqual(new Set(answer.topics.map(({ errorCode }) => errorCode)), new Set([0]))
    await pause(100)
  }
}

/** All records that a reader of committed records gets from a running broker, as `leftIn` writes them; aborted ones are left out by it. */
async function served(client: RawClient, topic: string, end: number): Promise<string[]> {
  const found: string[] = []
  for (let offset = 0; offset < end; ) {
    const partitions = [{ partition: 0, fetchOffset: offset, partitionMaxBytes: 1_000_000 }]
    const answer = await client.ask('Fetch', 11, { maxWaitMs: 500, minBytes: 1, topics: [{ topic, partitions }] })
    const partition = answer.responses[0]!.partitions[0]!
    assert.ok([0, 3, 6].includes(partition.errorCode), `error ${partition.errorCode} at ${offset}`)
    for (const batch of iterateBatches(partition.records ?? Buffer.alloc(0))) {
      if (batch.lastOffset < offset) continue
      for (const { offset: at, key, value } of batch.records()) found.push(`${at} ${key} ${value}`)
      offset = batch.nextOffset
    }
  }
  return found
}

const COMPARED = /\.(log|index|timeindex|txnindex)$/

describe('Apache Kafka and we clean the same directory', function () {
  this.timeout(300_000)
  let dir: string
  let tools: ApacheTools
  let zookeeper: { connect: string; stop(): Promise<void> }
  /** Cleaned by Java, and by us. */
  let theirs: string
  let ours: string
  let setAside: readonly Uncleanable[]
  const offsets = new Map<string, number>()
  const java = async (config: Record<string, string | number | boolean>) => {
    const port = await tools.freePort()
    const broker = await tools.startApache({
      port,
      dir,
      zookeeper: zookeeper.connect,
      config: { 'log.retention.ms': -1, 'log.cleaner.backoff.ms': 100, ...config },
    })
    return { port, stop: () => broker.stop() }
  }

  before(async () => {
    tools = await apacheTools()
    dir = mkdtempSync(join(tmpdir(), 'mq-compaction-'))
    theirs = join(dir, 'logs')
    ours = join(dir, 'ours')
    zookeeper = await tools.startZooKeeper({ port: await tools.freePort(), dir })
    const maker = await java({ 'log.cleaner.enable': false })
    await withClient(maker.port, createTopics)
    await pause(500)
    await maker.stop()
    await write(theirs)
    flipBit(folderOf(theirs, DAMAGED))
    cpSync(theirs, ours, { recursive: true, preserveTimestamps: true })
    const cleaner = await java({})
    for (let tries = 0; !isCleaned(theirs); tries++) {
      assert.ok(tries < 600, 'Java has not cleaned everything')
      await pause(100)
    }
    await cleaner.stop()
    await cleanOurs(ours)
  })

  after(async () => {
    await zookeeper?.stop()
    rmSync(dir, { recursive: true, force: true })
  })

  /** Cleaned once by us, long ago, so that horizons have passed; and then much more. */
  async function write(logs: string): Promise<void> {
    const opened = await Ours.open(logs)
    assert.equal(opened.logs().length, TOPICS.length)
    opened.clock.at = NOW - 2 * HOUR
    for (const log of opened.logs()) {
      await fill(log, log.topicPartition.topic, 0, 120)
      await log.roll()
    }
    await opened.cleaned(TOPICS.length)
    opened.clock.at = NOW - HOUR / 2
    for (const log of opened.logs()) {
      await fill(log, log.topicPartition.topic, 120, 420)
      await log.roll()
      await fill(log, log.topicPartition.topic, 420, 425)
      offsets.set(log.topicPartition.topic, log.logEndOffset)
    }
    await opened.directories.close()
  }

  function isCleaned(logs: string): boolean {
    const cleaned = checkpoint(logs)
    return TOPICS.every((topic) => {
      const active = Number(dataFiles(folderOf(logs, topic)).at(-1)!.slice(0, 20))
      return cleaned.get(topic) === active
    })
  }

  async function cleanOurs(logs: string): Promise<void> {
    const opened = await Ours.open(logs)
    opened.logs()
    const { directories } = opened
    for (const topic of TOPICS) directories.holdRetention(topic)
    for (const topic of Object.keys(SCENES)) {
      opened.clock.at = cleanedAt(folderOf(theirs, topic))
      directories.releaseRetention(topic)
      await opened.cleaned(1)
      directories.holdRetention(topic)
    }
    assert.deepEqual(directories.cleaner!.uncleanable, [])
    directories.releaseRetention(DAMAGED)
    await opened.cleaned(0)
    setAside = directories.cleaner!.uncleanable
    await directories.close()
  }

  for (const [topic, { bytesDiffer = false }] of Object.entries(SCENES)) {
    it(`and leave the same batches and records of ${topic}`, () => {
      const [a, b] = [leftIn(folderOf(theirs, topic)), leftIn(folderOf(ours, topic))]
      assert.ok(a.length > 100)
      assert.deepEqual(lines(b), lines(a))
    })

    if (bytesDiffer) continue
    it(`and leave the same bytes of ${topic}, in data files and indexes`, () => {
      const active = dataFiles(folderOf(theirs, topic)).at(-1)!.slice(0, 20)
      const names = (logs: string) =>
        readdirSync(folderOf(logs, topic))
          .filter((name) => COMPARED.test(name) && !name.startsWith(active))
          .sort()
      assert.deepEqual(names(ours), names(theirs))
      assert.ok(names(ours).length >= 3)
      for (const name of names(ours)) {
        const [a, b] = [theirs, ours].map((logs) => readFileSync(join(folderOf(logs, topic), name)))
        assert.ok(a!.equals(b!), `${topic}/${name} differs: ${a!.length} bytes of Java, ${b!.length} of ours`)
      }
    })
  }

  it('but for a damaged batch: Java gives it a right checksum, we set the log aside', () => {
    const flipped = (folder: string) =>
      dataFiles(folder)
        .flatMap((file) => [...iterateBatches(readFileSync(join(folder, file)))])
        .filter((one) => Array.from(one.records()).some(({ value }) => value?.includes('X')))
    const [theirBatch] = flipped(folderOf(theirs, DAMAGED))
    assert.equal(theirBatch?.crcIsValid(), true)
    assert.equal(flipped(folderOf(ours, DAMAGED))[0]?.crcIsValid(), false)
    assert.deepEqual(
      setAside.map(({ partition, problem }) => [partition, problem]),
      [[{ topic: DAMAGED, partition: 0 }, 'the CRC does not match']],
    )
  })

  it('and write the same checkpoint', () => {
    const scenes = (logs: string) => [...checkpoint(logs)].filter(([topic]) => topic in SCENES).sort()
    assert.deepEqual(scenes(ours), scenes(theirs))
  })

  it('and kafka-dump-log finds nothing wrong in what we left', async () => {
    const files = (pattern: RegExp) =>
      Object.keys(SCENES).flatMap((topic) =>
        readdirSync(folderOf(ours, topic))
          .filter((name) => pattern.test(name))
          .map((name) => join(folderOf(ours, topic), name)),
      )
    const dump = async (wanted: string[], ...options: string[]) => {
      const { code, stdout, stderr } = await tools.runTool('kafka.tools.DumpLogSegments', [
        ...options,
        '--files',
        wanted.join(','),
      ])
      assert.equal(code, 0, stderr)
      assert.doesNotMatch(stdout, /mismatch|Mismatch|corrupt|isvalid: false/)
      return stdout
    }
    assert.match(await dump(files(/\.log$/), '--deep-iteration', '--print-data-log'), /deleteHorizonMs: OptionalLong\[/)
    await dump(files(/\.(index|timeindex|txnindex|snapshot)$/))
    const indexes = files(/\.(index|timeindex)$/)
    const sane = await dump(indexes, '--index-sanity-check')
    assert.equal((sane.match(/passed sanity check|is empty/g) ?? []).length, indexes.length)
  })

  it('and Java serves what we left as it is', async () => {
    const expected = new Map(Object.keys(SCENES).map((topic) => [topic, recordsIn(folderOf(ours, topic))]))
    rmSync(theirs, { recursive: true })
    cpSync(ours, theirs, { recursive: true, preserveTimestamps: true })
    const broker = await java({ 'log.cleaner.enable': false })
    try {
      await withClient(broker.port, async (client) => {
        for (const topic of Object.keys(SCENES)) {
          assert.deepEqual(await served(client, topic, offsets.get(topic)!), expected.get(topic), topic)
        }
      })
    } finally {
      await broker.stop()
    }
    for (const topic of Object.keys(SCENES)) assert.deepEqual(recordsIn(folderOf(theirs, topic)), expected.get(topic), topic)
  })
})

const recordsIn = (folder: string): string[] =>
  dataFiles(folder).flatMap((file) =>
    [...iterateBatches(readFileSync(join(folder, file)))].flatMap((batch) =>
      Array.from(batch.records(), ({ offset, key, value }) => `${offset} ${key} ${value}`),
    ),
  )
