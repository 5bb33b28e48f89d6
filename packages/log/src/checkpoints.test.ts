import assert from 'node:assert/strict'
import { appended, batch, harness, produce } from './log.test.support.js'

describe('checkpoints of a directory', () => {
  it('are written one after the other: a periodic one at the time of a stop takes nothing offline', async () => {
    const made = await harness()
    appended(await produce(made.log, batch()))
    made.log.updateHighWatermark(1)
    await made.log.flush()
    // As when the timer fires while the broker closes.
    await Promise.all([made.directories.checkpointAll(), made.directories.checkpointAll(), made.directories.close()])
    assert.equal(made.directories.directories[0]?.isOffline, false)
    await made.reopen()
    assert.equal(made.directories.wasCleanShutdown('/data'), true)
  })
})
