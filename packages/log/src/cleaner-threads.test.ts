/** Cleaning in threads on the file system of this machine: who needs the log ends it, and directories of Java's are cleaned as they are. */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { iterateAnyBatches, RecordBatch, type RecordView } from '@mq/protocol'
import { vectors } from '../../../conformance/index.js'
import type { PartitionLog } from './log.js'
import { batch, PARTITION } from './log.test.support.js'
import { type BrokerLogDirectories, LogDirectories, type LogDirectoriesOptions } from './log-directories.js'
import { nodeEnvironment } from './node-environment.js'
import { DEFAULT_TOPIC_CONFIG, type TopicConfig } from './topic-config.js'

const CONFIG: TopicConfig = {
  ...DEFAULT_TOPIC_CONFIG,
  'cleanup.policy': ['compact'],
  'min.cleanable.dirty.ratio': 0,
  'segment.bytes': 20_000,
  'retention.ms': -1,
}

function open(directory: string, config: LogDirectoriesOptions['config'] = {}): Promise<BrokerLogDirectories> {
  return LogDirectories.open({
    ...nodeEnvironment,
    dirs: [directory],
    brokerId: 1,
    cleaner: 'waits',
    topicConfig: () => CONFIG,
    config: { 'producer.id.expiration.ms': 2 ** 60, ...config },
  })
}

/** All records that are stored, or with `lastStable` those that a reader of committed records gets. */
async function all(log: PartitionLog, upTo: 'logEnd' | 'lastStable' = 'logEnd'): Promise<RecordView[]> {
  const records: RecordView[] = []
  for (let offset = log.logStartOffset; offset < log.logEndOffset; ) {
    const read = await log.read(offset, { maxBytes: 1 << 20, minOneMessage: true, upTo })
    assert.ok(read.kind === 'read', JSON.stringify(read))
    if (read.sizeInBytes === 0) break
    const aborted = [...read.abortedTransactions].sort((a, b) => a.firstOffset - b.firstOffset)
    const skipped = new Set<number>()
    for (const one of iterateAnyBatches(Buffer.concat(read.slices))) {
      const from = offset
      offset = one.nextOffset
      if (one instanceof RecordBatch) {
        while (aborted.length > 0 && aborted[0]!.firstOffset <= one.lastOffset) skipped.add(aborted.shift()!.producerId)
        if (one.isControl) skipped.delete(one.producerId)
        if (one.isControl || (one.isTransactional && skipped.has(one.producerId))) continue
      }
      for (const record of one.records() as Iterable<RecordView>) if (record.offset >= from) records.push(record)
    }
  }
  return records
}

describe('a cleaning in a thread', function () {
  this.timeout(60_000)
  let directory: string
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'mq-cleaner-'))
  })
  afterEach(() => rmSync(directory, { recursive: true, force: true }))

  /** 60 keys, 40 times each. */
  async function filled(config: LogDirectoriesOptions['config'] = {}) {
    const directories = await open(directory, config)
    const log = await directories.create(PARTITION, null, CONFIG)
    for (let round = 0; round < 40; round++) {
      const keys = Array.from({ length: 60 }, (_, at) => `key ${at}`)
      const values = keys.map((key) => `${key} ${round} ${'x'.repeat(50)}`)
      await log.append(batch({ keys, values, timestamp: 1000 + round }), { origin: 'client', leaderEpoch: 0 })
    }
    await log.roll()
    log.updateHighWatermark(log.logEndOffset)
    return { directories, log }
  }
  const temporary = () => readdirSync(join(directory, 't-0')).filter((name) => /\.(cleaned|swap)$/.test(name))

  it('leaves the last value of each key', async () => {
    const { directories, log } = await filled()
    assert.equal(await directories.cleaner!.runOnce(), true)
    const left = await all(log)
    assert.deepEqual(
      left.map(({ key, value }) => `${value}`.startsWith(`${key} 39 `)),
      Array(60).fill(true),
    )
    assert.deepEqual(temporary(), [])
    await directories.close()
  })

  /** So slow that it would take a minute. */
  const SLOW = { 'log.cleaner.io.max.bytes.per.second': 5000, 'log.cleaner.io.buffer.size': 4000 }

  const needs: Record<string, (log: PartitionLog, directories: BrokerLogDirectories) => Promise<unknown>> = {
    'is cut': (log) => log.truncateTo(1000),
    'begins anew': (log) => log.truncateFullyAndStartAt(5000),
    'is deleted': (_, directories) => directories.delete(PARTITION),
    'is closed': (_, directories) => directories.close(),
    'is let go': (_, directories) => directories.abandon(),
  }
  for (const [what, act] of Object.entries(needs)) {
    it(`is given up when the log ${what}`, async () => {
      const { directories, log } = await filled(SLOW)
      const cleaning = directories.cleaner!.runOnce()
      while (!log.compaction.isUnderWay) await new Promise((resume) => setImmediate(resume))
      await act(log, directories)
      assert.equal(log.compaction.isUnderWay, false)
      await cleaning
      assert.equal(directories.cleaner!.cleanings, 0)
      assert.deepEqual(directories.cleaner!.uncleanable, [])
      await directories.close()
      if (what === 'is deleted') return
      const again = await open(directory)
      const found = again.get(PARTITION)!
      assert.equal(found.cut, null)
      assert.equal((await all(found)).length, what === 'is cut' ? 960 : what === 'begins anew' ? 0 : 2400)
      assert.deepEqual(temporary(), [])
      await again.close()
    })
  }

  it('lets the log grow, roll and be read meanwhile, and retention waits', async () => {
    const { directories, log } = await filled({
      'log.cleaner.io.max.bytes.per.second': 400_000,
      'log.cleaner.io.buffer.size': 40_000,
    })
    const cleaning = directories.cleaner!.runOnce()
    while (!log.compaction.isUnderWay) await new Promise((resume) => setImmediate(resume))
    await log.deleteRecordsBefore(700)
    assert.equal(await directories.applyRetention(), 0)
    for (let round = 0; log.compaction.isUnderWay; round++) {
      const bytes = batch({ keys: ['key 0'], values: [`${round}`], timestamp: 5000 })
      assert.equal((await log.append(bytes, { origin: 'client', leaderEpoch: 0 })).kind, 'appended')
      if (round % 50 === 0) await log.roll()
      const read = await log.read(700 + (round % 1700), { maxBytes: 5000, minOneMessage: true, upTo: 'logEnd' })
      assert.equal(read.kind, 'read')
    }
    assert.equal(await cleaning, true)
    assert.deepEqual(new Set((await all(log)).map(({ key }) => `${key}`)).size, 60)
    await directories.close()
  })
})

/** The last value of each key. */
function lastValues(records: readonly RecordView[]): Map<string, string | null> {
  const found = new Map<string, string | null>()
  for (const { key, value } of records) if (key !== null) found.set(key.toString('hex'), value?.toString('hex') ?? null)
  return found
}

const picture = ({ offset, exactTimestamp, key, value, headers }: RecordView) => ({ offset, exactTimestamp, key, value, headers })

for (const variant of ['main/clean', 'main/sigkill', 'old-formats/clean'] as const) {
  describe(`the data directory ${variant}, written by Apache Kafka, cleaned by us`, function () {
    this.timeout(60_000)
    it('has the last value of each key, as it was stored, in every format', async () => {
      const { logs, remove } = vectors.extractDatadir(variant)
      try {
        const directories = await open(logs)
        const before = new Map<PartitionLog, { stored: RecordView[]; values: Map<string, string | null> }>()
        for (const log of directories.all()) {
          await log.roll()
          log.updateHighWatermark(log.logEndOffset)
          before.set(log, { stored: await all(log), values: lastValues(await all(log, 'lastStable')) })
        }
        while (await directories.cleaner!.runOnce());
        assert.deepEqual(directories.cleaner!.uncleanable, [])
        assert.ok(directories.cleaner!.cleanings > 1)
        for (const [log, { stored, values }] of before) {
          const known = new Map(stored.map((record) => [record.offset, record]))
          for (const record of await all(log)) {
            assert.deepEqual(picture(record), picture(known.get(record.offset)!), `${log} ${record.offset}`)
          }
          const left = lastValues(await all(log, 'lastStable'))
          for (const [key, value] of values) if (value !== null) assert.equal(left.get(key), value, `${log} ${key}`)
          for (const [key, value] of left) assert.equal(value, values.get(key), `${log} ${key}`)
        }
        const counts = new Map<string, number>()
        for (const log of before.keys()) counts.set(`${log}`, (await all(log)).length)
        await directories.close()
        const again = await open(logs)
        for (const log of again.all()) {
          assert.equal(log.cut, null)
          log.updateHighWatermark(log.logEndOffset)
          assert.equal((await all(log)).length, counts.get(`${log}`))
        }
        await again.close()
      } finally {
        remove()
      }
    })
  })
}
