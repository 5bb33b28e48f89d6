import assert from 'node:assert/strict'
import { ratioOf, spreadOf, told } from './statistics.js'

describe('spreads', () => {
  it('hold the lowest, the middle and the highest figure', () => {
    assert.deepEqual(spreadOf([5, 1, 3]), { min: 1, median: 3, max: 5 })
    assert.deepEqual(spreadOf([4, 1, 3, 2]), { min: 1, median: 2.5, max: 4 })
    assert.throws(() => spreadOf([]), RangeError)
  })
  it('compare by their medians', () => {
    assert.equal(ratioOf(spreadOf([1, 2, 9]), spreadOf([4, 4, 4])), 0.5)
  })
  it('are told with as many digits as matter', () => {
    assert.equal(told(spreadOf([0.1234567, 12.345, 1234.5])), '0.1235 / 12.35 / 1235')
  })
})
