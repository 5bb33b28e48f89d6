import assert from 'node:assert/strict'
import { ManualTime } from '../testing.js'
import { KeyedTimers } from './timers.js'

describe('keyed timers', () => {
  it('fire once at their time, and only the last setting of a key', async () => {
    const time = new ManualTime()
    const timers = new KeyedTimers(time, time)
    const told: string[] = []
    const set = (key: string, ms: number, what: string) => timers.set(key, ms, (isDue) => told.push(`${what} ${isDue()}`))
    set('a', 100, 'first')
    set('a', 200, 'second')
    set('b', 150, 'other')
    set('c', 1, 'cancelled')
    timers.cancel('c')
    await time.advance(150)
    assert.deepEqual(told, ['other true'])
    await time.advance(50)
    assert.deepEqual(told, ['other true', 'second true'])
    assert.equal(timers.size, 0)
  })

  it('know that a firing came to nothing when the key was set again before it was asked', async () => {
    const time = new ManualTime()
    const timers = new KeyedTimers(time, time)
    let isDue = () => true
    timers.set('a', 100, (ask) => {
      isDue = ask
    })
    await time.advance(100)
    timers.set('a', 100, () => {})
    assert.equal(isDue(), false)
    timers.cancelAll()
    assert.equal(time.timerCount, 0)
  })

  it('wait a little more after the process stood still, so that what came in meanwhile is heard', async () => {
    const time = new ManualTime()
    let stoodStill = 0
    const timers = new KeyedTimers(time, { monotonic: () => time.monotonic() + stoodStill })
    const told: string[] = []
    timers.set('silent', 6000, (isDue) => told.push(`silent ${isDue()}`))
    timers.set('heard of', 6000, (isDue) => told.push(`heard of ${isDue()}`))
    stoodStill = 30_000
    await time.advance(6000)
    assert.equal(told.length, 0)
    timers.set('heard of', 6000, (isDue) => told.push(`heard of ${isDue()}`))
    await time.advance(1000)
    assert.deepEqual(told, ['silent true'])
    timers.cancelAll()
    assert.equal(time.timerCount, 0)
  })
})
