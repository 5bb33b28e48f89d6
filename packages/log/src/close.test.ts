import assert from 'node:assert/strict'
import { ALONE, batch, harness, PARTITION, produce, TOPIC_ID } from './log.test.support.js'
import { LogDirectories } from './log-directories.js'
import type { DiskFile, OpenMode } from './ports.js'
import { ManualTime, MemoryDisk, seededRandom } from './testing.js'
import { DEFAULT_TOPIC_CONFIG } from './topic-config.js'

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

const settled = async () => {
  for (let turns = 0; turns < 200; turns++) await Promise.resolve()
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
