import assert from 'node:assert/strict'
import { deletableSegments, type RetentionState } from './retention.js'

describe('retention', () => {
  const segments = (...sizes: [size: number, time: number][]) => {
    let baseOffset = 0
    return sizes.map(([sizeInBytes, largestTimestamp]) => {
      const segment = { baseOffset, sizeInBytes, largestTimestamp }
      baseOffset += 10
      return segment
    })
  }
  const state = (
    change: Partial<Omit<RetentionState, 'config'>> & { config?: Partial<RetentionState['config']> },
  ): RetentionState => ({
    segments: segments([100, 1], [100, 2], [100, 3]),
    logStartOffset: 0,
    logEndOffset: 30,
    highWatermark: 30,
    now: 1000,
    ...change,
    config: { 'cleanup.policy': ['delete'], 'retention.ms': -1, 'retention.bytes': -1, ...change.config },
  })

  it('goes by the time of the newest record of each segment, from the oldest on', () => {
    assert.deepEqual(deletableSegments(state({ config: { 'retention.ms': 998 } })), { count: 1, reason: 'retention.ms' })
    assert.deepEqual(deletableSegments(state({ config: { 'retention.ms': 0 } })), { count: 3, reason: 'retention.ms' })
    const young = segments([100, 999_999], [100, 1])
    assert.equal(deletableSegments(state({ segments: young, config: { 'retention.ms': 10 } })).count, 0)
  })

  it('goes by size until what is left would be too small', () => {
    for (const [limit, count] of [
      [300, 0],
      [299, 0],
      [200, 1],
      [101, 1],
      [100, 2],
      [0, 3],
    ] as const) {
      assert.equal(deletableSegments(state({ config: { 'retention.bytes': limit } })).count, count, `${limit}`)
    }
  })

  it('goes by the log start, also on compacted topics, and never above the high watermark', () => {
    const compacted = { 'cleanup.policy': ['compact'], 'retention.ms': 0, 'retention.bytes': 0 }
    assert.deepEqual(deletableSegments(state({ logStartOffset: 20, config: compacted })), {
      count: 2,
      reason: 'log start offset',
    })
    assert.equal(deletableSegments(state({ logStartOffset: 19, config: compacted })).count, 1)
    assert.equal(deletableSegments(state({ config: compacted })).count, 0)
    assert.equal(deletableSegments(state({ highWatermark: 19, config: { 'retention.ms': 0 } })).count, 1)
  })

  it('leaves an empty active segment', () => {
    assert.equal(deletableSegments(state({ segments: segments([100, 1], [0, 1]), config: { 'retention.ms': 0 } })).count, 1)
    assert.equal(deletableSegments(state({ segments: segments([0, 1]), config: { 'retention.ms': 0 } })).count, 0)
  })
})
