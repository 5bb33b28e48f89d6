/** Producer ids: each once, over blocks and over waits. */
import assert from 'node:assert/strict'
import { ProducerIds } from './producer-ids.js'

describe('producer ids', () => {
  it('go through a block without a promise and take the next one when it ends', async () => {
    let blocks = 0
    const ids = new ProducerIds({ take: async () => ({ first: 1000 * blocks++, count: 3 }) })
    assert.equal(await ids.next(), 0)
    assert.equal(ids.next(), 1)
    assert.equal(ids.next(), 2)
    assert.equal(await ids.next(), 1000)
  })

  it('are given to all who wait, each another, out of as few blocks as will do', async () => {
    let blocks = 0
    const ids = new ProducerIds({ take: async () => ({ first: 10 * blocks++, count: 4 }) })
    const given = await Promise.all(Array.from({ length: 10 }, () => ids.next()))
    assert.equal(new Set(given).size, 10)
    assert.equal(blocks, 3)
  })

  it('say that none can be had, and go on when the store is back', async () => {
    let fails = true
    const ids = new ProducerIds({
      take: async () => {
        if (fails) throw new Error('no store')
        return { first: 7, count: 1 }
      },
    })
    assert.deepEqual(await Promise.all([ids.next(), ids.next()]), [
      'COORDINATOR_LOAD_IN_PROGRESS',
      'COORDINATOR_LOAD_IN_PROGRESS',
    ])
    fails = false
    assert.equal(await ids.next(), 7)
  })
})
