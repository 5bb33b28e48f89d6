/** The cleaner on a log in memory: what stays, where it stops, and what becomes of logs that it cannot clean. */
import assert from 'node:assert/strict'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { readOffsets } from './checkpoint.js'
import { Cleaner } from './cleaner.js'
import { type CompactedHarness, clean, compacted, end, put, stored } from './cleaner.test.support.js'
import { DEFAULT_CLEANER_CONFIG } from './cleaner-config.js'
import type { PartitionLog } from './log.js'
import { appended, batch, type HarnessOptions, PARTITION } from './log.test.support.js'
import type { CleanSettings } from './log-compaction.js'
import { InlineOffload } from './offload.js'
import { SILENT } from './ports.js'
import { ManualTime, ManualTurn, seededRandom } from './testing.js'

const DAY = 86_400_000

/** A millisecond passes from one look at the clock to the next. */
class HurriedTime extends ManualTime {
  #looks = 0

  override monotonic(): number {
    return super.monotonic() + this.#looks++
  }
}

describe('a compacted log', () => {
  it('keeps the last value of each key, with its offset', async () => {
    const made = await compacted()
    await put(made, 'a=1 b=1 c=1')
    await put(made, 'a=2 b=2')
    await made.log.roll()
    await put(made, 'a=3')
    assert.equal(await clean(made), 1)
    assert.deepEqual(await stored(made.log), ['2:c=1', '3:a=2', '4:b=2', '5:a=3'])
    assert.equal(made.log.logStartOffset, 0)
    assert.equal(await clean(made), 0)
  })

  it('serves the same after a restart, and cleans on from where it was', async () => {
    const made = await compacted()
    await put(made, 'a=1 b=1')
    await put(made, 'a=2')
    await made.log.roll()
    await put(made, 'a=3')
    assert.equal(await clean(made), 1)
    await made.directories.close()
    assert.equal(made.disk.readFileNow('/data/cleaner-offset-checkpoint').toString(), '0\n1\nt 0 3\n')
    await made.reopen()
    made.log.updateHighWatermark(made.log.logEndOffset)
    assert.deepEqual(await stored(made.log), ['1:b=1', '2:a=2', '3:a=3'])
    await made.log.roll()
    await put(made, 'c=1')
    assert.equal(await clean(made), 1)
    assert.deepEqual(await stored(made.log), ['1:b=1', '3:a=3', '4:c=1'])
  })

  it('makes one segment of several small ones, and tells of them no more', async () => {
    const made = await compacted()
    for (let round = 0; round < 5; round++) {
      await put(made, `a=${round} k${round}=1`)
      await made.log.roll()
    }
    await put(made, 'z=1')
    assert.equal(made.log.segmentViews().length, 6)
    assert.equal(await clean(made), 1)
    assert.deepEqual(
      made.log.segmentViews().map(({ baseOffset }) => baseOffset),
      [0, 10],
    )
    const names = made.disk.listNow('/data/t-0').map(({ name }) => name)
    assert.deepEqual(
      names.filter((name) => name.endsWith('.log') || name.endsWith('.snapshot')),
      ['00000000000000000000.log', '00000000000000000010.log', '00000000000000000010.snapshot'],
    )
    assert.deepEqual(await stored(made.log), ['1:k0=1', '3:k1=1', '5:k2=1', '7:k3=1', '8:a=4', '9:k4=1', '10:z=1'])
    made.time.advance(made.log.config['file.delete.delay.ms'])
    const left = () => made.disk.listNow('/data/t-0').filter(({ name }) => /deleted|swap|cleaned/.test(name))
    for (let turns = 0; turns < 50 && left().length > 0; turns++) await new Promise((resume) => setImmediate(resume))
    assert.deepEqual(left(), [])
  })

  it('lets a tombstone stay for delete.retention.ms after it was cleaned first, then it goes', async () => {
    const made = await compacted({ config: { 'delete.retention.ms': DAY } })
    await put(made, 'a=1 b=1')
    await put(made, 'a')
    await made.log.roll()
    await put(made, 'x=1')
    await clean(made)
    assert.deepEqual(await stored(made.log), ['1:b=1', '2:a', '3:x=1'])
    const next = async () => {
      await made.log.roll()
      await put(made, 'x=2')
      await clean(made)
    }
    made.time.advance(DAY - 1)
    await next()
    assert.deepEqual(await stored(made.log), ['1:b=1', '2:a', '3:x=1', '4:x=2'])
    made.time.advance(1)
    await next()
    assert.deepEqual(await stored(made.log), ['1:b=1', '4:x=2', '5:x=2'])
  })

  it('drops records of aborted transactions, and their marker once its time is up', async () => {
    const made = await compacted({ config: { 'delete.retention.ms': DAY } })
    const { log } = made
    const of = { producerId: 9, producerEpoch: 0, transactional: true }
    await put(made, 'a=1')
    await put(made, 'a=lost b=lost', { ...of, baseSequence: 0 })
    await end(made, 9, 'abort')
    await put(made, 'c=1', { ...of, baseSequence: 2 })
    await end(made, 9, 'commit')
    await log.roll()
    await put(made, 'x=1')
    await clean(made)
    assert.deepEqual(await stored(log), ['0:a=1', '3:ABORT', '4:c=1', '5:COMMIT', '6:x=1'])
    assert.deepEqual(log.abortedTransactions(0, 10), [{ producerId: 9, firstOffset: 1 }])
    for (let round = 2; round < 4; round++) {
      await log.roll()
      await put(made, `x=${round}`)
      await clean(made)
      made.time.advance(DAY)
    }
    assert.deepEqual(log.abortedTransactions(0, 10), [])
    await log.roll()
    await put(made, 'x=4')
    await clean(made)
    assert.deepEqual(await stored(log), ['0:a=1', '4:c=1', '5:COMMIT', '8:x=3', '9:x=4'])
  })

  it('does not take a later transaction of a producer for the aborted one', async () => {
    const made = await compacted()
    const of = { producerId: 9, producerEpoch: 0, transactional: true }
    await put(made, 'a=lost', { ...of, baseSequence: 0 })
    await end(made, 9, 'abort')
    await put(made, 'a=1')
    await made.log.roll()
    await put(made, 'b=1')
    assert.equal(await clean(made), 1)
    await put(made, 'a=2', { ...of, baseSequence: 1 })
    await end(made, 9, 'commit')
    await made.log.roll()
    await put(made, 'c=1')
    assert.equal(await clean(made), 1)
    assert.deepEqual(await stored(made.log), ['1:ABORT', '3:b=1', '4:a=2', '5:COMMIT', '6:c=1'])
  })

  it('keeps the last batch of a producer that may write again, without its records', async () => {
    const made = await compacted()
    await put(made, 'a=1 b=1', { producerId: 5, producerEpoch: 1, baseSequence: 0 })
    await put(made, 'a=2 b=2')
    await made.log.roll()
    await put(made, 'x=1')
    await clean(made)
    assert.deepEqual(await stored(made.log), ['0-1:', '2:a=2', '3:b=2', '4:x=1'])
    await made.directories.abandon()
    for (const { name } of made.disk.listNow('/data/t-0'))
      if (name.endsWith('.snapshot')) made.disk.removeNow(`/data/t-0/${name}`)
    await made.reopen()
    await put(made, 'a=3', { producerId: 5, producerEpoch: 1, baseSequence: 2 })
  })

  it('never cleans past the high watermark (KAFKA-13194)', async () => {
    const made = await compacted()
    await put(made, 'a=1 b=1')
    await made.log.roll()
    await put(made, 'a=2')
    await made.log.roll()
    await put(made, 'a=3')
    made.log.updateHighWatermark(1)
    assert.equal(await clean(made), 0)
    made.log.updateHighWatermark(2)
    assert.equal(await clean(made), 1)
    await made.log.truncateTo(2)
    assert.deepEqual(await stored(made.log), ['0:a=1', '1:b=1'])
  })

  it('never cleans past the first open transaction', async () => {
    const made = await compacted()
    await put(made, 'a=1')
    await made.log.roll()
    await put(made, 'a=2', { producerId: 1, producerEpoch: 0, baseSequence: 0, transactional: true })
    await made.log.roll()
    await put(made, 'a=3')
    assert.equal(await clean(made), 1)
    assert.deepEqual(await stored(made.log), ['0:a=1', '1:a=2', '2:a=3'])
  })

  it('has nothing to clean when its start lies in the active segment (KAFKA-9133, KAFKA-8764)', async () => {
    const made = await compacted({ config: { 'cleanup.policy': ['compact', 'delete'], 'retention.ms': -1 } })
    await put(made, 'a=1 b=1')
    await made.log.roll()
    await put(made, 'a=2 b=2 c=2')
    await made.log.deleteRecordsBefore(4)
    for (let round = 0; round < 3; round++) {
      assert.equal(await clean(made), 0)
      assert.equal(await made.directories.applyRetention(), 0)
      assert.deepEqual(
        made.log.segmentViews().map(({ baseOffset }) => baseOffset),
        [2],
      )
    }
    assert.deepEqual(await stored(made.log), ['4:c=2'])
    assert.equal(made.log.isOffline, false)
  })

  it('never has more than 2^31-1 offsets in a segment (KAFKA-6264)', async () => {
    const made = await compacted()
    const far = 2 ** 31 + 10
    await put(made, 'a=1 b=1')
    await made.log.roll()
    const leaders = batch({ keys: ['b'], values: ['2'], baseOffset: far, leaderEpoch: 0, timestamp: made.time.now() })
    appended(await made.log.append(leaders, { origin: 'replication', leaderEpoch: 0 }))
    await made.log.roll()
    await put(made, 'c=1')
    assert.equal(await clean(made), 1)
    assert.equal(made.log.segmentViews().length, 3)
    assert.deepEqual(await stored(made.log), ['0:a=1', `${far}:b=2`, `${far + 1}:c=1`])
    await made.directories.close()
    await made.reopen()
    assert.deepEqual(await stored(made.log), ['0:a=1', `${far}:b=2`, `${far + 1}:c=1`])
  })

  it('takes an empty value for a value, and none for a tombstone', async () => {
    const made = await compacted({ config: { 'delete.retention.ms': 0 } })
    await put(made, 'k1=1 k2=1')
    await put(made, 'k1 k2=')
    for (let round = 0; round < 2; round++) {
      await made.log.roll()
      await put(made, 'x=1')
      await clean(made)
    }
    assert.deepEqual(await stored(made.log), ['3:k2=', '4:x=1', '5:x=1'])
  })

  it('drops records without a key', async () => {
    const made = await compacted()
    appended(
      await made.log.append(batch({ keys: [null, 'a'], values: ['1', '1'], baseOffset: 0 }), {
        origin: 'replication',
        leaderEpoch: 0,
      }),
    )
    await made.log.roll()
    await put(made, 'x=1')
    await clean(made)
    assert.deepEqual(await stored(made.log), ['1:a=1', '2:x=1'])
  })

  it('waits for min.compaction.lag.ms, and longer than max.compaction.lag.ms for nothing', async () => {
    const made = await compacted({
      config: { 'min.compaction.lag.ms': DAY, 'min.cleanable.dirty.ratio': 1, 'max.compaction.lag.ms': 2 * DAY },
    })
    await put(made, 'a=1')
    await put(made, 'a=2')
    await made.log.roll()
    await put(made, 'x=1')
    made.time.advance(2 * DAY)
    assert.equal(await clean(made), 0)
    made.time.advance(1)
    assert.equal(await clean(made), 1)
    assert.deepEqual(await stored(made.log), ['1:a=2', '2:x=1'])
  })

  it('with cleanup.policy=compact,delete loses old segments as well, in the same pass', async () => {
    const made = await compacted({ config: { 'cleanup.policy': ['compact', 'delete'], 'retention.ms': DAY } })
    await put(made, 'a=1 b=1')
    await put(made, 'a=2')
    await made.log.roll()
    await put(made, 'c=1')
    assert.equal(await clean(made), 1)
    assert.deepEqual(await stored(made.log), ['1:b=1', '2:a=2', '3:c=1'])
    made.time.advance(DAY / 2)
    await made.log.roll()
    await put(made, 'd=1')
    made.time.advance(DAY / 2 + 1)
    await clean(made)
    assert.equal(made.log.logStartOffset, 4)
    assert.deepEqual(await stored(made.log), ['4:d=1'])
    assert.equal(await clean(made), 0)
    assert.deepEqual(made.said, [])
  })

  it('is cleaned by itself, at most two at a time, again after log.cleaner.backoff.ms', async () => {
    const made = await dirty({ config: { 'log.cleaner.threads': 5, 'log.cleaner.backoff.ms': 1000 } })
    const cleaner = made.directories.cleaner!
    made.directories.startCleaner()
    assert.equal(made.time.pendingTimers >= 2, true)
    const until = async (count: number, stepMs: number) => {
      for (let turns = 0; cleaner.cleanings < count && turns < 1000; turns++) {
        made.time.advance(stepMs)
        await new Promise((resume) => setImmediate(resume))
      }
      assert.equal(cleaner.cleanings, count)
    }
    await until(1, 0)
    await made.log.roll()
    await put(made, 'a=9')
    for (let turns = 0; turns < 50; turns++) await new Promise((resume) => setImmediate(resume))
    assert.equal(cleaner.cleanings, 1, 'it rests')
    await until(2, 1000)
    await made.directories.close()
    assert.equal(made.time.pendingTimers, 0)
  })

  it('lets others have their turn after each chunk, where it is cleaned on the loop', async () => {
    const turn = new ManualTurn()
    const made = await compacted({ directories: { offload: (disk, time) => new InlineOffload(disk, { ...time, turn }) } })
    for (let round = 0; round < 5; round++) {
      await put(made, `a=${round}`)
      await made.log.roll()
    }
    const cleaning = clean(made)
    let isDone = false
    let turns = 0
    void cleaning.then(() => {
      isDone = true
    })
    for (; !isDone; turns++) {
      await new Promise((resume) => setImmediate(resume))
      turn.end()
    }
    assert.ok(turns > 10, `${turns} turns for five segments that are read twice`)
    assert.deepEqual(await stored(made.log), ['4:a=4'])
  })

  it('lies below the recovery point on the disk before a cleaned segment takes the place of others', async () => {
    const made = await dirty()
    const recoveryPoints: (number | undefined)[] = []
    made.disk.faults = ({ kind, path }) => {
      if (kind !== 'rename' || !path.endsWith('.log.cleaned')) return undefined
      const read = readOffsets(made.disk.readFileNow('/data/recovery-point-offset-checkpoint'))
      recoveryPoints.push(read instanceof Map ? read.get('t-0') : undefined)
      return undefined
    }
    assert.equal(await clean(made), 1)
    assert.deepEqual(recoveryPoints, [3])
  })

  it('lets others have their turn in a walk over many', async () => {
    let given = 0
    const turn = {
      afterThisTurn(run: () => void) {
        given++
        setImmediate(run)
      },
    }
    const made = await compacted({ time: new HurriedTime(), turn })
    for (let partition = 1; partition < 30; partition++)
      await made.directories.create({ topic: 't', partition }, null, made.log.config)
    given = 0
    assert.equal(await clean(made), 0)
    assert.ok(given >= 6, `${given} turns for a look at thirty logs, and one more for what they keep`)
  })

  it('is not cleaned by what was true before it was cut', async () => {
    const made = await dirty()
    const settings: CleanSettings = {
      map: { memoryBytes: 2400, loadFactor: 1, seed: 1 },
      chunkBytes: 1000,
      bytesPerSecond: Number.MAX_VALUE,
      checkpointRecoveryPoints: async () => {},
    }
    const cut = made.log.truncateTo(1)
    assert.deepEqual(await made.log.compaction.clean(settings), { kind: 'given up' })
    await cut
    assert.deepEqual(await made.log.compaction.clean(settings), { kind: 'given up' })
    assert.deepEqual(await stored(made.log), ['0:a=1'])
  })

  it('reads on while it is cleaned, and finds times and offsets afterwards', async () => {
    const made = await compacted({ directories: { tailCacheBytes: 0 } })
    for (let round = 0; round < 20; round++) await put(made, `a=${round} k${round}=1`, { timestamp: 1000 + round })
    await made.log.roll()
    await put(made, 'z=1', { timestamp: 5000 })
    const cleaning = clean(made)
    const reading = stored(made.log)
    await cleaning
    assert.ok((await reading).includes('39:k19=1'))
    const found = await made.log.offsetForTimestamp(1010)
    assert.ok(found !== null && 'offset' in found)
    assert.deepEqual([found.offset, found.timestamp], [21, 1010])
  })

  it('is not cleaned while its topic is held', async () => {
    const made = await dirty()
    made.directories.holdRetention('t')
    assert.equal(await clean(made), 0)
    made.directories.releaseRetention('t')
    assert.equal(await clean(made), 1)
  })

  it('is set aside when a batch is damaged, with one word about where; others go on', async () => {
    const made = await dirty()
    const other = await made.directories.create({ topic: 'o', partition: 0 }, null, made.log.config)
    const { log } = made
    Object.assign(made, { log: other })
    await put(made, 'a=1')
    await put(made, 'a=2')
    await other.roll()
    const path = '/data/t-0/00000000000000000000.log'
    const file = made.disk.openNow(path, 'readWrite')
    const size = file.sizeNow()
    file.writevNow([Buffer.from('!')], size - 2)
    assert.equal(await clean(made), 1)
    assert.equal(await clean(made), 0)
    assert.deepEqual(await stored(other), ['1:a=2'])
    assert.equal(made.said.length, 1)
    assert.match(made.said[0]!.text, /^t-0 is not compacted any more: the CRC does not match$/)
    const [aside] = made.directories.cleaner!.uncleanable
    const { partition, directory, segment, position, problem } = aside!
    assert.deepEqual(
      { partition, directory, segment, problem },
      { partition: PARTITION, directory: '/data', segment: 0, problem: 'the CRC does not match' },
    )
    assert.ok(position! > 0 && position! < size)
    assert.equal(log.isOffline, false)
    await made.directories.delete(PARTITION)
    assert.deepEqual(made.directories.cleaner!.uncleanable, [])
  })

  it('makes durable what says that a transaction was committed before it takes away what that replaced', async () => {
    const made = await compacted()
    await put(made, 'a=1')
    await put(made, 'a=2', { producerId: 3, producerEpoch: 0, baseSequence: 0, transactional: true })
    await made.log.roll()
    await end(made, 3, 'commit')
    await put(made, 'b=1')
    assert.equal(await clean(made), 1)
    assert.deepEqual(await stored(made.log), ['1:a=2', '2:COMMIT', '3:b=1'])
    const again = await compacted({ disk: made.disk.crash(), time: made.time })
    assert.deepEqual((await stored(again.log)).slice(0, 2), ['1:a=2', '2:COMMIT'])
  })

  it('is forgotten with its log, though nobody asks which are set aside', async () => {
    let logs: PartitionLog[] = []
    const cleaner = cleanerOf(() => logs)
    const aside = async () => {
      const made = await dirty()
      const file = made.disk.openNow('/data/t-0/00000000000000000000.log', 'readWrite')
      file.writevNow([Buffer.from('!')], file.sizeNow() - 2)
      logs = [made.log]
      await cleaner.runOnce()
      assert.equal(cleaner.uncleanable.length, 1)
      await made.directories.close()
      return new WeakRef(made.log)
    }
    const log = await aside()
    logs = []
    await new Promise((resume) => setImmediate(resume))
    collectGarbage()
    assert.equal(log.deref(), undefined)
  })

  it('is not begun any more once the cleaner is closed, whenever that is', async () => {
    for (let turns = 0; turns < 40; turns++) {
      const made = await dirty()
      const cleaner = cleanerOf(() => [made.log])
      const pass = cleaner.runOnce()
      for (let turn = 0; turn < turns; turn++) await Promise.resolve()
      await cleaner.close()
      const segment = made.disk.statNow('/data/t-0/00000000000000000000.log')!.sizeInBytes
      await pass
      const after = made.disk.statNow('/data/t-0/00000000000000000000.log')!.sizeInBytes
      assert.equal(after, segment, `closed after ${turns} turns`)
    }
  })

  it('takes its directory offline when the disk fails', async () => {
    const made = await dirty()
    made.disk.faults = ({ kind, path }) => (kind === 'write' && path.endsWith('.cleaned') ? { fail: 'EIO' } : undefined)
    assert.equal(await clean(made), 0)
    assert.equal(made.log.isOffline, true)
  })

  it('is not cleaned when log.cleaner.enable is off', async () => {
    const made = await compacted({ directories: { config: { 'log.cleaner.enable': false } } })
    assert.equal(made.directories.cleaner, null)
  })
})

const collectGarbage = (): void => {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
}

/** Of these logs alone. */
function cleanerOf(logs: () => Iterable<PartitionLog>): Cleaner {
  const time = new ManualTime()
  return new Cleaner({
    config: DEFAULT_CLEANER_CONFIG,
    logs,
    isHeld: () => false,
    checkpointRecoveryPoints: async () => {},
    clock: time,
    timers: time,
    random: seededRandom(1),
    logger: SILENT,
  })
}

async function dirty(directories: HarnessOptions['directories'] = {}): Promise<CompactedHarness> {
  const made = await compacted({ directories })
  await put(made, 'a=1')
  await put(made, 'a=2 b=1')
  await made.log.roll()
  await put(made, 'a=3')
  return made
}
