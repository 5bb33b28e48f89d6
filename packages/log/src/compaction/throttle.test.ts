/** The rate of the cleaner. */
import assert from 'node:assert/strict'
import { ManualTime } from '../testing.js'
import { Throttle } from './throttle.js'

const turns = async () => {
  for (let count = 0; count < 10; count++) await Promise.resolve()
}

describe('a throttle', () => {
  it('lets as many bytes through in a second as it should, and no pause longer than it must be', async () => {
    const time = new ManualTime()
    const throttle = new Throttle(1000, time, time)
    let moved = 0
    let done = false
    const work = (async () => {
      for (; moved < 10_000; moved += 500) await throttle.moved(500, () => false)
      done = true
    })()
    for (let ms = 0; !done; ms += 10) {
      await turns()
      assert.ok(moved <= ms + 1000, `${moved} bytes in ${ms} ms`)
      assert.ok(moved >= ms - 1000, `${moved} bytes in ${ms} ms`)
      time.advance(10)
    }
    await work
  })

  it('never waits without a limit', async () => {
    const time = new ManualTime()
    const throttle = new Throttle(Number.MAX_VALUE, time, time)
    for (let count = 0; count < 100; count++) await throttle.moved(1 << 30, () => false)
    assert.equal(time.pendingTimers, 0)
  })

  it('ends a long rest when nobody waits for the work any more', async () => {
    const time = new ManualTime()
    const throttle = new Throttle(1, time, time)
    let cancelled = false
    let done = false
    void throttle
      .moved(1_000_000, () => cancelled)
      .then(() => {
        done = true
      })
    for (let count = 0; count < 5; count++) {
      await turns()
      time.advance(1000)
    }
    assert.equal(done, false)
    cancelled = true
    await turns()
    time.advance(300)
    await turns()
    assert.equal(done, true)
    assert.equal(time.pendingTimers, 0)
  })
})
