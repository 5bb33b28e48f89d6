import assert from 'node:assert/strict'
import { clean, compacted, put } from './cleaner.test.support.js'
import { valuesOf } from './directories.test.support.js'
import { unlockDirectory } from './directory-lock.js'
import { appended, batch, type Harness, harness, produce } from './log.test.support.js'

describe('a start on what a killed process had not synced', () => {
  for (const [flushMessages, kept] of [
    [1, 2],
    [Number.MAX_SAFE_INTEGER, 0],
  ] as const) {
    it(`makes it durable before it can be read when flush.messages=${flushMessages}`, async () => {
      const { disk, log } = await harness()
      disk.syncAll()
      await produce(log, batch({ values: ['a', 'b'] }))
      // The process is gone, what it wrote is not.
      unlockDirectory(disk, '/data')
      const { directories } = await harness({ disk, config: { 'flush.messages': flushMessages } })
      assert.equal(directories.get(log.topicPartition)?.logEndOffset, 2)
      // The machine stops now.
      const after = await harness({ disk: disk.crash() })
      assert.equal(after.log.logEndOffset, kept)
    })
  }
})

describe('a log that was cut where its records have a gap, and rolled', () => {
  /** The process is killed before the roll is on the disk; what it wrote is there. */
  const killed = async ({ disk, time }: Harness) => {
    const left = disk.crash(
      ({ sizeInBytes }) => sizeInBytes,
      () => true,
    )
    return harness({ disk: left, time, config: { 'cleanup.policy': ['delete'] } })
  }
  const writeBehind = async ({ disk, log }: Harness) => {
    disk.delays = ({ kind }) => (kind === 'sync' || kind === 'syncDirectory' ? new Promise(() => {}) : undefined)
    void log.roll()
    appended(await produce(log, batch({ values: ['behind'] })))
  }

  it('in the middle of a batch: a start finds the records behind it', async () => {
    const made = await harness()
    appended(await produce(made.log, batch({ values: ['a', 'b'] })))
    appended(await produce(made.log, batch({ values: ['c', 'd', 'e', 'f'] })))
    await made.log.truncateTo(4)
    await writeBehind(made)
    const again = await killed(made)
    assert.deepEqual(await valuesOf(again), ['a', 'b', 'behind'])
    assert.deepEqual([again.log.cut, again.log.logEndOffset], [null, 5])
  })

  it('where compaction had taken records, once it is no longer compacted: a start finds the records behind it', async () => {
    const made = await compacted()
    for (const pair of ['a=1', 'b=1', 'b=2', 'b=3']) await put(made, pair)
    await made.log.roll()
    for (const pair of ['b=4', 'b=5']) await put(made, pair)
    await made.log.roll()
    await put(made, 'c=1')
    assert.ok((await clean(made)) > 0)
    await made.log.truncateTo(3)
    await writeBehind(made)
    const again = await killed(made)
    assert.deepEqual(await valuesOf(again), ['1', 'behind'])
    assert.deepEqual([again.log.cut, again.log.logEndOffset], [null, 4])
  })
})
