import assert from 'node:assert/strict'
import { AbortedTransactions } from './aborted.js'

const batch = (lastOffset: number, producerId: number, kind: 'data' | 'abort' | 'commit' | 'plain' = 'data') => ({
  lastOffset,
  producerId: kind === 'plain' ? -1 : producerId,
  isTransactional: kind !== 'plain',
  abortMarker: kind === 'abort',
})

describe('aborted transactions', () => {
  it('hide the batches of their producer from their first offset to their marker, and nothing else', () => {
    const aborted = new AbortedTransactions([{ producerId: 7, firstOffset: 2 }])
    assert.equal(aborted.hides(batch(1, 7)), false)
    assert.equal(aborted.hides(batch(3, 7)), true)
    assert.equal(aborted.hides(batch(4, 8)), false)
    assert.equal(aborted.hides(batch(5, -1, 'plain')), false)
    assert.equal(aborted.hides(batch(6, 7, 'abort')), true)
    assert.equal(aborted.hides(batch(8, 7)), false)
  })

  it('follow two transactions of one producer, listed in any order', () => {
    const aborted = new AbortedTransactions([
      { producerId: 7, firstOffset: 10 },
      { producerId: 7, firstOffset: 0 },
    ])
    const seen = [
      batch(1, 7),
      batch(2, 7, 'abort'),
      batch(5, 7),
      batch(6, 7, 'commit'),
      batch(11, 7),
      batch(12, 7, 'abort'),
      batch(13, 7),
    ]
    assert.deepEqual(
      seen.map((each) => aborted.hides(each)),
      [true, true, false, false, true, true, false],
    )
  })
})
