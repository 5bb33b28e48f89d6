import assert from 'node:assert/strict'
import { ReconnectPauses } from './reconnect.js'

const middle = { next: () => 0.5 }

describe('reconnect pauses', () => {
  it('double from 50 ms to 2.5 s, so that a minute without brokers takes fewer than 40 attempts', () => {
    const pauses = new ReconnectPauses()
    const waits: number[] = []
    let now = 1_000
    while (now < 61_000) {
      pauses.failed('a:1', now, middle)
      waits.push(pauses.notBefore('a:1') - now)
      now = pauses.notBefore('a:1')
    }
    assert.deepEqual(waits.slice(0, 7), [50, 100, 200, 400, 800, 1600, 2500])
    assert.equal(Math.max(...waits), 2500)
    assert.ok(waits.length < 40, String(waits.length))
  })

  it('end with the first success, and are kept per address', () => {
    const pauses = new ReconnectPauses()
    pauses.failed('a:1', 1_000, middle)
    assert.equal(pauses.notBefore('b:1'), 0)
    pauses.succeeded('a:1')
    assert.equal(pauses.notBefore('a:1'), 0)
  })
})
