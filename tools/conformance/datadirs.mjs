// Vectors of data directories: each opens by @mq/log and serves the offsets, hashes and producers that Kafka had, committed and uncommitted.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { DEFAULT_TOPIC_CONFIG, LogDirectories, nodeDisk, nodeProcesses } from '@mq/log'
import { iterateAnyBatches, RecordBatch } from '@mq/protocol'
import { summary } from '../../conformance/index.js'

/** The wall clock stands on the day on which the directories were made: later, producers and offsets in them would be too old. */
const MADE = Date.UTC(2026, 10, 29, 21)
const CLOCK = { now: () => MADE, monotonic: () => 0 }
const TIMERS = { after: () => () => {} }
const RANDOM = { next: Math.random, bytes: randomBytes }
const NEVER = 2 ** 60

export function* dataDirectories(vectors, isWanted) {
  for (const variant of vectors.datadirs().filter(isWanted)) {
    const expected = vectors.json(`datadirs/${variant}.expected.json`)
    const names = Object.keys(expected.partitions)
    let opened
    yield {
      name: `${variant} opens with its partitions`,
      run: async () => {
        opened = await open(vectors.extractDatadir(variant), variant)
        assert.deepEqual([...opened.directories.all()].map(String).sort(), [...names].sort())
      },
    }
    for (const name of names) {
      yield { name: `${variant} ${name}`, run: () => checkPartition(opened, expected.partitions[name]) }
    }
    yield {
      name: `${variant} closes`,
      run: async () => {
        await opened?.directories.close()
        opened?.folder.remove()
      },
    }
  }
}

async function open(folder, variant) {
  const directories = await LogDirectories.open({
    dirs: [folder.logs],
    disk: nodeDisk,
    processes: nodeProcesses,
    clock: CLOCK,
    timers: TIMERS,
    random: RANDOM,
    brokerId: 1,
    // Of the clean ones DescribeProducers was asked before the stop, when no producer had expired.
    config: variant.endsWith('/clean') ? { 'producer.id.expiration.ms': NEVER } : {},
    topicConfig: () => ({ ...DEFAULT_TOPIC_CONFIG, 'retention.ms': -1 }),
  })
  return { folder, directories }
}

async function checkPartition(opened, expected) {
  assert.ok(opened !== undefined, 'the directory did not open')
  const log = opened.directories.get(expected)
  assert.ok(log !== undefined, 'the partition is not there')
  log.updateHighWatermark(log.logEndOffset)
  for (const name of ['topicId', 'logStartOffset', 'highWatermark', 'logEndOffset', 'lastStableOffset']) {
    assert.equal(log[name], expected[name], name)
  }
  // A topic whose format is older than timestamps was not searched by time.
  if (expected.maxTimestamp !== undefined) {
    const latest = (await log.offsetForTimestamp('maxTimestamp')) ?? { timestamp: -1, offset: -1 }
    assert.deepEqual(
      [latest.timestamp, latest.offset],
      [expected.maxTimestamp, expected.offsetOfMaxTimestamp],
      'largest timestamp',
    )
  }
  assert.deepEqual(summary(await readAll(log, 'highWatermark')), expected.read_uncommitted, 'read_uncommitted')
  assert.deepEqual(summary(await readAll(log, 'lastStable')), expected.read_committed, 'read_committed')
  if (expected.producers !== undefined) assert.deepEqual(log.producers().map(producer), expected.producers, 'producers')
}

/** What a consumer gets: no control records, and with an end at the last stable offset nothing of aborted transactions. */
async function readAll(log, upTo) {
  const records = []
  const end = upTo === 'lastStable' ? log.lastStableOffset : log.highWatermark
  for (let offset = log.logStartOffset; offset < end; ) {
    const from = offset
    const read = await log.read(from, { maxBytes: 65536, minOneMessage: true, upTo })
    assert.equal(read.kind, 'read', `reading at ${from}: ${read.error}`)
    const aborted = upTo === 'lastStable' ? [...read.abortedTransactions].sort((a, b) => a.firstOffset - b.firstOffset) : []
    const inAborted = new Set()
    for (const batch of iterateAnyBatches(Buffer.concat(read.slices))) {
      offset = batch.nextOffset
      if (batch instanceof RecordBatch) {
        while (aborted[0]?.firstOffset <= batch.lastOffset) inAborted.add(aborted.shift().producerId)
        if (batch.isControl) inAborted.delete(batch.producerId)
        if (batch.isControl || (batch.isTransactional && inAborted.has(batch.producerId))) continue
      }
      for (const record of batch.records()) if (record.offset >= from) records.push(record)
    }
    assert.ok(offset > from, `nothing to read at ${from} before ${end}`)
  }
  return records
}

function producer(view) {
  const { producerId, producerEpoch, lastSequence, lastTimestamp, coordinatorEpoch, currentTransactionFirstOffset } = view
  const orNull = (number) => (number < 0 ? null : number)
  return {
    producerId,
    producerEpoch,
    lastSequence,
    lastTimestamp,
    coordinatorEpoch: orNull(coordinatorEpoch),
    currentTransactionStartOffset: orNull(currentTransactionFirstOffset),
  }
}
