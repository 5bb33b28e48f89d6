import assert from 'node:assert/strict'
import { ALONE, appended, batch, gate, harness, PARTITION, produce, settled, TOPIC_ID } from './log.test.support.js'
import { LogDirectories } from './log-directories.js'
import type { DiskFile, OpenMode } from './ports.js'
import { ManualTime, MemoryDisk, seededRandom } from './testing.js'
import { DEFAULT_TOPIC_CONFIG } from './topic-config.js'

const ANOTHER = { topic: 'u', partition: 0 }

/** A disk on which one sync takes until it is let go. */
class SlowDisk extends MemoryDisk {
  letGo: () => void = () => {}

  constructor(readonly slowPath: string) {
    super()
  }

  override openNow(path: string, mode: OpenMode): DiskFile {
    const file = super.openNow(path, mode)
    if (path !== this.slowPath) return file
    const sync = file.dataSync.bind(file)
    file.dataSync = () =>
      new Promise((resolve, reject) => {
        this.letGo = () => void sync().then(resolve, reject)
      })
    return file
  }
}

describe('a stop of the log directories', () => {
  it('waits for a checkpoint that is under way, so that it does not replace the last one', async () => {
    const disk = new SlowDisk('/data/replication-offset-checkpoint.tmp')
    const time = new ManualTime()
    const directories = await LogDirectories.open({
      dirs: ['/data'],
      disk,
      clock: time,
      timers: time,
      random: seededRandom(3),
      processes: ALONE,
      brokerId: 1,
      clusterId: 'cluster',
      topicConfig: () => DEFAULT_TOPIC_CONFIG,
    })
    const log = await directories.create(PARTITION, TOPIC_ID, DEFAULT_TOPIC_CONFIG)
    log.append(batch({ values: ['a'] }), { origin: 'client', leaderEpoch: 0 })
    log.updateHighWatermark(1)
    time.advance(5000)
    await settled()
    const ofPeriod = disk.letGo
    log.append(batch({ values: ['b'] }), { origin: 'client', leaderEpoch: 0 })
    log.updateHighWatermark(2)
    let isClosed = false
    const closed = directories.close().then(() => {
      isClosed = true
    })
    await settled()
    assert.equal(isClosed, false)
    assert.equal(disk.letGo, ofPeriod, 'the last checkpoint began while another one was under way')
    ofPeriod()
    await settled()
    disk.letGo()
    await closed
    const text = disk.readFileNow('/data/replication-offset-checkpoint').toString()
    assert.match(text, /^0\n1\n\S+ \d+ 2\n$/)
    assert.equal(time.pendingTimers, 0)
  })

  it('waits for a flush that is under way, also when the directory has failed', async () => {
    const disk = new SlowDisk('/data/t-0/00000000000000000000.log')
    const { log, directories } = await harness({ disk })
    await produce(log, batch({ values: ['a'] }))
    const rolled = log.roll()
    await settled()
    disk.faults = ({ kind }) => (kind === 'write' ? { fail: 'ENOSPC' } : undefined)
    await produce(log, batch({ values: ['b'] }))
    assert.equal(log.isOffline, true)
    let isClosed = false
    const closed = directories.close().then(() => {
      isClosed = true
    })
    await settled()
    assert.equal(isClosed, false)
    disk.letGo()
    await closed
    await rolled
  })

  it('takes no directory offline because an index is being built again for a reader', async () => {
    const failures: string[] = []
    const made = await harness({
      directories: { tailCacheBytes: 0, whenDirectoryFails: (_, { message }) => failures.push(message) },
    })
    await produce(made.log, batch({ values: [Buffer.alloc(300_000)] }))
    await made.log.roll()
    await made.directories.close()
    made.disk.openNow('/data/t-0/00000000000000000000.index', 'readWrite').writevNow([Buffer.alloc(5)], 0)
    const log = await made.reopen()
    const read = gate()
    made.disk.delays = ({ kind, path }) => (kind === 'read' && path.endsWith('.log') ? read.passed : undefined)
    const options = { maxBytes: 1, minOneMessage: true, upTo: 'logEnd' } as const
    const reading = log.read(0, options)
    const search = log.offsetForTimestamp(0)
    await settled()
    const closed = made.directories.close()
    await settled()
    read.open()
    await closed
    const [outcome, found] = [await reading, await search]
    assert.equal(outcome.kind === 'refused' && outcome.error, 'KAFKA_STORAGE_ERROR')
    assert.equal(found !== null && 'kind' in found && found.error, 'KAFKA_STORAGE_ERROR')
    assert.deepEqual(failures, [])
  })

  it('waits for a partition that is being made, and closes it', async () => {
    const { disk, directories } = await harness()
    const sync = gate()
    disk.delays = ({ kind }) => (kind === 'syncDirectory' ? sync.passed : undefined)
    const creation = directories.create(ANOTHER, TOPIC_ID, DEFAULT_TOPIC_CONFIG)
    await settled()
    const closed = directories.close()
    await settled()
    sync.open()
    await closed
    assert.equal((await creation).isClosed, true)
  })

  it('leaves a directory in which nothing is made or deleted any more', async () => {
    const { disk, directories } = await harness()
    await directories.close()
    await assert.rejects(directories.create(ANOTHER, TOPIC_ID, DEFAULT_TOPIC_CONFIG), { name: 'LogDirectoryError' })
    await assert.rejects(directories.delete(PARTITION), { name: 'LogDirectoryError' })
    const names = disk.listNow('/data').map(({ name }) => name)
    assert.ok(names.includes('t-0') && !names.includes('u-0'), String(names))
  })
})

describe('a partition that is deleted and made at the same time', () => {
  it('is a new one in a folder of its own when it is made after its deletion began', async () => {
    const { disk, directories, log: old } = await harness()
    appended(await produce(old, batch()))
    const deletion = directories.delete(PARTITION)
    const log = await directories.create(PARTITION, TOPIC_ID, DEFAULT_TOPIC_CONFIG)
    await deletion
    assert.equal(log.logEndOffset, 0)
    appended(await produce(log, batch({ values: ['one', 'two'] })))
    assert.equal(disk.statNow('/data/t-0/00000000000000000000.log')?.sizeInBytes, log.sizeInBytes)
    assert.equal(directories.get(PARTITION), log)
  })

  it('is gone when it is deleted before it was made', async () => {
    const { disk, directories } = await harness()
    const creation = directories.create(ANOTHER, TOPIC_ID, DEFAULT_TOPIC_CONFIG)
    await directories.delete(ANOTHER)
    await creation
    assert.equal(directories.get(ANOTHER), undefined)
    assert.equal(disk.statNow('/data/u-0'), null)
  })
})

describe('a partition whose folder cannot be renamed', () => {
  it('is not said to be deleted', async () => {
    const { disk, directories } = await harness()
    disk.faults = ({ kind }) => (kind === 'rename' ? { fail: 'EIO' } : undefined)
    await assert.rejects(directories.delete(PARTITION), { name: 'DiskError', code: 'EIO' })
    disk.faults = () => undefined
    await directories.close()
    assert.equal(disk.statNow('/data/t-0')?.kind, 'directory')
  })
})
