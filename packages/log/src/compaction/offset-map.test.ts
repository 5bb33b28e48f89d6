/** The map from keys to their last offsets: what it holds, and how much memory it takes for that. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { propertyOptions } from '../property-options.test.support.js'
import { OFFSET_MAP_ENTRY_BYTES, OffsetMap, offsetMapCapacity } from './offset-map.js'

const map = (memoryBytes: number, change: { loadFactor?: number; mostKeys?: number; seed?: number } = {}) =>
  new OffsetMap({ memoryBytes, loadFactor: 0.9, mostKeys: Number.MAX_SAFE_INTEGER, seed: 1, ...change })

describe('the map of keys to offsets', () => {
  it('agrees with a plain one, for keys of every length', () => {
    const key = fc.oneof(
      fc.uint8Array({ maxLength: 3 }),
      fc.uint8Array({ minLength: 12, maxLength: 40 }),
      fc.integer({ min: 0, max: 20 }).map((length) => new Uint8Array(length)),
    )
    fc.assert(
      fc.property(fc.array(key, { maxLength: 200 }), fc.integer(), (keys, seed) => {
        const ours = map(400 * OFFSET_MAP_ENTRY_BYTES, { seed })
        const plain = new Map<string, number>()
        for (const [offset, one] of keys.entries()) {
          assert.equal(ours.put(Buffer.from(one), offset + 2 ** 40), true)
          plain.set(Buffer.from(one).toString('hex'), offset + 2 ** 40)
          assert.equal(ours.latestOffset, offset + 2 ** 40)
        }
        assert.equal(ours.size, plain.size)
        for (const one of keys) assert.equal(ours.get(Buffer.from(one)), plain.get(Buffer.from(one).toString('hex')))
        assert.equal(ours.get(Buffer.from('no such key here')), -1)
      }),
      propertyOptions(200),
    )
  })

  it('takes as many keys as the load factor of its memory says, then no more, not even a known one', () => {
    const ours = map(24 * 1000)
    assert.equal(offsetMapCapacity(24 * 1000, 0.9), 900)
    for (let at = 0; at < 900; at++) assert.equal(ours.put(Buffer.from(`key ${at}`), at), true)
    assert.equal(ours.put(Buffer.from('key 5'), 1000), false)
    assert.equal(ours.put(Buffer.from('new'), 1001), false)
    assert.deepEqual(
      [ours.size, ours.latestOffset, ours.get(Buffer.from('key 5')), ours.get(Buffer.from('new'))],
      [900, 899, 5, -1],
    )
  })

  it('may be filled to the last slot', () => {
    const ours = map(24 * 100, { loadFactor: 1 })
    for (let at = 0; at < 100; at++) assert.equal(ours.put(Buffer.from(`${at}`), at), true)
    assert.equal(ours.put(Buffer.from('more'), 100), false)
    assert.equal(ours.get(Buffer.from('more')), -1)
    assert.equal(ours.get(Buffer.from('42')), 42)
    assert.equal(offsetMapCapacity(24 * 100, 3), 100)
  })

  it('takes no more memory than it is given, and less where fewer keys can come', () => {
    const given = 8 << 20
    const before = process.memoryUsage().arrayBuffers
    const ours = map(given)
    assert.ok(ours.memoryBytes <= given + OFFSET_MAP_ENTRY_BYTES, `${ours.memoryBytes}`)
    const key = Buffer.alloc(40)
    for (let at = 0; at < ours.capacity; at++) {
      key.writeUInt32LE(at)
      ours.put(key, at)
    }
    assert.equal(ours.size, ours.capacity)
    const taken = process.memoryUsage().arrayBuffers - before
    assert.ok(taken < given * 1.1 + (1 << 20), `${taken} bytes for ${ours.size} keys`)
    assert.ok(map(1 << 30, { mostKeys: 1000 }).memoryBytes <= 2001 * OFFSET_MAP_ENTRY_BYTES)
  }).timeout(60_000)
})
