import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { endTransactionMarker } from '@mq/protocol'
import { names, open, put, reasonOf, SEGMENT, valuesOf } from './directories.test.support.js'
import { nodeDisk } from './disk-node.js'
import { ALONE, appended, batch, harness, PARTITION, produce, TOPIC_ID } from './log.test.support.js'
import type { BrokerLogDirectories } from './log-directories.js'
import { readDirectoryOwner } from './log-directory.js'
import { MemoryDisk } from './memory-disk.js'
import { type DiskFile, type OpenMode, SILENT } from './ports.js'
import { ManualTime } from './testing.js'
import { DEFAULT_TOPIC_CONFIG } from './topic-config.js'

class CountingDisk extends MemoryDisk {
  openCount = 0
  override openNow(path: string, mode: OpenMode): DiskFile {
    const file = super.openNow(path, mode)
    const close = file.closeNow.bind(file)
    this.openCount++
    file.closeNow = () => {
      this.openCount--
      close()
    }
    return file
  }
}

describe('log directories', () => {
  it('have the files that Kafka has', async () => {
    const made = await harness()
    appended(await produce(made.log, batch()))
    made.log.updateHighWatermark(1)
    await made.directories.close()
    const { disk } = made
    assert.deepEqual(names(disk, '/data'), [
      '.kafka_cleanshutdown',
      '.lock',
      'log-start-offset-checkpoint',
      'meta.properties',
      'recovery-point-offset-checkpoint',
      'replication-offset-checkpoint',
      't-0',
    ])
    assert.deepEqual(names(disk, '/data/t-0'), [
      `${SEGMENT}.index`,
      `${SEGMENT}.log`,
      `${SEGMENT}.timeindex`,
      '00000000000000000001.snapshot',
      'leader-epoch-checkpoint',
      'partition.metadata',
    ])
    const text = (name: string) => disk.readFileNow(`/data/${name}`).toString()
    assert.equal(text('.kafka_cleanshutdown'), '{"version":0,"brokerEpoch":-1}')
    assert.equal(text('recovery-point-offset-checkpoint'), '0\n1\nt 0 1\n')
    assert.equal(text('replication-offset-checkpoint'), '0\n1\nt 0 1\n')
    assert.equal(text('log-start-offset-checkpoint'), '0\n0\n')
    assert.equal(text('t-0/partition.metadata'), `version: 0\ntopic_id: ${TOPIC_ID}`)
    assert.match(text('meta.properties'), /^#\n#Tue Nov 14 22:13:20 UTC 2023\nbroker.id=1\nversion=0\ncluster.id=cluster\n$/)
    assert.equal(text('.lock'), '')
    assert.deepEqual(readDirectoryOwner(disk, '/data'), { brokerId: 1, clusterId: 'cluster' })
  })

  describe('give new partitions', () => {
    const make = (directories: BrokerLogDirectories, topic: string, partition: number) =>
      directories.create({ topic, partition }, null, DEFAULT_TOPIC_CONFIG)
    const where = (directories: BrokerLogDirectories) =>
      Object.fromEntries([...directories.all()].map((log) => [String(log), log.directory]))

    it('to the directory with the fewest, counting those that are being made, as 3.9.1 did with these', async () => {
      const directories = await open(new MemoryDisk(), new ManualTime(), { dirs: ['/a', '/b', '/c'] })
      await Promise.all([0, 1, 2, 3, 4].map((partition) => make(directories, 'u', partition)))
      await Promise.all([0, 1, 2, 3, 4, 5, 6].map((partition) => make(directories, 'v', partition)))
      const given: Record<string, string> = { 'u-0': '/a', 'u-1': '/b', 'u-2': '/c', 'u-3': '/a', 'u-4': '/b', 'v-0': '/c' }
      Object.assign(given, { 'v-1': '/a', 'v-2': '/b', 'v-3': '/c', 'v-4': '/a', 'v-5': '/b', 'v-6': '/c' })
      assert.deepEqual(where(directories), given)
    })

    it('to the next directory when one does not take the folder, which is offline then', async () => {
      const disk = new MemoryDisk()
      const directories = await open(disk, new ManualTime(), { dirs: ['/a', '/b'] })
      disk.faults = ({ kind, path }) => (kind === 'mkdir' && path.startsWith('/a') ? { fail: 'EIO' } : undefined)
      await make(directories, 't', 0)
      assert.deepEqual(where(directories), { 't-0': '/b' })
      assert.deepEqual(
        directories.directories.map(({ isOffline }) => isOffline),
        [true, false],
      )
      disk.faults = ({ kind }) => (kind === 'mkdir' ? { fail: 'ENOSPC' } : undefined)
      await assert.rejects(make(directories, 't', 1), { code: 'ENOSPC' })
      await assert.rejects(make(directories, 't', 2), { reason: 'failed' })
    })

    it('to no directory that has a folder of that name in other letters, where the system does not tell them apart', async () => {
      class CaselessDisk extends MemoryDisk {
        override statNow(path: string) {
          return super.statNow(path) ?? super.statNow(path.replace('/T-', '/t-'))
        }
      }
      const directories = await open(new CaselessDisk(), new ManualTime(), { dirs: ['/a', '/b'] })
      await make(directories, 't', 0)
      await make(directories, 'T', 0)
      assert.deepEqual(where(directories), { 't-0': '/a', 'T-0': '/b' })
      const alone = await open(new CaselessDisk(), new ManualTime(), { dirs: ['/a'] })
      await make(alone, 't', 0)
      await assert.rejects(make(alone, 'T', 0), { reason: 'name-taken', message: /T-0 cannot be told from t-0/ })
      assert.deepEqual(alone.directories, [{ path: '/a', isOffline: false }])
    })

    it('to nobody else once the folder was made, and leave nothing open when the rest fails', async () => {
      for (const kind of ['syncDirectory', 'write', 'sync', 'rename'] as const) {
        const disk = new CountingDisk()
        const directories = await open(disk, new ManualTime(), { dirs: ['/a', '/b'] })
        disk.faults = (operation) => (operation.kind === kind && operation.path.startsWith('/a') ? { fail: 'EIO' } : undefined)
        await assert.rejects(directories.create({ topic: 't', partition: 0 }, TOPIC_ID, DEFAULT_TOPIC_CONFIG), { code: 'EIO' })
        assert.deepEqual(where(directories), {}, kind)
        assert.equal(disk.statNow('/b/t-0'), null, kind)
        assert.equal(disk.openCount, 0, kind)
      }
    })
  })

  it('are refused when they belong to another broker or cluster, or to KRaft', async () => {
    const disk = new MemoryDisk()
    const time = new ManualTime()
    await (await open(disk, time)).close()
    assert.equal(await reasonOf(open(disk, time, { brokerId: 2 })), 'not-ours')
    assert.equal(await reasonOf(open(disk, time, { clusterId: 'other' })), 'not-ours')
    assert.equal(await reasonOf(open(disk, time)), 'opened')
    const kraft = new MemoryDisk()
    kraft.makeDirectoryNow('/data')
    put(kraft, '/data/meta.properties', 'version=1\nnode.id=1\ncluster.id=x\n')
    assert.equal(await reasonOf(open(kraft, time)), 'malformed')
  })

  it('are refused while another process has them, and free when it is gone or left an empty lock', async () => {
    const disk = new MemoryDisk()
    const time = new ManualTime()
    const first = await open(disk, time)
    assert.equal(await reasonOf(open(disk, time)), 'locked', 'another broker in this process')
    await first.close()
    put(disk, '/data/.lock', '77 12345\n')
    const processes = {
      ...ALONE,
      isRunning: ({ pid, startedAt }: { pid: number; startedAt: string }) => pid === 77 && startedAt === '12345',
    }
    assert.equal(await reasonOf(open(disk, time, { processes })), 'locked')
    assert.equal(await reasonOf(open(disk, time, { processes: { ...ALONE, holdsAdvisoryLock: () => true } })), 'locked')
    const second = await open(disk, time)
    assert.equal(disk.readFileNow('/data/.lock').toString(), '1 1\n')
    await second.close()
    put(disk, '/data/.lock', '')
    assert.equal(await reasonOf(open(disk, time, { processes })), 'opened')
  })

  it('do not look clean when the start itself is killed', async () => {
    const made = await harness()
    appended(await produce(made.log, batch()))
    await made.directories.close()
    made.disk.syncAll()
    let opened = 0
    made.disk.faults = ({ kind }) => {
      // The first look is for others who start, the second for partitions.
      if (kind === 'list' && ++opened === 2) made.disk.stop()
      return undefined
    }
    await assert.rejects(made.reopen())
    const again = await open(made.disk.crash(), made.time)
    assert.equal(again.wasCleanShutdown('/data'), false)
    assert.equal(again.get(PARTITION)!.logEndOffset, 1)
  })

  it('free a deleted partition name at once and its files after the delay', async () => {
    const made = await harness()
    appended(await produce(made.log, batch()))
    await made.directories.delete(PARTITION)
    assert.equal(made.directories.get(PARTITION), undefined)
    const gone = names(made.disk, '/data').find((name) => name.endsWith('-delete'))!
    assert.match(gone, /^t-0\.[0-9a-f]{32}-delete$/)
    const again = await made.directories.create(PARTITION, TOPIC_ID, DEFAULT_TOPIC_CONFIG)
    assert.equal(again.logEndOffset, 0)
    made.time.advance(60_000)
    await made.directories.checkpointAll()
    assert.equal(made.disk.statNow(`/data/${gone}`), null)
    assert.equal(made.disk.statNow('/data/t-0')?.kind, 'directory')
  })

  it('let what is under way on a partition end before its folder goes', async function () {
    this.timeout(30_000)
    const folder = mkdtempSync(join(tmpdir(), 'mq-delete-'))
    const failures: string[] = []
    const whenDirectoryFails = (_: string, error: Error) => failures.push(error.message)
    const directories = await open(nodeDisk, new ManualTime(), { dirs: [folder], whenDirectoryFails })
    for (let round = 0; round < 8; round++) {
      const log = await directories.create(PARTITION, TOPIC_ID, DEFAULT_TOPIC_CONFIG)
      appended(await produce(log, batch(), round))
      void log.roll()
      void log.assignEpoch(round + 1, 1)
      const large = produce(log, batch({ values: [Buffer.alloc(600_000)] }), round + 1)
      void log.flush()
      await directories.delete(PARTITION)
      await large
    }
    assert.deepEqual(failures, [])
    await directories.close()
    rmSync(folder, { recursive: true })
  })

  it('finish deleting after a restart, and leave stray and future folders alone', async () => {
    const made = await harness()
    await made.directories.delete(PARTITION)
    await made.directories.close()
    const gone = names(made.disk, '/data').find((name) => name.endsWith('-delete'))!
    made.disk.makeDirectoryNow('/data/s-0.0123456789abcdef0123456789abcdef-stray')
    made.disk.makeDirectoryNow('/data/f-0.0123456789abcdef0123456789abcdef-future')
    await made.reopen()
    assert.deepEqual([...made.directories.all()], [])
    made.time.advance(60_000)
    await made.directories.checkpointAll()
    assert.equal(made.disk.statNow(`/data/${gone}`), null)
    assert.equal(names(made.disk, '/data').filter((name) => /-(stray|future)$/.test(name)).length, 2)
  })
})

describe('retention by the directories', () => {
  it('rolls and removes an active segment whose newest record has expired, and is idempotent', async () => {
    const made = await harness({ config: { 'retention.ms': 1000 } })
    appended(await produce(made.log, batch({ timestamp: made.time.now() })))
    made.log.updateHighWatermark(1)
    made.time.advance(1000)
    assert.equal(await made.directories.applyRetention(), 0)
    made.time.advance(1)
    assert.equal(await made.directories.applyRetention(), 1)
    assert.deepEqual([made.log.logStartOffset, made.log.logEndOffset], [1, 1])
    assert.equal(await made.directories.applyRetention(), 0)
    const log = await (async () => {
      await made.directories.close()
      return made.reopen()
    })()
    assert.deepEqual([log.logStartOffset, log.logEndOffset], [1, 1])
  })

  it('happens by itself, every check interval', async () => {
    const made = await harness({ config: { 'retention.ms': 1000 } })
    appended(await produce(made.log, batch({ timestamp: made.time.now() })))
    made.log.updateHighWatermark(1)
    made.time.advance(30_000)
    await made.log.flush()
    await made.log.roll()
    assert.equal(made.log.logStartOffset, 1)
  })

  it('goes on when one pass fails', async () => {
    const lines: string[] = []
    let fails = true
    const made = await harness({
      config: { 'retention.ms': 1000 },
      directories: { logger: { ...SILENT, error: (_, message) => lines.push(message) } },
    })
    const { log } = made
    const passes: number[] = []
    log.applyRetention = async () => {
      passes.push(made.time.monotonic())
      if (fails) throw new Error('a defect')
      return 0
    }
    made.time.advance(30_000)
    await log.flush()
    fails = false
    await log.flush()
    made.time.advance(300_000)
    assert.deepEqual(passes, [30_000, 330_000])
    assert.deepEqual(lines, ['periodic work on the log directories failed'])
  })

  it('keeps what is stamped in the future by time, but not by size', async () => {
    const size = batch().length
    const made = await harness({ config: { 'retention.ms': 1000, 'segment.bytes': size } })
    const tenYears = 315_360_000_000
    for (let at = 0; at < 3; at++) appended(await produce(made.log, batch({ timestamp: made.time.now() + tenYears })))
    made.log.updateHighWatermark(3)
    made.time.advance(86_400_000)
    assert.equal(await made.directories.applyRetention(), 0)
    made.directories.setTopicConfig('t', { ...made.log.config, 'retention.bytes': size })
    assert.equal(await made.directories.applyRetention(), 2)
    assert.equal(made.log.logStartOffset, 2)
  })

  it('removes nothing of a held topic, nor of a compacted one, but what lies before its start', async () => {
    const size = batch().length
    const made = await harness({
      config: { 'retention.ms': 1, 'retention.bytes': 1, 'segment.bytes': size, 'cleanup.policy': ['compact'] },
      directories: { config: { 'log.cleaner.enable': false } },
    })
    for (let at = 0; at < 4; at++) appended(await produce(made.log, batch({ timestamp: made.time.now() })))
    made.log.updateHighWatermark(4)
    made.time.advance(1_000_000)
    assert.equal(await made.directories.applyRetention(), 0)
    await made.log.deleteRecordsBefore(2)
    made.directories.holdRetention('t')
    assert.equal(await made.directories.applyRetention(), 0)
    made.directories.releaseRetention('t')
    assert.equal(await made.directories.applyRetention(), 2)
    made.directories.setTopicConfig('t', { ...made.log.config, 'cleanup.policy': ['delete'] })
    assert.equal(await made.directories.applyRetention(), 2)
  })

  it('never goes above the high watermark', async () => {
    const size = batch().length
    const made = await harness({ config: { 'retention.ms': 1, 'segment.bytes': size } })
    for (let at = 0; at < 3; at++) appended(await produce(made.log, batch({ timestamp: 1 })))
    made.log.updateHighWatermark(1)
    assert.equal(await made.directories.applyRetention(), 1)
    assert.equal(made.log.logStartOffset, 1)
  })

  it('copes with a start inside the active segment, again and again', async () => {
    const made = await harness()
    for (let at = 0; at < 3; at++) appended(await produce(made.log, batch({ values: [`${at}`] })))
    made.log.updateHighWatermark(3)
    assert.deepEqual(await made.log.deleteRecordsBefore(2), { kind: 'deleted', logStartOffset: 2 })
    for (let pass = 0; pass < 2; pass++) assert.equal(await made.directories.applyRetention(), 0)
    assert.equal(made.log.logStartOffset, 2)
    await made.directories.close()
    assert.equal(made.disk.readFileNow('/data/log-start-offset-checkpoint').toString(), '0\n1\nt 0 2\n')
    await made.reopen()
    assert.deepEqual(await valuesOf(made), ['2'])
    const outcome = await made.log.deleteRecordsBefore(9)
    assert.equal(outcome.kind === 'refused' && outcome.error, 'OFFSET_OUT_OF_RANGE')
  })

  it('with a delete delay of nothing, files vanish one after another and a close does not wait', async () => {
    const size = batch().length
    const made = await harness({ config: { 'file.delete.delay.ms': 0, 'retention.bytes': 0, 'segment.bytes': size } })
    for (let at = 0; at < 3; at++) appended(await produce(made.log, batch()))
    made.log.updateHighWatermark(3)
    assert.equal(await made.directories.applyRetention(), 3)
    const waiting = () => names(made.disk, '/data/t-0').filter((name) => name.endsWith('.deleted'))
    assert.ok(waiting().length >= 3)
    made.time.advance(0)
    for (let turns = 0; turns < 20 && waiting().length > 0; turns++) await new Promise((resume) => setImmediate(resume))
    assert.deepEqual(waiting(), [])
    await made.directories.close()
    assert.deepEqual(
      names(made.disk, '/data/t-0').filter((name) => name.endsWith('.log')),
      ['00000000000000000003.log'],
    )
  })
})

describe('producers and time', () => {
  it('one whose only recent entry is a marker outlives an expiry pass', async () => {
    const made = await harness()
    const old = made.time.now()
    appended(
      await produce(made.log, batch({ producerId: 4, producerEpoch: 0, baseSequence: 0, transactional: true, timestamp: old })),
    )
    made.time.advance(86_400_000)
    const marker = endTransactionMarker({
      producerId: 4,
      producerEpoch: 0,
      commit: true,
      coordinatorEpoch: 3,
      timestamp: made.time.now(),
    })
    appended(await Promise.resolve(made.log.append(marker, { origin: 'coordinator', leaderEpoch: 0 })))
    made.log.expireProducers()
    assert.deepEqual(
      made.log.producers().map(({ producerId, coordinatorEpoch }) => [producerId, coordinatorEpoch]),
      [[4, 3]],
    )
    await made.directories.close()
    const log = await made.reopen()
    assert.deepEqual(
      log.producers().map(({ producerId, coordinatorEpoch }) => [producerId, coordinatorEpoch]),
      [[4, 3]],
    )
    const stale = endTransactionMarker({
      producerId: 4,
      producerEpoch: 0,
      commit: true,
      coordinatorEpoch: 2,
      timestamp: made.time.now(),
    })
    const outcome = await Promise.resolve(log.append(stale, { origin: 'coordinator', leaderEpoch: 0 }))
    assert.equal(outcome.kind === 'refused' && outcome.error, 'TRANSACTION_COORDINATOR_FENCED')
    made.time.advance(86_400_000)
    log.expireProducers()
    assert.deepEqual(log.producers(), [])
  })

  it('knows the highest producer id that stands anywhere in the log', async () => {
    const made = await harness()
    assert.equal(await made.log.highestProducerId(), -1)
    appended(await produce(made.log, batch({ producerId: 900, producerEpoch: 0, baseSequence: 0, timestamp: 1 })))
    appended(await produce(made.log, batch()))
    await made.directories.close()
    made.time.advance(86_400_000)
    const log = await made.reopen()
    assert.deepEqual(log.producers(), [])
    assert.equal(await log.highestProducerId(), 900)
    assert.equal(await log.highestProducerId(1), 900, 'its snapshot has it too')
  })

  it('when the clock jumps, only what is too old by the time of its records goes', async () => {
    const made = await harness({ config: { 'retention.ms': 10_000 } })
    appended(await produce(made.log, batch({ timestamp: made.time.now() })))
    made.log.updateHighWatermark(1)
    made.time.jumpTo(made.time.now() - 3_600_000)
    assert.equal(await made.directories.applyRetention(), 0)
    made.time.jumpTo(made.time.now() + 2 * 3_600_000)
    assert.equal(await made.directories.applyRetention(), 1)
  })
})
