/** Requests that wait, under a clock that the test moves. */
import assert from 'node:assert/strict'
import { type Delayed, Purgatory } from './purgatory.js'
import { FakeTimers } from './testing.js'

class Request implements Delayed {
  readonly told: string[] = []
  ready = false
  tryComplete(): boolean {
    if (this.ready) this.told.push('completed')
    return this.ready
  }
  giveUp(why: string): void {
    this.told.push(why)
  }
}

describe('a purgatory', () => {
  const key = {}
  let timers: FakeTimers
  let purgatory: Purgatory
  beforeEach(() => {
    timers = new FakeTimers()
    purgatory = new Purgatory({ timers, limit: 3 })
  })

  it('answers at once what can be answered', () => {
    const request = new Request()
    request.ready = true
    purgatory.add(request, [key], 500)
    assert.deepEqual(request.told, ['completed'])
    assert.equal(purgatory.size, 0)
    assert.equal(timers.pending, 0)
  })

  it('does not wait when it may not', () => {
    const request = new Request()
    purgatory.add(request, [key], 0)
    assert.deepEqual(request.told, ['expired'])
  })

  it('answers when its key is touched, and only then', () => {
    const request = new Request()
    purgatory.add(request, [key, {}], 500)
    purgatory.touch({})
    purgatory.touch(key)
    assert.deepEqual(request.told, [])
    request.ready = true
    purgatory.touch({})
    assert.deepEqual(request.told, [])
    purgatory.touch(key)
    purgatory.touch(key)
    timers.advance(1000)
    assert.deepEqual(request.told, ['completed'])
    assert.equal(timers.pending, 0)
  })

  it('gives up at the deadline, once', () => {
    const request = new Request()
    purgatory.add(request, [key], 500)
    timers.advance(499)
    assert.deepEqual(request.told, [])
    timers.advance(1)
    request.ready = true
    purgatory.touch(key)
    assert.deepEqual(request.told, ['expired'])
    assert.equal(purgatory.size, 0)
  })

  it('forgets a request whose client is gone, unanswered', () => {
    const request = new Request()
    const forget = purgatory.add(request, [key], 500)
    forget()
    request.ready = true
    purgatory.touch(key)
    timers.advance(1000)
    assert.deepEqual(request.told, [])
    assert.equal(purgatory.size, 0)
    assert.equal(timers.pending, 0)
  })

  it('answers one more than its limit at once', () => {
    const requests = [new Request(), new Request(), new Request(), new Request()]
    for (const request of requests) purgatory.add(request, [key], 500)
    assert.deepEqual(
      requests.map((request) => request.told.join()),
      ['', '', '', 'full'],
    )
    assert.equal(purgatory.size, 3)
  })

  it('lets a request be added while others of its key are answered', () => {
    const later = new Request()
    const first: Delayed = {
      tryComplete: (() => {
        let asked = 0
        return () => {
          if (asked++ === 0) return false
          purgatory.add(later, [key], 500)
          return true
        }
      })(),
      giveUp: () => assert.fail('completed already'),
    }
    purgatory.add(first, [key], 500)
    purgatory.touch(key)
    assert.equal(purgatory.size, 1)
    later.ready = true
    purgatory.touch(key)
    assert.deepEqual(later.told, ['completed'])
  })

  it('answers everybody when it closes, and at once whoever comes later', () => {
    const requests = [new Request(), new Request()]
    for (const request of requests) purgatory.add(request, [key], 500)
    purgatory.close()
    assert.deepEqual(
      requests.map((request) => request.told.join()),
      ['closed', 'closed'],
    )
    const late = new Request()
    purgatory.add(late, [key], 500)
    assert.deepEqual(late.told, ['closed'])
    assert.equal(timers.pending, 0)
  })
})
