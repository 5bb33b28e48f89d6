import assert from 'node:assert/strict'
import { unlockDirectory } from './directory-lock.js'
import { batch, harness, produce } from './log.test.support.js'

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
