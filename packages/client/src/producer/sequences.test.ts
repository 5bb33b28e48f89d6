import assert from 'node:assert/strict'
import { Sequences } from './sequences.js'

describe('sequences', () => {
  it('count records per partition', () => {
    const sequences = new Sequences()
    sequences.start({ producerId: 1000, producerEpoch: 0 })
    assert.deepEqual(sequences.take('t', 0, 3), { producerId: 1000, producerEpoch: 0, baseSequence: 0 })
    assert.equal(sequences.take('t', 1, 1).baseSequence, 0)
    assert.equal(sequences.take('t', 0, 1).baseSequence, 3)
  })

  it('begin again at 0 under a new producer id', () => {
    const sequences = new Sequences()
    sequences.start({ producerId: 1, producerEpoch: 0 })
    sequences.take('t', 0, 5)
    sequences.forget()
    assert.throws(() => sequences.take('t', 0, 1), /before there was a producer id/)
    sequences.start({ producerId: 2, producerEpoch: 0 })
    assert.equal(sequences.take('t', 0, 1).baseSequence, 0)
  })

  it('wrap after 2^31−1', () => {
    const sequences = new Sequences()
    sequences.start({ producerId: 1, producerEpoch: 0 })
    sequences.take('t', 0, 2 ** 31 - 1)
    assert.equal(sequences.take('t', 0, 2).baseSequence, 2 ** 31 - 1)
    assert.equal(sequences.take('t', 0, 1).baseSequence, 1)
  })
})
