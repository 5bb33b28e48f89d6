/** Stops that the crash simulator found and that went wrong once: each as small as it can be told. */
import assert from 'node:assert/strict'
import { endTransactionMarker } from '@mq/protocol'
import { readOffsets } from './checkpoint.js'
import { clean, compacted, end, put, stored } from './cleaner.test.support.js'
import { appended, batch, type Harness, harness, produce, settled } from './log.test.support.js'
import type { MemoryDisk } from './memory-disk.js'

/** What a kill of the process leaves: everything that was written. */
const killed = (disk: MemoryDisk): MemoryDisk =>
  disk.afterCrash(
    ({ sizeInBytes }) => sizeInBytes,
    () => true,
  )

const openTransaction = async ({ log }: Harness) =>
  appended(await produce(log, batch({ producerId: 1, producerEpoch: 0, baseSequence: 0, transactional: true })))

const abortIt = async ({ log, time }: Harness) => {
  const marker = { producerId: 1, producerEpoch: 0, commit: false, coordinatorEpoch: 0, timestamp: time.now() }
  appended(await log.append(endTransactionMarker(marker), { origin: 'coordinator', leaderEpoch: 0 }))
}

const add = async (made: Harness, value: string) => appended(await produce(made.log, batch({ values: [value] })))

describe('a start after a stop', () => {
  it('gives no offset out again whose record was compacted away, when the segment behind it was cut to nothing', async () => {
    const made = await compacted()
    await put(made, 'a=1')
    await put(made, 'b=1', { producerId: 1, producerEpoch: 0, baseSequence: 0, transactional: true })
    await made.log.roll()
    await end(made, 1, 'abort')
    await put(made, 'c=1', { producerId: 1, producerEpoch: 0, baseSequence: 1 })
    assert.equal(await clean(made), 1)
    assert.deepEqual(await stored(made.log), ['0:a=1', '2:ABORT', '3:c=1'])
    await made.log.truncateTo(2)
    const again = await compacted({ disk: made.disk.crash() })
    assert.deepEqual(await stored(again.log), ['0:a=1'])
    assert.equal(again.log.logEndOffset, 2)
  })

  it('has the value that took the place of a cleaned one as decided as it was, when its marker lay behind what was cleaned', async () => {
    const made = await compacted()
    await put(made, 'a=old')
    await put(made, 'a=new', { producerId: 1, producerEpoch: 0, baseSequence: 0, transactional: true })
    await made.log.roll()
    await end(made, 1, 'commit')
    assert.equal(await clean(made), 1)
    const again = await compacted({ disk: made.disk.crash() })
    assert.deepEqual(await stored(again.log), ['1:a=new', '2:COMMIT'])
  })

  it('takes no transaction for open whose end went with the oldest segments', async () => {
    const made = await harness()
    await openTransaction(made)
    await made.directories.close()
    await made.reopen()
    await abortIt(made)
    await made.log.roll()
    await add(made, 'a')
    made.log.updateHighWatermark(3)
    await made.log.deleteRecordsBefore(2)
    assert.equal(await made.log.applyRetention(), 1)
    const disk = killed(made.disk)
    assert.notEqual(disk.statNow('/data/t-0/00000000000000000001.snapshot'), null)
    disk.removeNow('/data/t-0/00000000000000000002.snapshot')
    const { log } = await harness({ disk })
    log.updateHighWatermark(3)
    assert.deepEqual([log.logStartOffset, log.lastStableOffset], [2, 3])
  })

  it('names no transaction as aborted whose records are gone, when the power went after a clean stop', async () => {
    const made = await harness()
    await openTransaction(made)
    await abortIt(made)
    await made.directories.close()
    await made.reopen()
    await made.log.truncateTo(0)
    await made.directories.close()
    const { log } = await harness({ disk: made.disk.crash() })
    assert.equal(log.logEndOffset, 0)
    assert.deepEqual(log.abortedTransactions(0, 10), [])
  })

  it('says no more of a log that was killed in a truncation than is there', async () => {
    const made = await harness()
    for (const value of ['a', 'b', 'c', 'd']) {
      await add(made, value)
      await made.log.roll()
    }
    await made.log.flush()
    await made.directories.checkpointAll()
    const trusted = (disk: MemoryDisk) => {
      const read = readOffsets(disk.readFileNow('/data/recovery-point-offset-checkpoint'))
      return 'problem' in read ? Number.NaN : (read as ReadonlyMap<string, number>).get('t-0')
    }
    assert.equal(trusted(made.disk), 4)
    made.disk.delays = () => new Promise(() => {})
    void made.log.truncateTo(1)
    await settled()
    const disk = killed(made.disk)
    assert.equal(trusted(disk), 4)
    const again = await harness({ disk })
    assert.equal(again.log.logEndOffset, 2)
    assert.equal(trusted(disk), 1)
  })
})
