import assert from 'node:assert/strict'
import { endTransactionMarker } from '@mq/protocol'
import { names, open, put, reasonOf } from './directories.test.support.js'
import { appended, batch, type Harness, harness, PARTITION, produce } from './log.test.support.js'
import { type DiskOperation, MemoryDisk } from './memory-disk.js'
import { ManualTime } from './testing.js'
import { DEFAULT_TOPIC_CONFIG } from './topic-config.js'

const CONFIG = { ...DEFAULT_TOPIC_CONFIG, 'segment.bytes': 200, 'retention.bytes': 200 }

describe('an input/output error of one directory', () => {
  const kinds: DiskOperation['kind'][] = [
    'open',
    'read',
    'write',
    'truncate',
    'sync',
    'rename',
    'remove',
    'stat',
    'syncDirectory',
  ]
  for (const kind of kinds) {
    it(`in ${kind} takes it offline, throws at nobody, and leaves the other serving`, async () => {
      const disk = new MemoryDisk()
      const time = new ManualTime()
      const directories = await open(disk, time, { dirs: ['/a', '/b'], topicConfig: () => CONFIG, tailCacheBytes: 0 })
      const logs = []
      for (let partition = 0; partition < 2; partition++) {
        logs.push(await directories.create({ topic: 't', partition }, null, CONFIG))
      }
      const bad = logs.find((log) => log.directory === '/a')!
      const good = logs.find((log) => log.directory === '/b')!
      for (const log of logs) for (let at = 0; at < 6; at++) appended(await produce(log, batch()))
      for (const log of logs) log.updateHighWatermark(6)
      let failed = 0
      disk.faults = (operation) => {
        if (operation.kind !== kind || !operation.path.startsWith('/a')) return undefined
        failed++
        return { fail: 'EIO' }
      }
      for (const log of logs) {
        await produce(log, batch())
        await log.read(0, { maxBytes: 1, minOneMessage: true, upTo: 'logEnd' })
        await log.flush()
        await log.roll()
        await log.assignEpoch(1, log.logEndOffset)
      }
      await directories.applyRetention()
      for (const log of logs) await log.truncateTo(log.logEndOffset - 1)
      await directories.checkpointAll()
      assert.ok(failed > 0, 'it was met')
      assert.deepEqual([bad.isOffline, good.isOffline], [true, false])
      appended(await produce(good, batch(), 1))
      await directories.close()
      assert.equal(disk.statNow('/b/.kafka_cleanshutdown')?.kind, 'file')
    })
  }

  it('in the list of a start leaves the other serving', async () => {
    const disk = new MemoryDisk()
    const time = new ManualTime()
    await (await open(disk, time, { dirs: ['/a', '/b'] })).close()
    disk.faults = ({ kind, path }) => (kind === 'list' && path.startsWith('/a') ? { fail: 'EIO' } : undefined)
    const directories = await open(disk, time, { dirs: ['/a', '/b'] })
    assert.deepEqual(
      directories.directories.map(({ isOffline }) => isOffline),
      [true, false],
    )
    await directories.close()
  })
})

describe('a disk that takes its time', () => {
  it('for the sync of one partition holds up no other, and nothing but what waits for it', async () => {
    const disk = new MemoryDisk()
    const config = { ...DEFAULT_TOPIC_CONFIG, 'flush.messages': 1 }
    const directories = await open(disk, new ManualTime(), { topicConfig: () => config })
    const slow = await directories.create({ topic: 't', partition: 0 }, null, config)
    const fast = await directories.create({ topic: 't', partition: 1 }, null, config)
    appended(await produce(slow, batch()))
    let end = () => {}
    disk.delays = ({ kind, path }) =>
      kind === 'sync' && path.includes('t-0/') ? new Promise((resolve) => (end = resolve)) : undefined
    let answered = 0
    const answers = Array.from({ length: 20 }, () => produce(slow, batch()).then(() => answered++))
    for (let at = 0; at < 20; at++) appended(await produce(fast, batch()))
    assert.equal(answered, 0)
    const read = await slow.read(0, { maxBytes: 1, minOneMessage: true, upTo: 'logEnd' })
    assert.equal(read.kind, 'read')
    disk.delays = () => undefined
    end()
    await Promise.all(answers)
    assert.deepEqual([answered, slow.logEndOffset], [20, 21])
    await directories.close()
  })
})

describe('a flipped bit', () => {
  const flipped = (bytes: Buffer, at: number): Buffer => {
    const copy = Buffer.from(bytes)
    copy[at]! ^= 1 << (at % 8)
    return copy
  }

  const withAborted = async (): Promise<Harness> => {
    const made = await harness()
    appended(
      await produce(
        made.log,
        batch({ producerId: 4, producerEpoch: 0, baseSequence: 0, transactional: true, values: ['hidden'] }),
      ),
    )
    const marker = { producerId: 4, producerEpoch: 0, commit: false, coordinatorEpoch: 0, timestamp: 1 }
    await made.log.append(endTransactionMarker(marker), { origin: 'coordinator', leaderEpoch: 0 })
    await made.log.roll()
    appended(await produce(made.log, batch({ values: ['seen'] })))
    await made.directories.close()
    return made
  }

  it('in the head of a transaction index is noticed, and what was aborted stays hidden', async () => {
    const path = '/data/t-0/00000000000000000000.txnindex'
    const whole = (await withAborted()).disk.readFileNow(path)
    // Version, and the upper bytes of the offsets: the rest says another transaction, which no checksum guards, in Kafka neither.
    for (const at of [0, 1, 10, 18]) {
      const made = await withAborted()
      put(made.disk, path, flipped(whole, at))
      const log = await made.reopen()
      assert.deepEqual(log.abortedTransactions(0, 3), [{ producerId: 4, firstOffset: 0 }], `byte ${at}`)
      await made.directories.close()
    }
  })

  it('in meta.properties is another owner or nonsense: the start is refused, nothing is changed', async () => {
    const made = await withAborted()
    const whole = made.disk.readFileNow('/data/meta.properties')
    const text = whole.toString()
    for (const field of ['broker.id=1', 'version=0', 'cluster.id=cluster']) {
      const at = text.indexOf(field) + field.length - 1
      put(made.disk, '/data/meta.properties', flipped(whole, at))
      const before = names(made.disk, '/data')
      assert.match(await reasonOf(open(made.disk, made.time)), /^(not-ours|malformed)$/, field)
      assert.deepEqual(names(made.disk, '/data'), before)
    }
  })

  it('in partition.metadata never stops a start', async () => {
    const path = '/data/t-0/partition.metadata'
    const whole = (await withAborted()).disk.readFileNow(path)
    for (let at = 0; at < whole.length; at += 3) {
      const made = await withAborted()
      put(made.disk, path, flipped(whole, at))
      await made.reopen()
      assert.equal(made.directories.get(PARTITION)!.logEndOffset, 3)
      await made.directories.close()
    }
  })
})
