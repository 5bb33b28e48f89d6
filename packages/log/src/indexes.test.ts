import assert from 'node:assert/strict'
import fc from 'fast-check'
import { OffsetIndex, offsetIndexProblem } from './offset-index.js'
import { propertyOptions } from './property-options.test.support.js'
import { TimeIndex, timeIndexProblem } from './time-index.js'
import { readTxnIndex, TXN_ENTRY_BYTES, TxnIndex } from './txn-index.js'

const BASE = 1000

/** Rising numbers: the running sum of the steps. */
const rising = (least: number) =>
  fc
    .array(fc.oneof(fc.integer({ min: least, max: 5 }), fc.integer({ min: least, max: 5000 })), { maxLength: 2500, size: 'max' })
    .map((steps) => {
      let sum = 0
      return steps.map((step) => (sum += step))
    })

describe('the time index', () => {
  it('holds the largest time that there is, and nothing after it', () => {
    const index = new TimeIndex(BASE, 1 << 20)
    for (const [at, timestamp] of [1000, 2 ** 63, 2 ** 63, 5000].entries()) index.append(timestamp, BASE + at)
    assert.equal(index.entryCount, 2)
    assert.equal(timeIndexProblem(index.entryBytes()), null)
    assert.equal(index.entryBytes(1).readBigInt64BE(), 2n ** 63n - 1n)
    assert.deepEqual(index.lookup(2 ** 63), { timestamp: 2 ** 63, offset: BASE + 1 })
  })
})

describe('the offset index', () => {
  it('finds the same floor as a look at every entry, near its end and anywhere', () => {
    fc.assert(
      fc.property(rising(1), fc.array(fc.double({ min: -0.1, max: 1.2, noNaN: true }), { minLength: 20 }), (offsets, places) => {
        const index = new OffsetIndex(BASE, 1 << 20)
        for (const [at, offset] of offsets.entries()) index.append(BASE + offset, at * 10)
        const top = offsets.at(-1) ?? 10
        const asked = [...places.map((place) => Math.floor(place * top) || 0), ...offsets.slice(0, 5), ...offsets.slice(-5)]
        for (const offset of asked) {
          const slot = offsets.findLastIndex((entry) => entry <= offset)
          const expected = slot < 0 ? { offset: BASE, position: 0 } : { offset: BASE + offsets[slot]!, position: slot * 10 }
          assert.deepEqual(index.lookup(BASE + offset), expected)
          const position = Math.floor((offset / Math.max(1, top)) * offsets.length * 10)
          const floor = Math.min(offsets.length - 1, Math.floor(position / 10)) || 0
          const found = position < 0 || offsets.length === 0 ? null : { offset: BASE + offsets[floor]!, position: floor * 10 }
          assert.deepEqual(index.floorPosition(position), found)
        }
      }),
      propertyOptions(60),
    )
  })

  it('reads back from its bytes and drops what lies at and above an offset', () => {
    fc.assert(
      fc.property(rising(1), fc.nat(20_000), (offsets, cut) => {
        const index = new OffsetIndex(BASE, 1 << 20)
        for (const [at, offset] of offsets.entries()) index.append(BASE + offset, at * 10)
        const bytes = Buffer.from(index.entryBytes())
        assert.equal(offsetIndexProblem(bytes, offsets.length * 10), null)
        const again = new OffsetIndex(BASE, 1 << 20, bytes)
        again.truncateTo(BASE + cut)
        const kept = offsets.filter((offset) => offset < cut)
        assert.equal(again.entryCount, kept.length)
        assert.equal(again.lastOffset, BASE + (kept.at(-1) ?? 0))
        again.append(BASE + cut + 1, 1)
        assert.equal(again.lastOffset, BASE + cut + 1)
      }),
      propertyOptions(60),
    )
  })

  it('is full at its size, and holds offsets up to 2^31-1 from its base', () => {
    const index = new OffsetIndex(BASE, 20)
    assert.equal(index.maxEntries, 2)
    index.append(BASE + 1, 0)
    assert.equal(index.isFull, false)
    index.append(BASE + 2, 10)
    assert.equal(index.isFull, true)
    assert.deepEqual([index.canHold(BASE), index.canHold(BASE + 0x7fffffff)], [true, true])
    assert.deepEqual([index.canHold(BASE - 1), index.canHold(BASE + 0x80000000)], [false, false])
  })
})

describe('the time index', () => {
  it('finds the same floor as a look at every entry, and cuts by offset', () => {
    fc.assert(
      fc.property(rising(0), fc.array(fc.nat(20_000), { minLength: 10 }), (times, asked) => {
        const start = 1_700_000_000_000
        const index = new TimeIndex(BASE, 1 << 20)
        for (const [at, time] of times.entries()) index.append(start + time, BASE + at)
        const entries = times
          .map((time, at) => ({ timestamp: start + time, offset: BASE + at }))
          .filter(({ timestamp }, at) => at === 0 || timestamp > start + times[at - 1]!)
        assert.equal(timeIndexProblem(Buffer.from(index.entryBytes())), null)
        assert.equal(index.entryCount, entries.length)
        for (const time of asked) {
          const found = entries.findLast(({ timestamp }) => timestamp <= start + time)
          assert.deepEqual(index.lookup(start + time), found ?? { timestamp: -1, offset: BASE })
        }
        const again = new TimeIndex(BASE, 1 << 20, Buffer.from(index.entryBytes()))
        again.truncateTo(BASE + asked[0]!)
        assert.deepEqual(
          again.lastEntry,
          entries.findLast(({ offset }) => offset < BASE + asked[0]!) ?? { timestamp: -1, offset: BASE },
        )
      }),
      propertyOptions(60),
    )
  })

  it('keeps one entry free for the largest time', () => {
    const index = new TimeIndex(BASE, 36)
    index.append(1, BASE)
    assert.equal(index.isFull, false)
    index.append(2, BASE + 1)
    assert.equal(index.isFull, true)
    index.append(3, BASE + 2)
    assert.equal(index.lastEntry.timestamp, 3)
  })
})

describe('the transaction index', () => {
  const entry = (producerId: number, firstOffset: number, lastOffset: number, lastStableOffset: number) => ({
    producerId,
    firstOffset,
    lastOffset,
    lastStableOffset,
  })

  it('has entries of 34 bytes and reads them back', () => {
    assert.equal(TXN_ENTRY_BYTES, 34)
    const index = new TxnIndex()
    index.append(entry(3, 24, 37, 38))
    index.append(entry(2, 38, 60, 53))
    const again = readTxnIndex(index.toBytes(), 20)
    assert.ok(again instanceof TxnIndex)
    assert.deepEqual(again.entries, index.entries)
    again.truncateTo(60)
    assert.deepEqual(again.entries, [entry(3, 24, 37, 38)])
  })

  it('names what overlaps a range and says when no later segment can', () => {
    const index = new TxnIndex([entry(1, 0, 10, 11), entry(2, 5, 20, 21), entry(3, 30, 40, 41)])
    const of = (from: number, upTo: number) => {
      const found: { producerId: number; firstOffset: number }[] = []
      const complete = index.collect(from, upTo, found)
      return [found.map(({ producerId }) => producerId), complete]
    }
    assert.deepEqual(of(0, 5), [[1], true])
    assert.deepEqual(of(6, 15), [[1, 2], true])
    assert.deepEqual(of(11, 50), [[2, 3], false])
    assert.deepEqual(of(41, 60), [[], false])
  })

  it('says what is wrong with damaged bytes', () => {
    const good = new TxnIndex([entry(1, 0, 10, 11)]).toBytes()
    assert.ok('problem' in readTxnIndex(good.subarray(0, 33), 0))
    assert.ok('problem' in readTxnIndex(good, 11), 'before the segment')
    assert.ok('problem' in readTxnIndex(Buffer.concat([good, good]), 0), 'offsets do not rise')
    good[1] = 1
    assert.ok('problem' in readTxnIndex(good, 0), 'unknown version')
  })
})
