import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { iterateAnyBatches, type Record, RecordBatch } from '@mq/protocol'
import { type RecordsSummary, summary, vectors } from '../../../conformance/index.js'
import { nodeDisk, nodeProcesses } from './disk-node.js'
import type { PartitionLog } from './log.js'
import { type BrokerLogDirectories, LogDirectories } from './log-directories.js'
import type { ReadLimit } from './outcomes.js'
import { ManualTime, seededRandom } from './testing.js'
import { DEFAULT_TOPIC_CONFIG } from './topic-config.js'

/** The day on which the directories were made. */
const MADE = Date.UTC(2026, 10, 29, 21)

interface ExpectedPartition {
  readonly topic: string
  readonly partition: number
  readonly topicId: string | null
  readonly logStartOffset: number
  readonly highWatermark: number
  readonly logEndOffset: number
  readonly lastStableOffset: number
  /** Not there for a topic whose message format is from before timestamps: the broker refused to search by time. */
  readonly maxTimestamp?: number | bigint
  readonly offsetOfMaxTimestamp?: number
  readonly read_uncommitted: RecordsSummary
  readonly read_committed: RecordsSummary
  readonly producers?: readonly ExpectedProducer[]
}

interface ExpectedProducer {
  readonly producerId: number
  readonly producerEpoch: number
  readonly lastSequence: number
  readonly lastTimestamp: number
  readonly coordinatorEpoch: number | null
  readonly currentTransactionStartOffset: number | null
}

interface Expected {
  readonly clusterId: string
  readonly partitions: { readonly [name: string]: ExpectedPartition }
  readonly logSizesAfterRecovery?: { readonly [partition: string]: { readonly [file: string]: number } }
}

/** The intervals that the topics were made with. */
function indexInterval(topic: string): number {
  if (topic === 'plain') return 512
  if (topic.startsWith('comp-')) return 1024
  return /^(txn|deleted-records|compacted.*)$/.test(topic) ? 256 : 4096
}

async function open(logs: string, producers: 'expire' | 'stay'): Promise<BrokerLogDirectories> {
  const time = new ManualTime(MADE)
  return LogDirectories.open({
    dirs: [logs],
    disk: nodeDisk,
    clock: time,
    timers: time,
    random: seededRandom(1),
    processes: nodeProcesses,
    config: producers === 'stay' ? { 'producer.id.expiration.ms': 2 ** 60 } : {},
    brokerId: 1,
    topicConfig: (topic) => ({
      ...DEFAULT_TOPIC_CONFIG,
      'retention.ms': -1,
      'segment.index.bytes': 65536,
      'index.interval.bytes': indexInterval(topic),
    }),
  })
}

async function fetchAll(log: PartitionLog, upTo: ReadLimit): Promise<Record[]> {
  const records: Record[] = []
  let offset = log.logStartOffset
  const end = upTo === 'lastStable' ? log.lastStableOffset : log.highWatermark
  while (offset < end) {
    const read = await log.read(offset, { maxBytes: 4096, minOneMessage: true, upTo })
    assert.equal(read.kind, 'read')
    if (read.kind !== 'read') break
    const waiting = new Map<number, number[]>()
    for (const { producerId, firstOffset } of read.abortedTransactions) {
      waiting.set(
        producerId,
        [...(waiting.get(producerId) ?? []), firstOffset].sort((a, b) => a - b),
      )
    }
    const open = new Set<number>()
    assert.ok(read.sizeInBytes > 0, `nothing to read at ${offset} before ${end}`)
    for (const batch of iterateAnyBatches(Buffer.concat(read.slices))) {
      const from = offset
      offset = batch.nextOffset
      if (!(batch instanceof RecordBatch)) {
        for (const record of batch.records()) if (record.offset >= from) records.push(record)
        continue
      }
      const aborts = waiting.get(batch.producerId)
      if (aborts?.[0] !== undefined && aborts[0] <= batch.lastOffset) {
        open.add(batch.producerId)
        aborts.shift()
      }
      if (batch.isControl) {
        open.delete(batch.producerId)
        continue
      }
      if (batch.isTransactional && open.has(batch.producerId)) continue
      for (const record of batch.records()) if (record.offset >= from) records.push(record)
    }
  }
  return records
}

async function seen(log: PartitionLog, expected: ExpectedPartition): Promise<Partial<ExpectedPartition>> {
  log.updateHighWatermark(log.logEndOffset)
  const latest = await log.offsetForTimestamp('maxTimestamp')
  const max = latest !== null && 'offset' in latest ? latest : { timestamp: -1, offset: -1 }
  return {
    ...expected,
    topicId: log.topicId,
    logStartOffset: log.logStartOffset,
    highWatermark: log.highWatermark,
    logEndOffset: log.logEndOffset,
    lastStableOffset: log.lastStableOffset,
    ...(expected.maxTimestamp === undefined ? {} : { maxTimestamp: max.timestamp, offsetOfMaxTimestamp: max.offset }),
    read_uncommitted: summary(await fetchAll(log, 'highWatermark')),
    read_committed: summary(await fetchAll(log, 'lastStable')),
  }
}

for (const variant of vectors.datadirs()) {
  describe(`the data directory ${variant}, written by Apache Kafka`, function () {
    this.timeout(30_000)
    const expected = vectors.json<Expected>(`datadirs/${variant}.expected.json`)
    // Of the clean ones DescribeProducers was asked before the stop, when no producer had expired.
    const producers = variant.endsWith('/clean') ? 'stay' : 'expire'
    let directories: BrokerLogDirectories
    let folder: ReturnType<typeof vectors.extractDatadir>

    before(async () => {
      folder = vectors.extractDatadir(variant)
      directories = await open(folder.logs, producers)
    })
    after(async () => {
      await directories?.close()
      folder.remove()
    })

    it('has the partitions that it should have', () => {
      assert.deepEqual([...directories.all()].map(String).sort(), Object.keys(expected.partitions).sort())
    })

    for (const [name, partition] of Object.entries(expected.partitions)) {
      it(`serves ${name} with the offsets and hashes that Kafka had`, async () => {
        const log = directories.get(partition)!
        assert.deepEqual(await seen(log, partition), partition)
      })
    }

    const sizes = Object.entries(expected.logSizesAfterRecovery ?? {})
    if (sizes.length > 0) {
      it('has cut the data files to the sizes that they had after Kafka recovered them', () => {
        for (const [name, files] of sizes) {
          // The original broker's cleaner has been at the compacted ones before their sizes were taken.
          if (name.endsWith('-delete') || name.startsWith('compacted')) continue
          const found = nodeDisk.listNow(join(folder.logs, name)).filter((file) => file.name.endsWith('.log'))
          const ours = found.map((file) => [file.name, nodeDisk.statNow(join(folder.logs, name, file.name))!.sizeInBytes])
          assert.deepEqual(Object.fromEntries(ours), files, name)
        }
      })
    }

    it('knows the producers that DescribeProducers named', () => {
      for (const [name, { topic, partition, producers }] of Object.entries(expected.partitions)) {
        if (producers === undefined) continue
        const views = directories.get({ topic, partition })!.producers()
        assert.deepEqual(
          views.map((view) => ({
            producerId: view.producerId,
            producerEpoch: view.producerEpoch,
            lastSequence: view.lastSequence,
            lastTimestamp: view.lastTimestamp,
            coordinatorEpoch: view.coordinatorEpoch < 0 ? null : view.coordinatorEpoch,
            currentTransactionStartOffset: view.currentTransactionFirstOffset < 0 ? null : view.currentTransactionFirstOffset,
          })),
          producers,
          name,
        )
      }
    })

    it('serves the same after a clean stop and a second start', async () => {
      await directories.close()
      directories = await open(folder.logs, producers)
      assert.equal(directories.wasCleanShutdown(folder.logs), true)
      for (const partition of Object.values(expected.partitions)) {
        const log = directories.get(partition)!
        assert.equal(log.cut, null)
        assert.deepEqual(await seen(log, partition), partition)
      }
    })
  })
}

/**
 * What a start and a stop write anew, in their own order or with today's state; and what waited to be removed.
 */
const REWRITTEN = /^[^/]+$|\.deleted$|-delete\/|(^|\/)leader-epoch-checkpoint$/

/** The cleaner writes many batches at once and takes the last records of segments: its indexes and snapshots cannot be made again. */
const OF_CLEANER = /^compacted/

/** A producer snapshot that is not above the log start: Kafka's next start removes it as well. */
function isBeforeStart(file: string, partitions: Expected['partitions']): boolean {
  const [name, offset] = file.split(/[/.]/)
  return file.endsWith('.snapshot') && Number(offset) <= partitions[name!]!.logStartOffset
}

for (const variant of ['main/clean', 'main/indexes-removed', 'old-formats/clean']) {
  describe(`the data directory ${variant}, opened and closed`, function () {
    this.timeout(30_000)
    it('has every data file, index and snapshot byte for byte as Kafka left it, or would have if they had not been removed', async () => {
      const folder = vectors.extractDatadir(variant)
      try {
        await (await open(folder.logs, 'stay')).close()
        const files = vectors.json<{ readonly [file: string]: { readonly sha256: string } }>(
          `datadirs/${variant.replace('indexes-removed', 'clean')}.files.json`,
        )
        const { partitions } = vectors.json<Expected>(`datadirs/${variant}.expected.json`)
        const isRebuilt = variant.endsWith('indexes-removed')
        let compared = 0
        for (const [file, { sha256 }] of Object.entries(files)) {
          if (REWRITTEN.test(file) || isBeforeStart(file, partitions) || (isRebuilt && OF_CLEANER.test(file))) continue
          compared++
          const path = join(folder.logs, file)
          assert.ok(nodeDisk.statNow(path) !== null, `${file} is missing`)
          assert.equal(createHash('sha256').update(nodeDisk.readFileNow(path)).digest('hex'), sha256, file)
        }
        assert.ok(compared > 15)
      } finally {
        folder.remove()
      }
    })
  })
}
