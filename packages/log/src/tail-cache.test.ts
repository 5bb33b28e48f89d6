import assert from 'node:assert/strict'
import fc from 'fast-check'
import { propertyOptions } from './property-options.test.support.js'
import { TailCache } from './tail-cache.js'

describe('the tail cache', () => {
  it('holds no more than its bytes, drops the oldest of all logs first, and never shows a gap', () => {
    const entry = fc.record({ log: fc.nat(2), size: fc.integer({ min: 1, max: 60 }) })
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 80, size: 'max' }), fc.integer({ min: 1, max: 200 }), (entries, maxBytes) => {
        const cache = new TailCache(maxBytes)
        const tails = [cache.tailOf(), cache.tailOf(), cache.tailOf()]
        const ends = [0, 0, 0]
        for (const { log, size } of entries) {
          tails[log]!.add(ends[log]!, ends[log]! + 1, Buffer.alloc(size, ends[log]! % 256))
          ends[log]! += 2
          assert.ok(cache.sizeInBytes <= maxBytes)
          for (const [at, tail] of tails.entries()) {
            let first = ends[at]!
            while (first > 0 && tail.read(first - 2, Number.POSITIVE_INFINITY, 1, true) !== null) first -= 2
            const read = tail.read(first, Number.POSITIVE_INFINITY, 1 << 20, false)
            if (first === ends[at]) continue
            assert.deepEqual(
              read!.slices.map((slice) => slice[0]),
              Array.from({ length: (ends[at]! - first) / 2 }, (_, n) => (first + 2 * n) % 256),
            )
            assert.equal(read!.nextOffset, ends[at])
          }
        }
        for (const tail of tails) tail.clear()
        assert.equal(cache.sizeInBytes, 0)
      }),
      propertyOptions(150),
    )
  })

  it('gives whole batches within the bytes and the limit asked for', () => {
    const tail = new TailCache(1000).tailOf()
    for (let at = 0; at < 4; at++) tail.add(at * 10, at * 10 + 9, Buffer.alloc(10, at))
    assert.equal(tail.read(12, 100, 25, true)!.sizeInBytes, 20)
    assert.equal(tail.read(12, 100, 5, true)!.sizeInBytes, 10)
    assert.equal(tail.read(12, 100, 5, false)!.sizeInBytes, 0)
    assert.deepEqual([tail.read(12, 29, 100, true)!.sizeInBytes, tail.read(12, 30, 100, true)!.sizeInBytes], [10, 20])
  })

  it('forgets what was dropped with its log, though an older entry stays', () => {
    const cache = new TailCache(1 << 20)
    cache.tailOf().add(0, 0, Buffer.alloc(10))
    for (let log = 0; log < 5000; log++) {
      const tail = cache.tailOf()
      tail.add(0, 0, Buffer.alloc(10))
      tail.clear()
    }
    assert.ok(cache.entryCount <= 1025, String(cache.entryCount))
  })

  it('counts the memory that its slices hold, once for all slices of a slab', () => {
    const cache = new TailCache(100_000)
    const tail = cache.tailOf()
    const slab = Buffer.alloc(64 * 1024)
    tail.add(0, 0, slab.subarray(100, 200))
    tail.add(1, 1, slab.subarray(200, 300))
    assert.equal(cache.sizeInBytes, 64 * 1024)
    tail.add(2, 2, Buffer.alloc(50_000))
    assert.equal(cache.sizeInBytes, 50_000, 'both slices of the slab had to go')
    assert.equal(tail.read(1, 3, 1, true), null)
    tail.add(3, 3, Buffer.alloc(200_000))
    assert.equal(cache.sizeInBytes, 0, 'what is larger than the cache empties the tail of its log')
  })

  it('holds no more entries than they cost beside their bytes', () => {
    const cache = new TailCache(256 * 1000)
    const tail = cache.tailOf()
    const slab = Buffer.alloc(64 * 1024)
    for (let at = 0; at < 5000; at++) tail.add(at, at, slab.subarray(at, at + 10))
    assert.equal(tail.read(3999, 5000, 1, true), null)
    assert.equal(tail.read(4000, 5000, 1, true)!.slices.length, 1)
  })
})
