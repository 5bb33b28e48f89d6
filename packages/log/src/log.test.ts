import assert from 'node:assert/strict'
import { BatchBuilder, endTransactionMarker, iterateBatches, RecordBatch } from '@mq/protocol'
import type { PartitionLog } from './log.js'
import { appended, batch, gate, type Harness, harness, PARTITION, produce, settled, TOPIC_ID } from './log.test.support.js'
import type { Read, ReadLimit } from './outcomes.js'
import { ManualTurn } from './testing.js'
import { DEFAULT_TOPIC_CONFIG } from './topic-config.js'

const read = async (
  log: PartitionLog,
  offset: number,
  options: { maxBytes?: number; minOneMessage?: boolean; upTo?: ReadLimit } = {},
) => {
  const { maxBytes = 1 << 20, minOneMessage = true, upTo = 'logEnd' } = options
  const outcome = await log.read(offset, { maxBytes, minOneMessage, upTo })
  assert.equal(outcome.kind, 'read', JSON.stringify(outcome))
  return outcome as Read
}

const valuesOf = ({ slices }: Read): string[] =>
  [...iterateBatches(Buffer.concat(slices))].flatMap((one) => [...one.records()].map(({ value }) => String(value)))

/** Forgets what is in memory, so that reads go to the disk. */
async function cold(made: Harness): Promise<PartitionLog> {
  await made.directories.close()
  return made.reopen()
}

/** The log as it is, and again after a clean stop with nothing in memory. */
async function* warmAndCold(made: Harness): AsyncGenerator<PartitionLog> {
  yield made.log
  yield await cold(made)
}

describe('a log', () => {
  it('gives each record the next offset and reads it back from memory and from the disk', async () => {
    const made = await harness()
    for (const from of [0, 2, 4]) {
      const outcome = appended(await produce(made.log, batch({ values: [`${from}`, `${from + 1}`] }), 3))
      assert.deepEqual(
        [outcome.firstOffset, outcome.lastOffset, outcome.logAppendTime, outcome.duplicate],
        [from, from + 1, -1, false],
      )
    }
    assert.equal(made.log.logEndOffset, 6)
    for await (const log of warmAndCold(made)) {
      assert.deepEqual(valuesOf(await read(log, 0)), ['0', '1', '2', '3', '4', '5'])
      assert.deepEqual(valuesOf(await read(log, 3)), ['2', '3', '4', '5'], 'from the batch that holds the offset')
      assert.equal((await read(log, 6)).sizeInBytes, 0)
      const [first] = iterateBatches(Buffer.concat((await read(log, 0)).slices))
      assert.equal(first!.partitionLeaderEpoch, 3)
      assert.ok(first!.crcIsValid())
    }
  })

  it('answers small appends at once, without a promise', async () => {
    const { log } = await harness()
    assert.equal(log.append(batch(), { origin: 'client', leaderEpoch: 0 }) instanceof Promise, false)
  })

  it('gathers the appends of one turn into one write', async () => {
    const turn = new ManualTurn()
    const { log, disk } = await harness({ turn })
    let writes = 0
    disk.faults = ({ kind, path }) => {
      if (kind === 'write' && path.endsWith('.log')) writes++
      return undefined
    }
    const answers = ['a', 'b', 'c'].map((value) => produce(log, batch({ values: [value] })))
    assert.equal(log.logEndOffset, 0)
    turn.end()
    assert.deepEqual(
      (await Promise.all(answers)).map((outcome) => appended(outcome).firstOffset),
      [0, 1, 2],
    )
    assert.equal(writes, 1)
    assert.deepEqual(valuesOf(await read(log, 0)), ['a', 'b', 'c'])
  })

  it('fails one append alone when looking at it fails, and goes on', async () => {
    const turn = new ManualTurn()
    const { log, directories } = await harness({ turn })
    const config = log.config
    let looks = 0
    log.config = {
      ...config,
      get 'max.message.bytes'() {
        if (++looks === 2) throw new Error('a defect')
        return config['max.message.bytes']
      },
    }
    const outcomes = Promise.allSettled([1, 2, 3].map(() => produce(log, batch())))
    turn.end()
    const told = (await outcomes).map((one) => (one.status === 'fulfilled' ? one.value.kind : String(one.reason)))
    assert.deepEqual(told, ['appended', 'Error: a defect', 'appended'])
    assert.equal(log.logEndOffset, 2)
    assert.equal(directories.directories[0]!.isOffline, false)
  })

  it('writes large appends aside, in order with what comes after them', async () => {
    const { log } = await harness()
    const large = produce(log, batch({ values: [Buffer.alloc(600_000, 'x')] }))
    const small = produce(log, batch({ values: ['small'] }))
    assert.equal(log.logEndOffset, 0, 'nothing is visible before it is in the file')
    assert.deepEqual([appended(await large).firstOffset, appended(await small).firstOffset], [0, 1])
    assert.deepEqual(valuesOf(await read(log, 1)), ['small'])
  })

  it('goes on where a short write ended', async () => {
    const made = await harness()
    made.disk.faults = ({ kind, path }) => (kind === 'write' && path.endsWith('.log') ? { take: 7 } : undefined)
    appended(await produce(made.log, batch({ values: ['short'] })))
    appended(await produce(made.log, batch({ values: [Buffer.alloc(600_000, 'y')] })))
    made.disk.faults = () => undefined
    assert.equal(valuesOf(await read(await cold(made), 0))[0], 'short')
    assert.equal(valuesOf(await read(made.log, 1))[0]!.length, 600_000)
  })

  it('never gives more than asked for, but the first batch whole when asked to', async () => {
    const made = await harness()
    for (let at = 0; at < 5; at++) appended(await produce(made.log, batch({ values: [Buffer.alloc(1000, 97 + at)] })))
    const size = batch({ values: [Buffer.alloc(1000)] }).length
    for await (const log of warmAndCold(made)) {
      assert.equal((await read(log, 0, { maxBytes: 2 * size })).sizeInBytes, 2 * size)
      assert.equal((await read(log, 0, { maxBytes: 3 * size - 1 })).sizeInBytes, 2 * size)
      assert.equal((await read(log, 1, { maxBytes: 10 })).sizeInBytes, size)
      assert.equal((await read(log, 1, { maxBytes: 10, minOneMessage: false })).sizeInBytes, 0)
      assert.equal((await read(log, 0, { maxBytes: 0, minOneMessage: false })).sizeInBytes, 0)
    }
  })

  it('shows consumers nothing above the high watermark, and followers all', async () => {
    const made = await harness()
    for (const value of ['a', 'b', 'c']) appended(await produce(made.log, batch({ values: [value] })))
    assert.equal((await read(made.log, 0, { upTo: 'highWatermark' })).sizeInBytes, 0)
    made.log.updateHighWatermark(2)
    assert.deepEqual(valuesOf(await read(made.log, 0, { upTo: 'highWatermark' })), ['a', 'b'])
    assert.deepEqual(valuesOf(await read(made.log, 0, { upTo: 'logEnd' })), ['a', 'b', 'c'])
    made.log.updateHighWatermark(99)
    assert.equal(made.log.highWatermark, 3, 'it stays within the log')
    const log = await cold(made)
    log.updateHighWatermark(2)
    assert.deepEqual(valuesOf(await read(log, 0, { upTo: 'highWatermark' })), ['a', 'b'])
  })

  it('refuses offsets that it does not have', async () => {
    const { log } = await harness()
    appended(await produce(log, batch()))
    for (const offset of [-1, 2, 100]) {
      const outcome = await log.read(offset, { maxBytes: 10, minOneMessage: true, upTo: 'logEnd' })
      assert.equal(outcome.kind === 'refused' && outcome.error, 'OFFSET_OUT_OF_RANGE')
    }
  })

  it('keeps its topic id, epochs and high watermark over a clean stop', async () => {
    const made = await harness()
    appended(await produce(made.log, batch(), 4))
    await made.log.assignEpoch(7, 1)
    appended(await produce(made.log, batch(), 7))
    made.log.updateHighWatermark(1)
    const log = await cold(made)
    assert.deepEqual([log.topicId, log.latestLeaderEpoch, log.highWatermark], [TOPIC_ID, 7, 1])
    assert.deepEqual(log.endOffsetForEpoch(4), { epoch: 4, endOffset: 1 })
    assert.deepEqual(log.endOffsetForEpoch(6), { epoch: 4, endOffset: 1 })
    assert.deepEqual(log.endOffsetForEpoch(7), { epoch: 7, endOffset: 2 })
    assert.equal(log.endOffsetForEpoch(8), null)
  })

  it('has a new epoch in its checkpoint file before anything was appended in it', async () => {
    const { log, disk } = await harness()
    await log.assignEpoch(7, 0)
    assert.equal(disk.readFileNow('/data/t-0/leader-epoch-checkpoint').toString(), '0\n1\n7 0\n')
  })
})

describe('rolling', () => {
  const bases = (made: Harness) =>
    made.disk
      .listNow('/data/t-0')
      .filter(({ name }) => name.endsWith('.log'))
      .map(({ name }) => Number(name.slice(0, 20)))

  it('begins a new segment when the next batch would make this one too large', async () => {
    const size = batch({ values: ['12345'] }).length
    const made = await harness({ config: { 'segment.bytes': 2 * size } })
    for (let at = 0; at < 5; at++) appended(await produce(made.log, batch({ values: ['12345'] })))
    assert.deepEqual(bases(made), [0, 2, 4])
    assert.equal(valuesOf(await read(made.log, 0)).length, 5)
    const log = await cold(made)
    assert.equal(valuesOf(await read(log, 0)).length, 2, 'a read from the disk ends with its segment')
    assert.equal(valuesOf(await read(log, 3)).length, 1)
    const refused = await produce(log, batch({ values: [Buffer.alloc(2 * size)] }))
    assert.equal(refused.kind === 'refused' && refused.error, 'RECORD_LIST_TOO_LARGE')
  })

  it('begins a new segment when the first batch of this one is old enough, by the time of the records', async () => {
    const made = await harness({ config: { 'segment.ms': 1000 } })
    const start = made.time.now()
    appended(await produce(made.log, batch({ timestamp: start })))
    appended(await produce(made.log, batch({ timestamp: start + 1000 })))
    appended(await produce(made.log, batch({ timestamp: start + 1001 })))
    assert.deepEqual(bases(made), [0, 2])
  })

  it('begins it earlier by up to segment.jitter.ms, each log by another time', async () => {
    const config = { 'segment.ms': 1000, 'segment.jitter.ms': 600 }
    const made = await harness({ config })
    const ages: number[] = []
    for (let partition = 1; partition <= 6; partition++) {
      const log = await made.directories.create({ ...PARTITION, partition }, null, { ...DEFAULT_TOPIC_CONFIG, ...config })
      const start = made.time.now()
      let age = 0
      for (; log.firstSegmentOffset === log.segmentViews().at(-1)!.baseOffset; age += 10)
        appended(await produce(log, batch({ timestamp: start + age })))
      ages.push(age - 10)
    }
    assert.ok(
      ages.every((age) => age > 400 && age <= 1010),
      String(ages),
    )
    assert.ok(new Set(ages).size > 3, String(ages))
  })

  it('has all its room from the start with preallocate, and gives back what it did not need when it ends', async () => {
    const config = { preallocate: true, 'segment.bytes': 4096 }
    const made = await harness({ config })
    const sizes = () =>
      bases(made).map((base) => made.disk.statNow(`/data/t-0/${String(base).padStart(20, '0')}.log`)!.sizeInBytes)
    const records = batch({ values: ['a', 'b'] })
    appended(await produce(made.log, Buffer.from(records)))
    assert.deepEqual(sizes(), [4096])
    await made.log.roll()
    assert.deepEqual(sizes(), [records.length, 4096])
    appended(await produce(made.log, batch({ values: ['c'] })))
    // A killed process leaves zeros behind the records.
    const left = made.disk.crash(
      ({ sizeInBytes }) => sizeInBytes,
      () => true,
    )
    const again = await harness({ disk: left, config })
    assert.deepEqual(valuesOf(await read(again.log, 2)), ['c'])
    appended(await produce(again.log, batch({ values: ['d'] })))
    await again.directories.close()
    await again.reopen()
    assert.deepEqual(valuesOf(await read(again.log, 2)), ['c', 'd'])
  })

  it('begins a new segment when an index is full', async () => {
    const made = await harness({ config: { 'segment.index.bytes': 36, 'index.interval.bytes': 0 } })
    for (let at = 0; at < 8; at++) appended(await produce(made.log, batch({ timestamp: 1_700_000_000_000 + at })))
    assert.deepEqual(bases(made), [0, 3, 6])
  })

  it('keeps an empty active segment whatever asks for a roll, with one file of its name', async () => {
    const made = await harness({ config: { 'segment.ms': 1, 'segment.index.bytes': 12, 'index.interval.bytes': 0 } })
    made.time.advance(100)
    await made.log.roll()
    await made.log.roll()
    assert.deepEqual(bases(made), [0])
    appended(await produce(made.log, batch()))
    await made.log.roll()
    await made.log.roll()
    made.time.advance(100)
    appended(await produce(made.log, batch()))
    assert.deepEqual(bases(made), [0, 1])
    assert.equal(made.log.logEndOffset, 2)
  })

  it('cuts the indexes of the closed segment to their entries and leaves a producer snapshot', async () => {
    const made = await harness({ config: { 'index.interval.bytes': 0 } })
    for (let at = 0; at < 3; at++) appended(await produce(made.log, batch({ timestamp: 1_700_000_000_000 + at })))
    await made.log.roll()
    const { disk } = made
    assert.equal(disk.readFileNow('/data/t-0/00000000000000000000.index').length, 16)
    assert.equal(disk.readFileNow('/data/t-0/00000000000000000000.timeindex').length, 24)
    assert.equal(disk.readFileNow('/data/t-0/00000000000000000003.snapshot').length, 10)
  })
})

describe('finding by time', () => {
  it('gives the first record at or after a time, the ends, and the record with the largest time', async () => {
    const made = await harness({ config: { 'index.interval.bytes': 0 } })
    const times = [100, 300, 200, 500, 400]
    for (const timestamp of times) appended(await produce(made.log, batch({ timestamp }), 2))
    await made.log.roll()
    appended(await produce(made.log, batch({ timestamps: [450, 700], values: ['x', 'y'] }), 2))
    for await (const log of warmAndCold(made)) {
      const at = async (query: number | 'earliest' | 'latest' | 'maxTimestamp') => log.offsetForTimestamp(query)
      assert.deepEqual(await at(0), { offset: 0, timestamp: 100, leaderEpoch: 2 })
      assert.deepEqual(await at(101), { offset: 1, timestamp: 300, leaderEpoch: 2 })
      assert.deepEqual(await at(301), { offset: 3, timestamp: 500, leaderEpoch: 2 })
      assert.deepEqual(await at(600), { offset: 6, timestamp: 700, leaderEpoch: 2 })
      assert.equal(await at(701), null)
      assert.deepEqual(await at('earliest'), { offset: 0, timestamp: -1, leaderEpoch: 2 })
      assert.deepEqual(await at('latest'), { offset: 7, timestamp: -1, leaderEpoch: 2 })
      assert.deepEqual(await at('maxTimestamp'), { offset: 6, timestamp: 700, leaderEpoch: 2 })
    }
  })

  it('does not see what lies before the log start', async () => {
    const { log } = await harness()
    for (const timestamp of [100, 200, 300]) appended(await produce(log, batch({ timestamp })))
    log.updateHighWatermark(3)
    await log.deleteRecordsBefore(2)
    assert.deepEqual(await log.offsetForTimestamp(0), { offset: 2, timestamp: 300, leaderEpoch: 0 })
  })
})

describe('transactions on read', () => {
  const begin = (values: string[], producerId: number, baseSequence: number) =>
    batch({ values, producerId, producerEpoch: 0, baseSequence, transactional: true })
  const end = (producerId: number, commit: boolean) =>
    endTransactionMarker({ producerId, producerEpoch: 0, commit, coordinatorEpoch: 0, timestamp: 1_700_000_000_000 })
  const mark = async (log: PartitionLog, marker: Buffer) =>
    appended(await Promise.resolve(log.append(marker, { origin: 'coordinator', leaderEpoch: 0 })))

  it('holds the last stable offset at the oldest open transaction and names the aborted ones', async () => {
    const made = await harness()
    const { log } = made
    appended(await produce(log, batch({ values: ['plain'] })))
    appended(await produce(log, begin(['a1', 'a2'], 1, 0)))
    appended(await produce(log, begin(['b1'], 2, 0)))
    log.updateHighWatermark(log.logEndOffset)
    assert.equal(log.lastStableOffset, 1)
    await mark(log, end(1, false))
    assert.equal(log.lastStableOffset, 1, 'the marker is not below the high watermark')
    log.updateHighWatermark(log.logEndOffset)
    assert.equal(log.lastStableOffset, 3)
    await mark(log, end(2, true))
    log.updateHighWatermark(log.logEndOffset)
    assert.equal(log.lastStableOffset, 6)
    for await (const current of warmAndCold(made)) {
      current.updateHighWatermark(current.logEndOffset)
      const committed = await read(current, 0, { upTo: 'lastStable' })
      assert.deepEqual(committed.abortedTransactions, [{ producerId: 1, firstOffset: 1 }])
      assert.equal(committed.lastStableOffset, 6)
      assert.deepEqual((await read(current, 0, { upTo: 'highWatermark' })).abortedTransactions, [])
      assert.deepEqual((await read(current, 5, { upTo: 'lastStable' })).abortedTransactions, [])
    }
  })

  it('gives nothing of a segment that retention takes away during the read, since nobody knows then what was aborted in it', async () => {
    const { disk, log } = await harness({ directories: { tailCacheBytes: 0 } })
    appended(await produce(log, begin(['aborted'], 1, 0)))
    await mark(log, end(1, false))
    await log.roll()
    appended(await produce(log, batch({ values: ['later'] })))
    log.updateHighWatermark(log.logEndOffset)
    await log.flush()
    const reading = gate()
    disk.delays = ({ kind, path }) => (kind === 'read' && path.endsWith('.log') ? reading.passed : undefined)
    const outcome = log.read(0, { maxBytes: 1 << 20, minOneMessage: true, upTo: 'lastStable' })
    await settled()
    disk.delays = () => undefined
    await log.deleteRecordsBefore(2)
    assert.equal(await log.applyRetention(), 1)
    reading.open()
    const answer = await outcome
    assert.equal(answer.kind === 'refused' && answer.error, 'OFFSET_OUT_OF_RANGE')
  })

  it('keeps an open transaction open over a restart', async () => {
    const made = await harness()
    appended(await produce(made.log, begin(['a'], 1, 0)))
    const log = await cold(made)
    log.updateHighWatermark(1)
    assert.equal(log.lastStableOffset, 0)
    assert.equal(log.producers()[0]!.currentTransactionFirstOffset, 0)
    await mark(log, end(1, true))
    log.updateHighWatermark(2)
    assert.equal(log.lastStableOffset, 2)
  })
})

describe('idempotent producers', () => {
  const sent = (baseSequence: number, count = 1, producerEpoch = 0) =>
    batch({ values: Array.from({ length: count }, () => 'v'), producerId: 9, producerEpoch, baseSequence })

  it('answers a batch that was there before with its first offset, and refuses gaps and old epochs', async () => {
    const { log } = await harness()
    assert.equal(appended(await produce(log, sent(5))).firstOffset, 0, 'an unknown producer may begin anywhere')
    assert.equal(appended(await produce(log, sent(6, 3))).firstOffset, 1)
    const again = appended(await produce(log, sent(6, 3)))
    assert.deepEqual([again.firstOffset, again.lastOffset, again.duplicate], [1, 3, true])
    const errorOf = async (records: Buffer) => {
      const outcome = await produce(log, records)
      return outcome.kind === 'refused' ? outcome.error : 'none'
    }
    assert.equal(await errorOf(sent(11)), 'OUT_OF_ORDER_SEQUENCE_NUMBER')
    assert.equal(await errorOf(sent(3, 1, 1)), 'OUT_OF_ORDER_SEQUENCE_NUMBER')
    assert.equal(await errorOf(sent(0, 1, 2)), 'none')
    assert.equal(await errorOf(sent(9, 1, 0)), 'INVALID_PRODUCER_EPOCH')
    assert.equal(log.logEndOffset, 5)
  })

  it('tells times that an answer has room for, whatever times the records have', async () => {
    const { log } = await harness()
    const sent = () => {
      const builder = new BatchBuilder({ producerId: 9, producerEpoch: 0, baseSequence: 0 })
      builder.tryAppend({ timestamp: 2n ** 63n - 1n, key: null, value: 'v' })
      return builder.build()
    }
    appended(await produce(log, sent()))
    assert.equal(appended(await produce(log, sent())).logAppendTime, Number.MAX_SAFE_INTEGER)
    assert.equal(log.producers()[0]!.lastTimestamp, Number.MAX_SAFE_INTEGER)
  })

  it('answers a duplicate of what is still being written only after it is written', async () => {
    const turn = new ManualTurn()
    const { log } = await harness({ turn })
    const first = produce(log, sent(0))
    const second = produce(log, sent(0))
    turn.end()
    assert.deepEqual([appended(await first).duplicate, appended(await second).duplicate], [false, true])
  })

  it('remembers the last batch over a clean stop, and five of them over a kill', async () => {
    const made = await harness()
    for (let at = 0; at < 6; at++) appended(await produce(made.log, sent(at)))
    made.disk.syncAll()
    const killed = await harness({ disk: made.disk.crash(), time: made.time })
    for (let at = 1; at < 6; at++) assert.equal(appended(await produce(killed.log, sent(at))).duplicate, true, `sequence ${at}`)
    const log = await cold(killed)
    assert.equal(appended(await produce(log, sent(5))).duplicate, true)
    assert.equal(appended(await produce(log, sent(6))).firstOffset, 6)
  })
})

describe('cutting a log', () => {
  it('drops what is at and above an offset, in its segment and in later ones', async () => {
    const size = batch().length
    const made = await harness({ config: { 'segment.bytes': 3 * size, 'index.interval.bytes': 0 } })
    for (let at = 0; at < 8; at++) appended(await produce(made.log, batch({ values: [`${at}`] }), at < 4 ? 1 : 2))
    made.log.updateHighWatermark(8)
    await made.log.truncateTo(4)
    assert.deepEqual([made.log.logEndOffset, made.log.highWatermark, made.log.latestLeaderEpoch], [4, 4, 1])
    assert.equal(appended(await produce(made.log, batch({ values: ['new'] }), 3)).firstOffset, 4)
    assert.deepEqual(valuesOf(await read(made.log, 3)), ['3', 'new'])
    const log = await cold(made)
    assert.deepEqual(valuesOf(await read(log, 4)), ['new'])
    assert.equal(log.logEndOffset, 5)
    assert.deepEqual(log.endOffsetForEpoch(2), { epoch: 1, endOffset: 4 })
  })

  it('takes producers back to where they were', async () => {
    const made = await harness()
    for (let at = 0; at < 4; at++) {
      appended(await produce(made.log, batch({ producerId: 3, producerEpoch: 0, baseSequence: at })))
    }
    await made.log.truncateTo(2)
    assert.deepEqual(
      made.log.producers().map(({ lastSequence }) => lastSequence),
      [1],
    )
    assert.equal(appended(await produce(made.log, batch({ producerId: 3, producerEpoch: 0, baseSequence: 2 }))).firstOffset, 2)
  })

  it('starts over at any offset', async () => {
    const made = await harness()
    for (let at = 0; at < 3; at++) appended(await produce(made.log, batch()))
    await made.log.truncateFullyAndStartAt(100)
    assert.deepEqual([made.log.logStartOffset, made.log.logEndOffset, made.log.highWatermark], [100, 100, 100])
    appended(await produce(made.log, batch({ values: ['x'] })))
    const log = await cold(made)
    assert.deepEqual([log.logStartOffset, log.logEndOffset], [100, 101])
    assert.deepEqual(valuesOf(await read(log, 100)), ['x'])
  })

  it('waits for the appends before it and holds back those after it', async () => {
    const { log } = await harness()
    const large = produce(log, batch({ values: [Buffer.alloc(600_000)] }))
    const cut = log.truncateTo(0)
    const after = produce(log, batch({ values: ['after'] }))
    assert.equal(appended(await large).firstOffset, 0)
    await cut
    assert.equal(appended(await after).firstOffset, 0)
    assert.deepEqual(valuesOf(await read(log, 0)), ['after'])
  })
})

describe('a copy of another log (a follower)', () => {
  const copy = async (log: PartitionLog, records: Buffer) =>
    Promise.resolve(log.append(records, { origin: 'replication', leaderEpoch: -1 }))

  it('takes batches as they are, several at a time, and their epochs', async () => {
    const { log } = await harness()
    const records = Buffer.concat([
      batch({ baseOffset: 10, leaderEpoch: 1, values: ['a', 'b'] }),
      batch({ baseOffset: 15, leaderEpoch: 2 }),
    ])
    const outcome = appended(await copy(log, Buffer.from(records)))
    assert.deepEqual([outcome.firstOffset, outcome.lastOffset, log.logEndOffset, log.latestLeaderEpoch], [10, 15, 16, 2])
    assert.deepEqual(Buffer.concat((await read(log, 10)).slices), records)
    assert.deepEqual(log.endOffsetForEpoch(1), { epoch: 1, endOffset: 15 })
  })

  it('has an index entry for each batch that is due, as Apache Kafka 3.9.1 makes them of the same appends', async () => {
    const { log, disk, directories } = await harness({ config: { 'index.interval.bytes': 100 } })
    let offset = 0
    for (const [count, time] of [
      [1, 1000],
      [5, 2000],
      [4, 3000],
      [1, 3500],
      [2, 4000],
    ] as const) {
      const batches = Array.from({ length: count }, (_, at) => {
        const timestamp = time + (at % 3) * 10 + at
        return batch({ baseOffset: offset++, leaderEpoch: 3, timestamp, keys: [null], values: [Buffer.alloc(50)] })
      })
      appended(await copy(log, Buffer.concat(batches)))
    }
    await directories.close()
    const wordsOf = (kind: string) => {
      const bytes = disk.readFileNow(`/data/t-0/00000000000000000000.${kind}`)
      return Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readInt32BE(at * 4))
    }
    // Each batch takes 118 bytes; the first of all is never due.
    const positions = Array.from({ length: 12 }, (_, at) => [at + 1, (at + 1) * 118])
    assert.deepEqual(wordsOf('index'), positions.flat())
    const times = [
      [2000, 1],
      [2011, 2],
      [2022, 3],
      [3000, 6],
      [3011, 7],
      [3022, 8],
      [3500, 10],
      [4000, 11],
      [4011, 12],
    ]
    assert.deepEqual(
      wordsOf('timeindex'),
      times.flatMap(([time, last]) => [0, time, last]),
    )
  })

  it('refuses damaged bytes and offsets that go back', async () => {
    const { log } = await harness()
    appended(await copy(log, batch({ baseOffset: 5, leaderEpoch: 0 })))
    const damaged = batch({ baseOffset: 6, leaderEpoch: 0 })
    damaged[70]! ^= 1
    for (const [records, error] of [
      [damaged, 'CORRUPT_MESSAGE'],
      [batch({ baseOffset: 5, leaderEpoch: 0 }), 'INVALID_RECORD'],
    ] as const) {
      const outcome = await copy(log, records)
      assert.equal(outcome.kind === 'refused' && outcome.error, error)
    }
    assert.equal(log.logEndOffset, 6)
  })
})

describe('durability', () => {
  it('with flush.messages an append is answered once it is on the disk', async () => {
    const made = await harness({ config: { 'flush.messages': 1 } })
    appended(await produce(made.log, batch({ values: ['durable'] })))
    const again = await harness({ disk: made.disk.crash(), time: made.time })
    assert.deepEqual(valuesOf(await read(again.log, 0)), ['durable'])
  })

  it('with flush.messages a duplicate is answered no sooner than what it repeats', async () => {
    const { disk, log } = await harness({ config: { 'flush.messages': 1 } })
    const sync = gate()
    disk.delays = ({ kind, path }) => (kind === 'sync' && path.endsWith('.log') ? sync.passed : undefined)
    const sent = { producerId: 4, producerEpoch: 0, baseSequence: 0 }
    const answers: string[] = []
    const first = produce(log, batch(sent)).then(() => answers.push('first'))
    const again = produce(log, batch(sent)).then(() => answers.push('again'))
    await settled()
    assert.deepEqual(answers, [])
    sync.open()
    await Promise.all([first, again])
    const late = await produce(log, batch(sent))
    assert.equal(appended(late).duplicate, true)
  })

  it('with flush.ms what waits for so long is made durable by itself', async () => {
    const directories = { config: { 'log.flush.scheduler.interval.ms': 100, 'log.initial.task.delay.ms': 0 } }
    const made = await harness({ config: { 'flush.ms': 1000 }, directories })
    appended(await produce(made.log, batch()))
    const pass = async () => {
      made.time.advance(100)
      await settled()
    }
    for (let passes = 0; passes < 9; passes++) await pass()
    assert.equal(made.log.recoveryPoint, 0)
    await pass()
    assert.equal(made.log.recoveryPoint, 1)
    const again = await harness({ disk: made.disk.crash(), time: made.time })
    assert.equal(again.log.logEndOffset, 1)
  })

  it('moves the recovery point by a flush, and by a roll in the background', async () => {
    const { log } = await harness()
    appended(await produce(log, batch()))
    assert.equal(log.recoveryPoint, 0)
    await log.flush()
    assert.equal(log.recoveryPoint, 1)
    appended(await produce(log, batch()))
    await log.roll()
    await log.flush()
    assert.equal(log.recoveryPoint, 2)
  })

  it('says that a partition of the right name is there', async () => {
    const { directories, log } = await harness()
    assert.equal(directories.get(PARTITION), log)
    assert.equal(directories.get({ topic: 't', partition: 1 }), undefined)
    assert.equal(String(log), 't-0')
    assert.equal(log.directory, '/data')
    assert.equal(log.path, '/data/t-0')
    assert.ok(new RecordBatch(batch()).crcIsValid())
  })
})
