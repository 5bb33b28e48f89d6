/** Which segments become one. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { propertyOptions } from '../property-options.test.support.js'
import { type GroupLimits, type SegmentSizes, segmentGroups } from './segment-groups.js'

const LIMITS: GroupLimits = { segmentBytes: 100, indexBytes: 80, endOffset: 10_000 }

const segment = (baseOffset: number, sizeInBytes: number, offsetIndexBytes = 8, timeIndexBytes = 12): SegmentSizes => ({
  baseOffset,
  sizeInBytes,
  offsetIndexBytes,
  timeIndexBytes,
})
const bases = (groups: readonly (readonly SegmentSizes[])[]) => groups.map((group) => group.map(({ baseOffset }) => baseOffset))

describe('segments that are cleaned together', () => {
  it('are no larger than a segment', () => {
    const groups = segmentGroups([segment(0, 60), segment(10, 40), segment(20, 1), segment(30, 99), segment(40, 500)], LIMITS)
    assert.deepEqual(bases(groups), [[0, 10], [20, 30], [40]])
  })

  it('have indexes no larger than an index', () => {
    assert.deepEqual(bases(segmentGroups([segment(0, 1, 40), segment(1, 1, 40), segment(2, 1, 8)], LIMITS)), [[0, 1], [2]])
    assert.deepEqual(bases(segmentGroups([segment(0, 1, 8, 60), segment(1, 1, 8, 24)], LIMITS)), [[0], [1]])
  })

  it('never span more offsets than an index entry can say (KAFKA-6264)', () => {
    const widest = 2 ** 31 - 1
    const pair = (next: number) => [segment(0, 1), segment(5, 1), segment(next, 1)]
    assert.deepEqual(bases(segmentGroups(pair(widest + 1), { ...LIMITS, endOffset: widest + 2 })), [[0, 5], [widest + 1]])
    assert.deepEqual(bases(segmentGroups(pair(widest + 2), { ...LIMITS, endOffset: widest + 3 })), [[0], [5, widest + 2]])
  })

  it('take empty ones along however far these reach', () => {
    const far = 2 ** 33
    assert.deepEqual(bases(segmentGroups([segment(0, 1), segment(5, 0), segment(far, 1)], { ...LIMITS, endOffset: far + 1 })), [
      [0, 5],
      [far],
    ])
  })

  it('are all of them, in order, within every limit', () => {
    const sizes = fc.record({
      step: fc.oneof(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 2 ** 29, max: 2 ** 32 })),
      size: fc.nat(120),
      offsets: fc.nat(90),
      times: fc.nat(90),
    })
    fc.assert(
      fc.property(fc.array(sizes, { maxLength: 30 }), (steps) => {
        let baseOffset = 0
        const all = steps.map(({ step, size, offsets, times }) => {
          const one = segment(baseOffset, size, offsets, times)
          baseOffset += step
          return one
        })
        const groups = segmentGroups(all, { ...LIMITS, endOffset: baseOffset })
        assert.deepEqual(groups.flat(), all)
        for (const group of groups) {
          if (group.length === 1) continue
          const sum = (of: (one: SegmentSizes) => number) => group.reduce((total, one) => total + of(one), 0)
          assert.ok(sum(({ sizeInBytes }) => sizeInBytes) <= LIMITS.segmentBytes)
          assert.ok(sum(({ offsetIndexBytes }) => offsetIndexBytes) <= LIMITS.indexBytes)
          assert.ok(sum(({ timeIndexBytes }) => timeIndexBytes) <= LIMITS.indexBytes)
          const last = group.findLast(({ sizeInBytes }) => sizeInBytes > 0)
          // One alone is what it is.
          if (last === undefined || last === group[0]) continue
          const end = all[all.indexOf(last) + 1]?.baseOffset ?? baseOffset
          assert.ok(end - 1 - group[0]!.baseOffset <= 2 ** 31 - 1)
        }
      }),
      propertyOptions(500),
    )
  })
})
