/** The high watermark against an obvious slow twin. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { highWatermarkOf } from './high-watermark.js'

/** A failure prints its seed; `SEED=… npm test` repeats it. */
const SEED = process.env.SEED === undefined ? {} : { seed: Number(process.env.SEED) }

/** An offset is committed when every in-sync replica has it; the high watermark is after the last committed one. */
function slowly(current: number, isr: readonly number[], ends: ReadonlyMap<number, number>): number {
  let highWatermark = current
  while (isr.length > 0 && isr.every((replica) => (ends.get(replica) ?? 0) > highWatermark)) highWatermark++
  return highWatermark
}

describe('the high watermark', () => {
  it('is the lowest log end offset of the ISR and never goes back', () => {
    const ends = fc.dictionary(fc.constantFrom('1', '2', '3', '4'), fc.nat(20))
    fc.assert(
      fc.property(fc.nat(20), fc.uniqueArray(fc.integer({ min: 1, max: 4 })), ends, (current, isr, byReplica) => {
        const map = new Map(Object.entries(byReplica).map(([replica, end]) => [Number(replica), end]))
        assert.equal(highWatermarkOf(current, isr, map), slowly(current, isr, map))
      }),
      SEED,
    )
  })

  it('ignores replicas outside the ISR', () => {
    assert.equal(
      highWatermarkOf(
        0,
        [1, 2],
        new Map([
          [1, 9],
          [2, 8],
          [3, 1],
        ]),
      ),
      8,
    )
  })
})
