/** Which part of a log may be cleaned, and when. */
import assert from 'node:assert/strict'
import { type CompactionSegment, type CompactionState, cleanable } from './cleanable.js'

const DAY = 86_400_000

/** Segments at 0, 100, 200, … of the given sizes; the last is the active one. */
function segments(sizes: readonly number[], times: readonly number[] = []): CompactionSegment[] {
  return sizes.map((sizeInBytes, at) => {
    const time = times[at] ?? 0
    return { baseOffset: at * 100, sizeInBytes, largestTimestamp: time, firstBatchTimestamp: times[at] ?? null }
  })
}

function state(
  change: Partial<Omit<CompactionState, 'config'>> & { config?: Partial<CompactionState['config']> } = {},
): CompactionState {
  return {
    segments: segments([10, 10, 10, 10]),
    logStartOffset: 0,
    logEndOffset: 350,
    lastStableOffset: 350,
    cleanedTo: null,
    now: DAY * 100,
    ...change,
    config: {
      'min.compaction.lag.ms': 0,
      'max.compaction.lag.ms': 2 ** 63,
      'min.cleanable.dirty.ratio': 0.5,
      ...change.config,
    },
  }
}

const range = (given: CompactionState) => {
  const found = cleanable(given)
  return found === null ? null : [found.firstDirtyOffset, found.firstUncleanableOffset, found.cleanableBytes, found.isDue]
}

describe('what may be cleaned of a log', () => {
  it('is all of it that is not active, when it was never cleaned', () => {
    assert.deepEqual(range(state()), [0, 300, 30, true])
    assert.deepEqual(range(state({ logStartOffset: 150 })), [150, 300, 20, false])
  })

  it('begins where the last cleaning came to', () => {
    assert.deepEqual(range(state({ cleanedTo: 100 })), [100, 300, 20, true])
    assert.deepEqual(range(state({ cleanedTo: 200 })), [200, 300, 10, false])
    assert.deepEqual(range(state({ cleanedTo: 300 })), [300, 300, 0, false])
  })

  it('is due above the dirty ratio, and not at it', () => {
    const half = { segments: segments([20, 10, 10, 5]), cleanedTo: 100 }
    assert.equal(cleanable(state(half))!.dirtyRatio, 0.5)
    assert.equal(cleanable(state(half))!.isDue, false)
    assert.equal(cleanable(state({ ...half, config: { 'min.cleanable.dirty.ratio': 0.49 } }))!.isDue, true)
    assert.equal(cleanable(state({ cleanedTo: 300, config: { 'min.cleanable.dirty.ratio': 0 } }))!.isDue, false)
  })

  it('ends before the segment that holds the last stable offset', () => {
    assert.deepEqual(range(state({ lastStableOffset: 250 })), [0, 200, 20, true])
    assert.deepEqual(range(state({ lastStableOffset: 200 })), [0, 200, 20, true])
    assert.equal(range(state({ lastStableOffset: 50 })), null)
    assert.deepEqual(range(state({ lastStableOffset: 50, cleanedTo: 100 })), [100, 100, 0, false])
  })

  it('ends before the first segment with a record younger than min.compaction.lag.ms', () => {
    const now = DAY * 100
    const timed = { segments: segments([10, 10, 10, 10], [1, now - 1000, 5, 6]), config: { 'min.compaction.lag.ms': 1000 } }
    assert.deepEqual(range(state(timed)), [0, 300, 30, true], 'as old as it must be')
    assert.deepEqual(range(state({ ...timed, config: { 'min.compaction.lag.ms': 1001 } })), [0, 100, 10, true])
    assert.deepEqual(range(state({ ...timed, cleanedTo: 200, config: { 'min.compaction.lag.ms': 1001 } })), [200, 300, 10, false])
  })

  it('is due when a closed dirty segment waited longer than max.compaction.lag.ms', () => {
    const now = DAY * 100
    const waiting = { segments: segments([10, 10, 10, 10], [1, 1, now - 1000, 1]), cleanedTo: 200 }
    assert.equal(cleanable(state({ ...waiting, config: { 'max.compaction.lag.ms': 999 } }))!.isDue, true)
    assert.equal(cleanable(state({ ...waiting, config: { 'max.compaction.lag.ms': 1000 } }))!.isDue, false)
    const stuck = { ...waiting, lastStableOffset: 250, config: { 'max.compaction.lag.ms': 1 } }
    assert.equal(cleanable(state(stuck))!.isDue, false, 'nothing may be cleaned')
  })

  it('is not told by a checkpoint that the log does not have', () => {
    for (const wrong of [{ cleanedTo: 50, logStartOffset: 120 }, { cleanedTo: 400 }]) {
      const found = cleanable(state(wrong))!
      assert.equal(found.checkpointIsWrong, true)
      assert.equal(found.firstDirtyOffset, wrong.logStartOffset ?? 0)
    }
    assert.equal(cleanable(state({ cleanedTo: 350 }))!.checkpointIsWrong, false)
  })

  it('is nothing while the first dirty offset lies in the active segment (KAFKA-8764, KAFKA-9133)', () => {
    const inActive = state({ logStartOffset: 320, config: { 'min.compaction.lag.ms': 1, 'max.compaction.lag.ms': 1 } })
    assert.deepEqual(range(inActive), [320, 300, 0, false])
  })

  it('is nothing of an empty log', () => {
    assert.equal(cleanable(state({ segments: segments([0]), logEndOffset: 0, lastStableOffset: 0 })), null)
  })
})
