import assert from 'node:assert/strict'
import { diskContract } from './disk-contract.test.js'
import { batch, gate, harness, PARTITION, produce, settled } from './log.test.support.js'
import { MemoryDisk } from './memory-disk.js'
import { PacedDisk } from './paced-disk.js'
import { DiskError } from './ports.js'
import { DEFAULT_TOPIC_CONFIG } from './topic-config.js'

/** Syncs wait until they are let go, in the order in which they began. */
class SlowSyncs {
  readonly begun: string[] = []
  atATime = 0
  most = 0
  readonly #open: (() => void)[] = []

  constructor(readonly disk: MemoryDisk) {
    disk.delays = ({ kind, path }) => {
      if (kind !== 'sync' && kind !== 'syncDirectory') return undefined
      this.begun.push(path)
      this.most = Math.max(this.most, ++this.atATime)
      const { passed, open } = gate()
      this.#open.push(open)
      return passed.then(() => void this.atATime--)
    }
  }

  get waiting(): number {
    return this.#open.length
  }

  async letOneGo(): Promise<void> {
    this.#open.shift()!()
    await settled()
  }

  /** Until nobody asks for one any more. */
  async letAllGo(): Promise<void> {
    for (await settled(); this.#open.length > 0; ) await this.letOneGo()
  }
}

diskContract('a paced disk', () => {
  const disk = new MemoryDisk()
  disk.makeDirectoryNow('/test')
  return { disk: new PacedDisk(disk), folder: '/test' }
})

describe('the syncs of a log directory', () => {
  const made = () => {
    const disk = new MemoryDisk()
    disk.makeDirectoryNow('/d')
    const paced = new PacedDisk(disk)
    const files = ['a', 'b', 'c', 'd'].map((name) => paced.openNow(`/d/${name}`, 'create'))
    return { disk, paced, files, slow: new SlowSyncs(disk) }
  }

  it('run two at a time, files and folders together, in the order in which they were asked for', async () => {
    const { paced, files, slow } = made()
    const [a, b, c, d] = files
    const all = [a!.dataSync(), paced.syncDirectory('/d'), b!.dataSync(), c!.dataSync(), paced.syncDirectory('/'), d!.dataSync()]
    assert.deepEqual(slow.begun, ['/d/a', '/d'])
    await slow.letOneGo()
    assert.deepEqual(slow.begun, ['/d/a', '/d', '/d/b'])
    await slow.letAllGo()
    await Promise.all(all)
    assert.deepEqual([slow.begun, slow.most], [['/d/a', '/d', '/d/b', '/d/c', '/', '/d/d'], 2])
  })

  it('say when they begin', async () => {
    const { files, slow } = made()
    const begun: string[] = []
    const all = files.map((file) => file.dataSync(() => begun.push(file.path)))
    assert.deepEqual(begun, ['/d/a', '/d/b'])
    await slow.letOneGo()
    assert.deepEqual(begun, ['/d/a', '/d/b', '/d/c'])
    await slow.letAllGo()
    await Promise.all(all)
  })

  it('fail with the one that failed: those that wait, and all later ones; the disk is not asked again', async () => {
    const { disk, paced, files, slow } = made()
    disk.faults = ({ kind, path }) => (kind === 'sync' && path === '/d/c' ? { fail: 'EIO' } : undefined)
    const all = files.map((file) => file.dataSync())
    const outcomes = Promise.allSettled([...all, paced.syncDirectory('/d')])
    await slow.letAllGo()
    const [a, b, c, d, folder] = (await outcomes).map((one) => (one.status === 'rejected' ? one.reason : 'durable'))
    assert.deepEqual([a, b], ['durable', 'durable'])
    assert.ok(c instanceof DiskError && c.code === 'EIO' && c.path === '/d/c')
    assert.deepEqual([d === c, folder === c], [true, true])
    const asked = disk.operations
    await assert.rejects(files[0]!.dataSync(), (error) => error === c)
    assert.equal(disk.operations, asked)
  })

  it('go on when the folder of one was deleted meanwhile', async () => {
    const { disk, paced, files, slow } = made()
    disk.faults = ({ kind }) => (kind === 'syncDirectory' ? { fail: 'ENOENT' } : undefined)
    await assert.rejects(paced.syncDirectory('/gone'), (error) => error instanceof DiskError && error.code === 'ENOENT')
    const synced = files[0]!.dataSync()
    await slow.letAllGo()
    await synced
  })
})

describe('many logs of one directory whose answers wait for the disk', () => {
  const config = { ...DEFAULT_TOPIC_CONFIG, 'flush.messages': 1 }
  const LOGS = 10
  const opened = async () => {
    const made = await harness({ config })
    const logs = [made.log]
    for (let partition = 1; partition < LOGS; partition++)
      logs.push(await made.directories.create({ ...PARTITION, partition }, null, config))
    // The first leaves an epoch and a name to be made durable.
    for (const log of logs) await produce(log, batch())
    return { ...made, logs, slow: new SlowSyncs(made.disk) }
  }

  it('sync two at a time; what is appended to a log that waits for its turn is durable with what was there', async () => {
    const { logs, slow, disk } = await opened()
    const answers: Promise<unknown>[] = logs.map((log) => produce(log, batch()))
    await settled()
    assert.equal(slow.atATime, 2)
    answers.push(...logs.map((log) => produce(log, batch())))
    await slow.letAllGo()
    await Promise.all(answers)
    assert.equal(slow.most, 2)
    // The two that had begun need another one for what came after.
    assert.equal(slow.begun.length, LOGS + 2)
    const again = await harness({ config, disk: disk.crash() })
    for (const log of again.directories.all()) assert.equal(log.logEndOffset, 3)
  })

  it('are refused when one sync fails, without another sync, and close', async () => {
    const { logs, slow, disk, directories } = await opened()
    const answers = logs.map((log) => produce(log, batch()))
    let syncs = 0
    await settled()
    disk.faults = ({ kind }) => (kind === 'sync' && ++syncs === 1 ? { fail: 'EIO' } : undefined)
    await slow.letAllGo()
    const outcomes = (await Promise.all(answers)).map((one) => (one.kind === 'refused' ? one.error : one.kind))
    // The two that were under way may be answered either way.
    assert.deepEqual(outcomes.slice(2), Array(LOGS - 2).fill('KAFKA_STORAGE_ERROR'))
    assert.equal(syncs, 1)
    await directories.close()
  })
})
