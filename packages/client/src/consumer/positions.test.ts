import assert from 'node:assert/strict'
import { Positions } from './positions.js'

function assigned(): Positions {
  const positions = new Positions()
  positions.assign({ t: [0, 1] })
  positions.startAt('t', 0, 5, 5)
  positions.startAt('t', 1, 0, undefined)
  return positions
}

describe('positions', () => {
  it('commit one above what was resolved, once', () => {
    const positions = assigned()
    const { epoch } = positions.get('t', 0)!
    assert.deepEqual(positions.uncommitted(), [])
    assert.ok(positions.resolve('t', 0, 8, epoch))
    assert.deepEqual(positions.uncommitted(), [{ topic: 't', partition: 0, offset: 9 }])
    assert.equal(positions.resolvedSinceCommit, 4)
    positions.committed(positions.uncommitted())
    assert.deepEqual(positions.uncommitted(), [])
    assert.equal(positions.resolvedSinceCommit, 0)
  })

  it('drop what was handed out before a seek', () => {
    const positions = assigned()
    const before = positions.get('t', 0)!.epoch
    positions.seek('t', 0, 2)
    assert.equal(positions.get('t', 0)!.nextOffset, 2)
    assert.equal(positions.isCurrent('t', 0, before), false)
    assert.equal(positions.resolve('t', 0, 6, before), false)
    assert.deepEqual(positions.uncommitted(), [{ topic: 't', partition: 0, offset: 2 }])
  })

  it('keep a seek for a partition that is not assigned yet', () => {
    const positions = new Positions()
    positions.seek('t', 0, 40)
    positions.assign({ t: [0] })
    positions.startAt('t', 0, 7, 7)
    assert.equal(positions.get('t', 0)!.nextOffset, 40)
  })

  it('ask for a look-up when the seek is to the latest or the earliest offset', () => {
    const positions = assigned()
    positions.seek('t', 1, -1)
    assert.equal(positions.get('t', 1)!.nextOffset, undefined)
    assert.equal(positions.pendingSeek('t', 1), -1)
  })

  it('keep pauses over a new assignment, and resume by topic or by partition', () => {
    const positions = assigned()
    positions.pause('t', [1])
    positions.assign({ t: [0, 1, 2] })
    assert.deepEqual(positions.paused(), [{ topic: 't', partitions: [1] }])
    positions.pause('t')
    assert.deepEqual(positions.paused(), [{ topic: 't', partitions: [0, 1, 2] }])
    positions.resume('t', [2])
    assert.deepEqual(positions.paused(), [{ topic: 't', partitions: [0, 1] }])
    positions.resume('t')
    assert.deepEqual(positions.paused(), [])
  })
})
