import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { iterateBatches } from '@mq/protocol'
import { names, open, put, reasonOf, SEGMENT, valuesOf } from './directories.test.support.js'
import { nodeDisk } from './disk-node.js'
import { appended, batch, type Harness, harness, produce, settled } from './log.test.support.js'
import { MemoryDisk } from './memory-disk.js'
import { ManualTime } from './testing.js'
import { DEFAULT_TOPIC_CONFIG } from './topic-config.js'

describe('damaged files beside the data', () => {
  const filled = async (): Promise<Harness> => {
    const made = await harness({ config: { 'index.interval.bytes': 0, 'segment.bytes': 400 } })
    for (let at = 0; at < 12; at++) {
      appended(
        await produce(
          made.log,
          batch({ values: [`${at}`], timestamp: 1_700_000_000_000 + at, producerId: 5, producerEpoch: 0, baseSequence: at }),
        ),
      )
    }
    await made.directories.close()
    return made
  }
  const expected = Array.from({ length: 12 }, (_, at) => `${at}`)

  it('an empty active segment without index files is fine, and gets new ones', async () => {
    const made = await harness()
    await made.directories.close()
    made.disk.removeNow(`/data/t-0/${SEGMENT}.index`)
    made.disk.removeNow(`/data/t-0/${SEGMENT}.timeindex`)
    const log = await made.reopen()
    assert.equal(log.cut, null)
    appended(await produce(log, batch()))
    await made.directories.close()
    assert.ok(names(made.disk, '/data/t-0').includes(`${SEGMENT}.index`))
  })

  const damages: Record<string, (bytes: Buffer) => Buffer> = {
    'cut to an odd size': (bytes) => bytes.subarray(0, Math.max(0, bytes.length - 5)),
    'longer by zeros': (bytes) => Buffer.concat([bytes, Buffer.alloc(64)]),
    'longer by noise': (bytes) => Buffer.concat([bytes, Buffer.alloc(24, 0xff)]),
    emptied: () => Buffer.alloc(0),
    'all bits set': (bytes) => Buffer.alloc(bytes.length, 0xff),
    'one bit flipped': (bytes) => {
      const flipped = Buffer.from(bytes)
      if (flipped.length > 0) flipped[Math.floor(flipped.length / 2)]! ^= 0x10
      return flipped
    },
  }
  for (const kind of ['index', 'timeindex', 'snapshot']) {
    for (const [how, damage] of Object.entries(damages)) {
      it(`a .${kind} ${how}: every record is read, the producer goes on`, async () => {
        const made = await filled()
        for (const name of names(made.disk, '/data/t-0').filter((one) => one.endsWith(`.${kind}`))) {
          put(made.disk, `/data/t-0/${name}`, damage(made.disk.readFileNow(`/data/t-0/${name}`)))
        }
        const log = await made.reopen()
        assert.deepEqual(await valuesOf(made), expected)
        for (const offset of expected.keys()) {
          const read = await log.read(offset, { maxBytes: 1, minOneMessage: true, upTo: 'logEnd' })
          assert.ok(read.kind === 'read' && read.sizeInBytes > 0, `offset ${offset}`)
        }
        assert.equal(appended(await produce(log, batch({ producerId: 5, producerEpoch: 0, baseSequence: 12 }))).firstOffset, 12)
      })
    }
  }

  for (const name of [
    'recovery-point-offset-checkpoint',
    'replication-offset-checkpoint',
    'log-start-offset-checkpoint',
    't-0/leader-epoch-checkpoint',
  ]) {
    it(`a ${name} of nonsense counts as none`, async () => {
      for (const text of ['', '0\n', '0\n2\nt 0 1\n', '9\n0\n', 'x\0y', '0\n1\nt 0 -5\n', '0\n1\nt zero 5\n']) {
        const made = await filled()
        put(made.disk, `/data/${name}`, text)
        await made.reopen()
        assert.deepEqual(await valuesOf(made), expected)
        await made.directories.close()
      }
    })
  }

  it('a checkpoint of which only the temporary file was written leaves the old one', async () => {
    const made = await filled()
    put(made.disk, '/data/recovery-point-offset-checkpoint.tmp', '0\n1\nt 0')
    put(made.disk, '/data/t-0/leader-epoch-checkpoint.tmp', '0\n')
    await made.reopen()
    assert.deepEqual(await valuesOf(made), expected)
    assert.equal(made.log.latestLeaderEpoch, 0)
  })

  it('a flipped bit in the data is never served as something else', async () => {
    const made = await filled()
    const path = `/data/t-0/${SEGMENT}.log`
    const bytes = made.disk.readFileNow(path)
    bytes[100]! ^= 1
    put(made.disk, path, bytes)
    await made.reopen()
    const read = await made.log.read(0, { maxBytes: 1 << 20, minOneMessage: true, upTo: 'logEnd' })
    const sound = read.kind === 'read' && [...iterateBatches(Buffer.concat(read.slices))].every((one) => one.crcIsValid())
    assert.equal(sound, false, 'the reader sees by the CRC that it is damaged')
  })

  it('noise in place of a batch header is an error, not an endless search', async () => {
    const made = await filled()
    const path = `/data/t-0/${SEGMENT}.log`
    const bytes = made.disk.readFileNow(path)
    bytes.fill(0xff, 0, 30)
    put(made.disk, path, bytes)
    await made.reopen()
    const read = await made.log.read(0, { maxBytes: 1 << 20, minOneMessage: true, upTo: 'logEnd' })
    assert.equal(read.kind === 'refused' && read.error, 'CORRUPT_MESSAGE')
    assert.equal(made.log.isOffline, false)
  })
})

describe('a disk that fails', () => {
  const storageError = (outcome: { kind: string }) => 'error' in outcome && outcome.error

  for (const fault of ['ENOSPC', 'EIO'] as const) {
    it(`with ${fault} on an append takes its directory offline; the record is not there after a restart`, async () => {
      for (const size of [10, 600_000]) {
        const failures: string[] = []
        const made = await harness({
          directories: { whenDirectoryFails: (directory, error) => failures.push(`${directory} ${error.code}`) },
        })
        appended(await produce(made.log, batch({ values: ['kept'] })))
        let calls = 0
        made.disk.faults = ({ kind, path }) => {
          if (kind !== 'write' || !path.endsWith('.log')) return undefined
          return calls++ === 0 ? { take: 20 } : { fail: fault }
        }
        assert.equal(storageError(await produce(made.log, batch({ values: [Buffer.alloc(size)] }))), 'KAFKA_STORAGE_ERROR')
        made.disk.faults = () => undefined
        assert.equal(storageError(await produce(made.log, batch())), 'KAFKA_STORAGE_ERROR', 'also when there is room again')
        assert.equal(
          storageError(await Promise.resolve(made.log.read(0, { maxBytes: 1, minOneMessage: true, upTo: 'logEnd' }))),
          'KAFKA_STORAGE_ERROR',
        )
        assert.deepEqual(failures, [`/data ${fault}`])
        await made.directories.close()
        assert.equal(made.disk.statNow('/data/.kafka_cleanshutdown'), null)
        await made.reopen()
        assert.deepEqual(await valuesOf(made), ['kept'])
        assert.equal(made.directories.wasCleanShutdown('/data'), false)
      }
    })
  }

  it('in a sync is never trusted again: nothing of what waited is acknowledged', async () => {
    const made = await harness({ config: { 'flush.messages': 1 } })
    let failed = false
    made.disk.faults = ({ kind, path }) => {
      if (failed || kind !== 'sync' || !path.endsWith('.log')) return undefined
      failed = true
      return { fail: 'EIO' }
    }
    assert.equal(storageError(await produce(made.log, batch())), 'KAFKA_STORAGE_ERROR')
    assert.equal(storageError(await produce(made.log, batch())), 'KAFKA_STORAGE_ERROR')
    assert.equal(made.log.isOffline, true)
  })

  it('when reading answers that partition with KAFKA_STORAGE_ERROR', async () => {
    const made = await harness()
    appended(await produce(made.log, batch()))
    await made.directories.close()
    await made.reopen()
    made.disk.faults = ({ kind, path }) => (kind === 'read' && path.endsWith('.log') ? { fail: 'EIO' } : undefined)
    const outcome = await made.log.read(0, { maxBytes: 1, minOneMessage: true, upTo: 'logEnd' })
    assert.equal(storageError(outcome), 'KAFKA_STORAGE_ERROR')
  })

  it('is told to whoever watches another log of the directory', async () => {
    const { directories, disk, log } = await harness()
    const other = await directories.create({ topic: 'u', partition: 0 }, null, DEFAULT_TOPIC_CONFIG)
    const seen: boolean[] = []
    const end = log.watch(() => seen.push(log.isClosed))
    disk.faults = ({ kind }) => (kind === 'write' ? { fail: 'EIO' } : undefined)
    assert.equal(storageError(await produce(other, batch())), 'KAFKA_STORAGE_ERROR')
    await settled()
    assert.deepEqual(seen, [true])
    end()
  })

  it('in one of two directories leaves the other serving, and nothing is made anew in the good one', async () => {
    const disk = new MemoryDisk()
    const time = new ManualTime()
    const directories = await open(disk, time, { dirs: ['/a', '/b'] })
    const logs = []
    for (let partition = 0; partition < 4; partition++) {
      logs.push(await directories.create({ topic: 't', partition }, null, DEFAULT_TOPIC_CONFIG))
    }
    const bad = logs.filter((log) => log.directory === '/a')
    const good = logs.filter((log) => log.directory === '/b')
    disk.faults = ({ path }) => (path.startsWith('/a') ? { fail: 'EIO' } : undefined)
    assert.equal(storageError(await produce(bad[0]!, batch())), 'KAFKA_STORAGE_ERROR')
    for (const log of bad) assert.equal(storageError(await produce(log, batch())), 'KAFKA_STORAGE_ERROR')
    for (const log of good) appended(await produce(log, batch()))
    for (const log of bad) assert.equal(await directories.create(log.topicPartition, null, DEFAULT_TOPIC_CONFIG), log)
    assert.equal((await directories.create({ topic: 't', partition: 9 }, null, DEFAULT_TOPIC_CONFIG)).directory, '/b')
    assert.deepEqual(
      directories.directories.map(({ isOffline }) => isOffline),
      [true, false],
    )
    await directories.close()
    assert.ok(disk.statNow('/b/.kafka_cleanshutdown'))
  })

  it('at the start leaves the others serving; when all fail the start does', async () => {
    const disk = new MemoryDisk()
    const time = new ManualTime()
    await (await open(disk, time, { dirs: ['/a', '/b'] })).close()
    disk.faults = ({ path }) => (path.startsWith('/a') ? { fail: 'EIO' } : undefined)
    const directories = await open(disk, time, { dirs: ['/a', '/b'] })
    assert.deepEqual(
      directories.directories.map(({ isOffline }) => isOffline),
      [true, false],
    )
    await directories.close()
    disk.faults = ({ kind }) => (kind === 'mkdir' || kind === 'write' ? { fail: 'EIO' } : undefined)
    assert.equal(await reasonOf(open(disk, time, { dirs: ['/a', '/b'] })), 'failed')
  })

  for (const file of ['recovery-point-offset-checkpoint', 'leader-epoch-checkpoint', 'meta.properties', '.snapshot', '.index']) {
    it(`full while ${file} is written keeps the old one whole`, async () => {
      const made = await harness({ config: { 'index.interval.bytes': 0 } })
      for (let at = 0; at < 3; at++) appended(await produce(made.log, batch({ values: [`${at}`] })))
      await made.directories.checkpointAll()
      await made.log.flush()
      made.disk.faults = ({ kind, path }) => (kind === 'write' && path.includes(file) ? { fail: 'ENOSPC' } : undefined)
      appended(await produce(made.log, batch({ values: ['3'] }), 1))
      await made.log.roll()
      await made.directories.close()
      made.disk.faults = () => undefined
      await made.reopen()
      assert.deepEqual(await valuesOf(made), ['0', '1', '2', '3'])
    })
  }
})

describe('readers while segments go', () => {
  it('find by time among what is left, and are told of offsets that are gone; nothing goes offline', async function () {
    this.timeout(30_000)
    const folder = mkdtempSync(join(tmpdir(), 'mq-readers-'))
    const time = new ManualTime()
    const failures: string[] = []
    const size = batch().length
    const config = { ...DEFAULT_TOPIC_CONFIG, 'segment.bytes': 2 * size, 'file.delete.delay.ms': 0, 'retention.ms': -1 }
    const directories = await open(nodeDisk, time, {
      dirs: [folder],
      topicConfig: () => config,
      openFilesLimit: 2,
      tailCacheBytes: 0,
      whenDirectoryFails: (_, error) => failures.push(error.message),
    })
    const log = await directories.create({ topic: 't', partition: 0 }, null, config)
    for (let at = 0; at < 120; at++) appended(await produce(log, batch({ timestamp: 1000 + at })))
    log.updateHighWatermark(120)
    await directories.close()
    const again = await open(nodeDisk, time, {
      dirs: [folder],
      topicConfig: () => config,
      openFilesLimit: 2,
      tailCacheBytes: 0,
      whenDirectoryFails: (_, error) => failures.push(error.message),
    })
    const opened = again.get({ topic: 't', partition: 0 })!
    opened.updateHighWatermark(120)
    for (let keep = 50; keep > 5; keep -= 5) {
      again.setTopicConfig('t', { ...config, 'retention.bytes': keep * 2 * size })
      const reads = Array.from({ length: 60 }, (_, at) =>
        Promise.resolve(opened.read(at * 2, { maxBytes: 10, minOneMessage: true, upTo: 'logEnd' })),
      )
      const times = Array.from({ length: 10 }, (_, at) => opened.offsetForTimestamp(1000 + at * 11))
      await again.applyRetention()
      time.advance(0)
      for (const outcome of await Promise.all(reads)) {
        assert.ok(outcome.kind === 'read' || outcome.error === 'OFFSET_OUT_OF_RANGE', JSON.stringify(outcome))
      }
      for (const found of await Promise.all(times)) assert.ok(found !== null && 'offset' in found, JSON.stringify(found))
    }
    assert.deepEqual(failures, [])
    await again.close()
    rmSync(folder, { recursive: true })
  })
})
