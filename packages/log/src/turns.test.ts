import assert from 'node:assert/strict'
import { gate, settled } from './log.test.support.js'
import { Turns } from './turns.js'

describe('work that takes turns', () => {
  it('is not begun once its signal is aborted, also in the moment in which its turn comes', async () => {
    for (let ticks = 0; ticks < 20; ticks++) {
      const turns = new Turns(1)
      const first = gate()
      const stop = new AbortController()
      let begun = 'not begun'
      const runs = Promise.allSettled([
        turns.run(() => first.passed),
        turns.run(async () => {
          begun = stop.signal.aborted ? 'begun after the abort' : 'begun before'
        }, stop.signal),
      ])
      first.open()
      for (let tick = 0; tick < ticks; tick++) await Promise.resolve()
      stop.abort(new Error('no more'))
      const [, second] = await runs
      assert.notEqual(begun, 'begun after the abort', `after ${ticks} ticks`)
      assert.equal(second!.status, begun === 'not begun' ? 'rejected' : 'fulfilled')
      assert.equal(await turns.run(async () => 'the place is free'), 'the place is free')
    }
  })

  it('that waits is refused with the reason; what runs goes on, and later work has its turn', async () => {
    const turns = new Turns(1)
    const first = gate()
    const runs = [turns.run(() => first.passed), turns.run(async () => {}), turns.run(async () => {})]
    const outcomes = Promise.allSettled(runs)
    turns.refuseWaiting('broken')
    const later = turns.run(async () => 'later')
    await settled()
    first.open()
    assert.deepEqual(
      (await outcomes).map((one) => (one.status === 'rejected' ? one.reason : one.status)),
      ['fulfilled', 'broken', 'broken'],
    )
    assert.equal(await later, 'later')
  })
})
