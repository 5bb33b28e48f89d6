import assert from 'node:assert/strict'
import { InvariantError } from './failures.js'
import { hold, release, SlabPool } from './slab.js'

describe('slabs', () => {
  it('come back once nobody holds a view of them any more, and not before', () => {
    const pool = new SlabPool({ poison: true })
    const slab = pool.take(10_000)
    const view = slab.bytes.subarray(5, 10).fill(1)
    hold(view)
    slab.release()
    assert.equal(pool.idleBytes, 0)
    assert.notEqual(pool.take(10_000), slab)
    assert.deepEqual([...view], [1, 1, 1, 1, 1])
    release(view)
    assert.equal(view[0], 0xdb, 'whoever still looks at it sees that it is gone')
    assert.equal(pool.take(10_000), slab)
  })

  it('refuse holds that cannot be', () => {
    const slab = new SlabPool().take(1)
    slab.release()
    assert.throws(() => slab.hold(), InvariantError)
    assert.throws(() => slab.release(), InvariantError)
  })

  it('are at least as large as asked for, and at most a quarter larger', () => {
    const pool = new SlabPool()
    for (const bytes of [1, 4096, 4097, 5000, 65_536, 65_537, 1_037_000, (1 << 24) - 1]) {
      const { byteLength } = pool.take(bytes)
      assert.ok(byteLength >= bytes && byteLength <= Math.max(4096, bytes * 1.25), `${byteLength} for ${bytes}`)
    }
  })

  it('are forgotten beyond the limit, those of sizes first that came back longest ago', () => {
    const pool = new SlabPool({ idleBytes: 100_000 })
    const [small, large] = [pool.take(4096), pool.take(65_536)]
    small.release()
    large.release()
    assert.equal(pool.idleBytes, 69_632)
    const more = [pool.take(32_768), pool.take(65_536)]
    for (const slab of more) slab.release()
    assert.equal(pool.idleBytes, 98_304)
    assert.notEqual(pool.take(4096), small)
  })

  it('let other memory be held and released all the same', () => {
    const bytes = Buffer.from('mine')
    hold(bytes)
    release(bytes)
    release(bytes)
    assert.equal(bytes.toString(), 'mine')
  })
})
