import assert from 'node:assert/strict'
import { BatchBuilder, endTransactionMarker, type Record } from '@mq/protocol'
import { clean, compacted, put, stored } from './cleaner.test.support.js'
import { ALONE, batch } from './log.test.support.js'
import { MemoryDisk } from './memory-disk.js'
import { type OpenLog, openLog, openLogDirectory } from './open-log.js'
import { openDirectoryReadOnly } from './read-only-directory.js'
import { openReadOnly, type ReadOnlyLog } from './read-only-log.js'
import { RefusedError } from './refused-error.js'
import { ManualTime, seededRandom } from './testing.js'

const SEED = Number(process.env.SEED ?? 20_261_130)
const DATA_FILE = '/data/log-0/00000000000000000000.log'

function machine() {
  const time = new ManualTime()
  const disk = new MemoryDisk({ now: () => time.now() })
  return { time, disk, environment: { disk, clock: time, timers: time, random: seededRandom(3), processes: ALONE } }
}

type Machine = ReturnType<typeof machine>

const openWriter = ({ environment }: Machine, config = {}): Promise<OpenLog> => openLog('/data', { environment, config })
const openReader = ({ environment }: Machine): Promise<ReadOnlyLog> => openReadOnly('/data/log-0', { environment, refreshMs: 50 })

async function valuesOf(records: AsyncIterable<Record>): Promise<string[]> {
  const values: string[] = []
  for await (const { offset, value } of records) values.push(`${offset}:${value}`)
  return values
}

async function collected(records: AsyncIterable<Record>): Promise<Record[]> {
  const found: Record[] = []
  for await (const record of records) found.push(record)
  return found
}

/** Where one of the last batches begins. Cut elsewhere, a log goes on behind a gap that a reader cannot know of. */
async function boundary(log: OpenLog, back: number): Promise<number> {
  const starts: number[] = []
  for await (const each of log.batches()) if (each.nextOffset > log.logStartOffset) starts.push(each.nextOffset)
  return starts.at(-1 - back) ?? log.logEndOffset
}

/** Lets what was started run until it waits for a timer. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('a read-only log beside its writer', () => {
  it('sees nothing before a refresh, and everything after it: over rolls, with aborted transactions hidden', async () => {
    const both = machine()
    const writer = await openWriter(both, { 'segment.bytes': 300, 'index.interval.bytes': 1 })
    await writer.append({ value: 'a' })
    const reader = await openReader(both)
    await writer.append([{ value: 'b' }, { value: 'c' }])
    assert.equal(reader.logEndOffset, 1)
    await reader.refresh()
    assert.deepEqual(await valuesOf(reader.records()), ['0:a', '1:b', '2:c'])

    const transactional = { transactional: true, producerId: 5, producerEpoch: 0, baseSequence: 0 }
    await writer.appendBatch(batch({ values: ['aborted'], ...transactional }))
    await reader.refresh()
    assert.equal(reader.logEndOffset, 4)
    assert.equal(reader.lastStableOffset, 3, 'a transaction is open')
    await writer.appendBatch(
      endTransactionMarker({ producerId: 5, producerEpoch: 0, commit: false, coordinatorEpoch: 0, timestamp: 1_700_000_000_000 }),
      'coordinator',
    )
    for (let at = 0; at < 10; at++) await writer.append({ value: `v${at}`.padEnd(100) })
    await reader.refresh()
    assert.ok(writer.stats().segments.length > 3)
    assert.deepEqual(
      reader.stats().segments.map(({ baseOffset, sizeInBytes }) => [baseOffset, sizeInBytes]),
      writer.stats().segments.map(({ baseOffset, sizeInBytes }) => [baseOffset, sizeInBytes]),
    )
    const committed = await valuesOf(reader.records('earliest', { isolation: 'read_committed' }))
    assert.deepEqual(committed, await valuesOf(writer.records('earliest', { isolation: 'read_committed' })))
    assert.equal(committed.length, 13)
    assert.deepEqual(await reader.findByTime('maxTimestamp'), await writer.findByTime('maxTimestamp'))
    await reader.close()
    await writer.close()
  })

  it('does not take a batch that is half written, until it is whole', async () => {
    const both = machine()
    const writer = await openWriter(both)
    await writer.append({ value: 'whole' })
    const size = writer.sizeInBytes
    await writer.append({ value: 'half' })
    const bytes = both.disk.readFileNow(DATA_FILE)
    const file = both.disk.openNow(DATA_FILE, 'readWrite')
    for (const there of [size + 1, size + 30, bytes.length - 1]) {
      file.truncateNow(there)
      const reader = await openReader(both)
      assert.deepEqual(await valuesOf(reader.records()), ['0:whole'])
      assert.equal(reader.cut?.bytes, there - size)
      await reader.refresh()
      assert.deepEqual(await valuesOf(reader.records()), ['0:whole'])
      file.writevNow([bytes], 0)
      await reader.refresh()
      assert.deepEqual(await valuesOf(reader.records()), ['0:whole', '1:half'])
      await reader.close()
    }
    await writer.close()
  })

  it('follows: waits at the end, wakes when there is more, and ends by its signal alone', async () => {
    const both = machine()
    const writer = await openWriter(both)
    const reader = await openReader(both)
    const stop = new AbortController()
    const read: string[] = []
    const following = (async () => {
      for await (const { value } of reader.records('earliest', { follow: true, signal: stop.signal })) read.push(String(value))
    })()
    for (const value of ['a', 'b', 'c']) {
      await writer.append({ value })
      both.time.advance(50)
      await settle()
      assert.equal(read.at(-1), value)
    }
    stop.abort(new Error('enough'))
    await assert.rejects(following, /enough/)
    await settle()
    const pending = both.time.pendingTimers
    both.time.advance(1000)
    assert.equal(both.time.pendingTimers, pending, 'nobody watches: the files are looked at no more')
    await reader.close()
    await writer.close()
  })

  it('looks at the files once an interval, however often watching begins and ends, and not at all when nobody watches', async () => {
    const both = machine()
    const writer = await openWriter(both)
    const reader = await openReader(both)
    const before = both.time.pendingTimers
    let end = reader.watch(() => {})
    for (let round = 0; round < 3; round++) {
      both.time.advance(50)
      end()
      end = reader.watch(() => {})
      await settle()
      assert.equal(both.time.pendingTimers, before + 1)
    }
    end()
    assert.equal(both.time.pendingTimers, before)
    await reader.close()
    await writer.close()
  })

  it('tells whoever follows that the folder went away', async () => {
    const both = machine()
    const writer = await openWriter(both)
    await writer.append({ value: 'a' })
    const reader = await openReader(both)
    const following = valuesOf(reader.records('earliest', { follow: true }))
    await settle()
    both.disk.removeNow('/data/log-0')
    both.time.advance(50)
    await assert.rejects(
      following,
      (error: RefusedError) => error instanceof RefusedError && error.error === 'KAFKA_STORAGE_ERROR',
    )
    assert.equal(reader.failure?.code, 'ENOENT')
  })

  it('loads anew when what it saw was cut off and written again, and when the topic was made anew', async () => {
    const both = machine()
    let writer = await openWriter(both)
    for (const value of ['a', 'b', 'c']) await writer.append({ value })
    const reader = await openReader(both)
    await writer.truncateTo(1)
    for (const value of ['x', 'y', 'z']) await writer.append({ value })
    await reader.refresh()
    assert.deepEqual(await valuesOf(reader.records()), ['0:a', '1:x', '2:y', '3:z'])
    await writer.appendBatch(batch({ values: ['t'], transactional: true, producerId: 5, producerEpoch: 0, baseSequence: 0 }))
    await reader.refresh()
    assert.equal(reader.lastStableOffset, 4)
    await writer.truncateTo(4)
    await writer.appendBatch(batch({ values: ['u'] }))
    await reader.refresh()
    assert.equal(reader.lastStableOffset, 5, 'the open transaction is not there any more')
    await writer.truncateFullyAndStartAt(100)
    await writer.append({ value: 'new' })
    await reader.refresh()
    assert.deepEqual(await valuesOf(reader.records()), ['100:new'])
    await writer.close()
    both.disk.removeNow('/data/log-0')
    writer = await openWriter(both)
    await writer.append({ value: 'again' })
    await reader.refresh()
    assert.deepEqual(await valuesOf(reader.records()), ['0:again'])
    await reader.close()
    await writer.close()
  })

  it('goes on when the segments that it reads are cleaned, and has what is left', async () => {
    const cleaned = await compacted({ config: { 'segment.bytes': 300, 'index.interval.bytes': 1 } })
    const environment = {
      disk: cleaned.disk,
      clock: cleaned.time,
      timers: cleaned.time,
      random: seededRandom(3),
      processes: ALONE,
    }
    for (let at = 0; at < 40; at++) await put(cleaned, `k${at % 5}=v${at} other${at}=x`)
    const reader = await openReadOnly('/data/t-0', { environment })
    const before = await valuesOf(reader.records())
    assert.equal(before.length, 80)
    const half = reader.records('earliest', { maxBytes: 200 })
    for (let at = 0; at < 10; at++) await half.next()
    for (let at = 0; at < 5; at++) await put(cleaned, `k${at}=last`)
    cleaned.time.advance(1000)
    assert.equal(await clean(cleaned), 1)
    cleaned.time.advance(100_000)
    await settle()
    for await (const { offset, value } of half) assert.ok(offset >= 10 && offset < 80, `${offset}: ${value}`)
    await reader.refresh()
    const left: string[] = []
    for await (const { offset, key, value } of reader.records()) left.push(`${offset}:${key}=${value}`)
    assert.deepEqual(left, await stored(cleaned.log))
    assert.ok(left.length < 60, `${left.length}`)
    await reader.close()
    await cleaned.directories.close()
  })

  it('reads on while it is loaded anew beside the reading', async () => {
    const both = machine()
    const writer = await openWriter(both, { 'segment.bytes': 300 })
    for (let at = 0; at < 60; at++) await writer.append({ value: `v${at}`.padEnd(50) })
    const reader = await openReader(both)
    const offsets: number[] = []
    for await (const { offset } of reader.records('earliest', { maxBytes: 100 })) {
      offsets.push(offset)
      if (offset % 5 !== 0) continue
      // What it saw last is another by now: the refresh that notices it is under way while the iterator reads on.
      await writer.truncateTo(writer.logEndOffset - 1)
      await writer.append({ value: `other${offset}`.padEnd(50) })
      void reader.refresh()
    }
    assert.deepEqual(
      offsets,
      Array.from({ length: 60 }, (_, at) => at),
    )
    await reader.close()
    await assert.rejects(collected(reader.records(0, { to: 1 })), (error: RefusedError) => error.error === 'KAFKA_STORAGE_ERROR')
    await writer.close()
  })

  it('does not go past damage into later segments', async () => {
    const both = machine()
    const writer = await openWriter(both, { 'segment.bytes': 200 })
    await writer.append({ value: 'a'.repeat(80) })
    await writer.append({ value: 'b' })
    await writer.append({ value: 'c'.repeat(80) })
    await writer.flush()
    const reader = await openReader(both)
    for (const value of ['d'.repeat(80), 'e'.repeat(80), 'f'.repeat(80)]) await writer.append({ value })
    const { baseOffset } = writer.stats().segments.at(-2)!
    const file = both.disk.openNow(`/data/log-0/${String(baseOffset).padStart(20, '0')}.log`, 'readWrite')
    file.writevNow([Buffer.from('Z')], 100)
    await reader.refresh()
    assert.equal(reader.logEndOffset, baseOffset)
    await reader.close()
    await writer.close()
  })

  it(`shows what the writer has after any of its operations (seed ${SEED})`, async () => {
    const random = seededRandom(SEED)
    const pick = (count: number): number => Math.floor(random.next() * count)
    for (let round = 0; round < 20; round++) {
      const both = machine()
      const writer = await openWriter(both, { 'segment.bytes': 400, 'index.interval.bytes': 50, 'file.delete.delay.ms': 10 })
      await writer.append({ value: 'first' })
      const reader = await openReader(both)
      const did: number[] = []
      for (let step = 0; step < 40; step++) {
        const { logStartOffset, logEndOffset } = writer
        const operation = pick(10)
        did.push(operation)
        if (operation < 6) await writer.append(Array.from({ length: 1 + pick(4) }, () => ({ value: 'v'.repeat(pick(60)) })))
        else if (operation === 6) await writer.roll()
        else if (operation === 7) await writer.deleteRecordsBefore(logStartOffset + pick(logEndOffset - logStartOffset + 1))
        else if (operation === 8) await writer.truncateTo(await boundary(writer, pick(3)))
        else both.time.advance(100)
        if (pick(3) === 0) continue
        await reader.refresh()
        const from = Math.max(reader.logStartOffset, writer.logStartOffset)
        const told = `seed ${SEED}, round ${round}, step ${step}, ${did.join(' ')}`
        assert.equal(reader.logEndOffset, writer.logEndOffset, told)
        assert.deepEqual(await valuesOf(reader.records(from, { maxBytes: 300 })), await valuesOf(writer.records(from)), told)
      }
      await reader.close()
      await writer.close()
    }
  }).timeout(30_000)
})

describe('a log for one’s own use', () => {
  it('opens in one line, appends, reads, finds by time, truncates, and is there again after a close', async () => {
    const { environment, time } = machine()
    let log = await openLog('/data', { environment, topic: 'orders', partition: 2 })
    assert.deepEqual(log.topicPartition, { topic: 'orders', partition: 2 })
    const appended = await log.append([
      { key: 'k', value: 'a', headers: [{ key: 'h', value: 'x' }] },
      { value: null, timestamp: time.now() + 5 },
    ])
    assert.deepEqual(appended, { firstOffset: 0, lastOffset: 1, logAppendTime: -1 })
    assert.deepEqual(await log.append({ value: 'c'.repeat(2000) }, { codec: 'gzip' }), {
      firstOffset: 2,
      lastOffset: 2,
      logAppendTime: -1,
    })
    assert.deepEqual(await log.findByTime(time.now() + 1), { offset: 1, timestamp: time.now() + 5, leaderEpoch: 0 })
    assert.equal((await log.read(1)).slices.length, 2)
    await log.truncateTo(2)
    const { sizeInBytes, segments, openFiles, producers } = log.stats()
    assert.deepEqual([segments.length, openFiles, producers], [1, 1, 0])
    assert.equal(sizeInBytes, log.sizeInBytes)
    await log.close()
    log = await openLog('/data', { environment, topic: 'orders', partition: 2 })
    assert.equal(log.cut, null)
    const [first, second] = await collected(log.records())
    assert.deepEqual([String(first!.key), String(first!.value), first!.headers[0]!.key], ['k', 'a', 'h'])
    assert.equal(second!.value, null)
    await log.close()
    await assert.rejects(log.append({ value: 'late' }), (error: RefusedError) => error.error === 'KAFKA_STORAGE_ERROR')
    await assert.rejects(log.flush(), RefusedError)
  })

  it('says what all logs of a directory hold together, also to who only looks', async () => {
    const { environment } = machine()
    const directory = await openLogDirectory('/data', { environment })
    for (const partition of [0, 1]) {
      const log = await directory.open({ topic: 'orders', partition })
      await log.append({ value: 'a'.repeat(100 * (partition + 1)) })
      await log.roll()
    }
    const { sizeInBytes, openFiles, indexMemoryBytes, ...counts } = directory.stats()
    assert.deepEqual(counts, { path: '/data', logs: 2, segments: 4, producers: 0, openTransactions: 0 })
    assert.equal(sizeInBytes, directory.logs[0]!.sizeInBytes + directory.logs[1]!.sizeInBytes)
    assert.ok(openFiles > 0 && indexMemoryBytes > 0)
    await directory.close()
    const reader = await openDirectoryReadOnly('/data', { environment })
    const { openFiles: _, indexMemoryBytes: __, ...seen } = reader.stats()
    assert.deepEqual(seen, { ...counts, sizeInBytes })
    await reader.close()
    assert.equal(reader.stats().openFiles, 0)
  })

  it('does not have records again, after a kill, that were deleted before it', async () => {
    const { disk, environment } = machine()
    const log = await openLog('/data', { environment })
    for (const value of ['a', 'b', 'c']) await log.append({ value })
    await log.deleteRecordsBefore(2)
    disk.syncAll()
    const again = await openLog('/data', { environment: { ...environment, disk: disk.crash() } })
    assert.equal(again.logStartOffset, 2)
    assert.deepEqual(await valuesOf(again.records()), ['2:c'])
    await again.close()
  })

  it('says when the disk did not let it be cut, and refuses to be cut once it is closed', async () => {
    const { disk, environment } = machine()
    const log = await openLog('/data', { environment })
    for (const value of ['a', 'b', 'c']) await log.append({ value })
    disk.faults = ({ kind, path }) => (kind === 'truncate' && path === DATA_FILE ? { fail: 'EIO' } : undefined)
    const storageError = { name: 'RefusedError', error: 'KAFKA_STORAGE_ERROR' }
    await assert.rejects(log.truncateTo(1), storageError)
    await log.close()
    for (const change of [log.truncateTo(1), log.truncateFullyAndStartAt(1), log.roll(), log.deleteRecordsBefore(1), log.flush()])
      await assert.rejects(change, storageError)
  })

  it('makes several batches of what is too large for one, and refuses a record that is', async () => {
    const { environment } = machine()
    const log = await openLog('/data', { environment, config: { 'max.message.bytes': 1000 } })
    const values = Array.from({ length: 10 }, (_, at) => ({ value: String(at).repeat(300) }))
    assert.deepEqual(await log.append(values), { firstOffset: 0, lastOffset: 9, logAppendTime: -1 })
    let batches = 0
    for await (const each of log.batches()) {
      assert.ok(each.sizeInBytes <= 1000)
      batches++
    }
    assert.ok(batches > 3)
    await assert.rejects(log.append({ value: 'x'.repeat(2000) }), (error: RefusedError) => error.error === 'MESSAGE_TOO_LARGE')
    await assert.rejects(log.append([]), RangeError)
    await log.close()
  })

  it('keeps records however old they are, unless it is told otherwise', async () => {
    const { environment, time } = machine()
    const log = await openLog('/data', { environment })
    await log.append({ value: 'old', timestamp: 1000 })
    await log.roll()
    time.advance(40 * 24 * 3600_000)
    await settle()
    assert.equal(log.logStartOffset, 0)
    await log.close()
  })

  it('holds one read in memory at a time, ends where the log ended at the beginning, and at `to`', async () => {
    const { environment } = machine()
    const log = await openLog('/data', { environment })
    for (let at = 0; at < 30; at++) await log.append([{ value: `a${at}` }, { value: `b${at}` }])
    const offsets: number[] = []
    for await (const { offset } of log.records(3, { maxBytes: 100 })) {
      offsets.push(offset)
      if (offsets.length < 5) await log.append({ value: 'meanwhile' })
    }
    assert.deepEqual(
      offsets,
      Array.from({ length: 57 }, (_, at) => at + 3),
    )
    assert.deepEqual(
      (await collected(log.records(1, { to: 4 }))).map(({ offset }) => offset),
      [1, 2, 3],
    )
    assert.deepEqual(await collected(log.records('latest')), [])
    await assert.rejects(
      collected(log.records(1000, { to: 1001 })),
      (error: RefusedError) => error.error === 'OFFSET_OUT_OF_RANGE',
    )
    await log.close()
  })

  it('throws at a damaged batch instead of giving its records', async () => {
    const { environment, disk } = machine()
    let log = await openLog('/data', { environment })
    await log.append({ value: 'good' })
    const at = log.sizeInBytes
    await log.append({ value: 'bad' })
    await log.append({ value: 'after' })
    await log.close()
    disk.openNow(DATA_FILE, 'readWrite').writevNow([Buffer.from('X')], at + 70)
    log = await openLog('/data', { environment })
    const read: string[] = []
    await assert.rejects(
      (async () => {
        for await (const { value } of log.records()) read.push(String(value))
      })(),
      (error: RefusedError) => error instanceof RefusedError && error.error === 'CORRUPT_MESSAGE',
    )
    assert.deepEqual(read, ['good'])
    await log.close()
  })

  it('watches: a listener hears once of what one turn brought, and no more after it ended that', async () => {
    const { environment } = machine()
    const log = await openLog('/data', { environment })
    let heard = 0
    const cancel = log.watch(() => heard++)
    const first = log.append({ value: 'a' })
    const second = log.append({ value: 'b' })
    await Promise.all([first, second])
    assert.ok(heard === 1 || heard === 2, `${heard}`)
    cancel()
    await log.append({ value: 'c' })
    assert.ok(heard <= 2)
    await log.close()
  })

  it('wakes who follows at once, and refuses them when it closes', async () => {
    const { environment } = machine()
    const log = await openLog('/data', { environment })
    const iterator = log.records('latest', { follow: true })
    const next = iterator.next()
    await log.append({ value: 'a' })
    assert.equal(String((await next).value?.value), 'a')
    const late = iterator.next()
    await settle()
    await log.close()
    await assert.rejects(late, (error: RefusedError) => error.error === 'KAFKA_STORAGE_ERROR')
  })

  it('says who uses a directory that it cannot have, and reads it all the same', async () => {
    const both = machine()
    const log = await openWriter(both)
    await log.append({ value: 'a' })
    await assert.rejects(openWriter(both), /in use by another broker in this process/)
    const reader = await openReader(both)
    assert.equal(reader.inUseBy, 'another broker in this process')
    assert.deepEqual(reader.damage, [])
    await reader.close()
    await log.close()
    await assert.rejects(openReadOnly('/data/notes', both), /"notes" is no name of a partition's folder/)
    await assert.rejects(openReadOnly('/data/nothing-0', both), /no such folder/)
  })

  it('begins in the middle of a compressed batch', async () => {
    const { environment } = machine()
    const log = await openLog('/data', { environment })
    const builder = new BatchBuilder({ codec: 'gzip' })
    for (let at = 0; at < 3; at++) builder.tryAppend({ timestamp: at, key: null, value: `z${at}` })
    await log.appendBatch(builder.build())
    assert.deepEqual(await valuesOf(log.records(1)), ['1:z1', '2:z2'])
    await log.close()
  })
})
