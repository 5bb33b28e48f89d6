// The real clock, timers and random numbers, as far as a test can tell them from bad ones.
import assert from 'node:assert/strict'
import { NodeTurn, nodeClock, nodeRandom, nodeTimers } from './node-environment.js'

describe('The environment of Node', () => {
  it('gives bytes that never come twice, of any count', () => {
    const seen = new Set<string>()
    for (let draw = 0; draw < 2000; draw++) seen.add(nodeRandom.bytes(16).toString('hex'))
    assert.equal(seen.size, 2000)
    for (const count of [0, 1, 4096, 4097, 100_000]) assert.equal(nodeRandom.bytes(count).length, count)
    const [one, other] = [nodeRandom.bytes(100), nodeRandom.bytes(100)]
    const before = Buffer.from(other)
    one.fill(0)
    assert.deepEqual(other, before, 'each draw has memory of its own')
    assert.equal(new Set(nodeRandom.bytes(4000)).size > 200, true)
  })

  it('has a monotonic clock, and timers that can be cancelled and take any delay', async () => {
    const before = nodeClock.monotonic()
    let fired = 0
    nodeTimers.after(5, () => fired++)
    nodeTimers.after(5, () => fired++)()
    nodeTimers.after(2 ** 40, () => fired++)()
    const cancelFarAway = nodeTimers.after(2 ** 33, () => fired++)
    await new Promise<void>((resolve) => nodeTimers.after(20, resolve))
    cancelFarAway()
    assert.equal(fired, 1, 'a delay beyond 2^31 ms does not fire at once')
    assert.equal(nodeClock.monotonic() - before >= 19, true)
  })

  it('does in one visit what a turn put off, in order; what that puts off comes with the next one, and so does the rest when one throws', () => {
    const visits: (() => void)[] = []
    const turn = new NodeTurn((run) => void visits.push(run))
    const done: string[] = []
    turn.afterThisTurn(() => {
      done.push('first')
      turn.afterThisTurn(() => done.push('next'))
    })
    turn.afterThisTurn(() => {
      throw new Error('a bug')
    })
    turn.afterThisTurn(() => done.push('last'))
    assert.deepEqual([visits.length, done], [1, []])
    assert.throws(() => visits[0]!(), /a bug/)
    assert.deepEqual([visits.length, done], [2, ['first']])
    visits[1]!()
    assert.deepEqual([visits.length, done], [2, ['first', 'next', 'last']])
  })
})
