/** Tables of fixed offsets. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { fixed, layout } from './layout.js'
import { RECORD_BATCH } from './records/layout.js'
import { MESSAGE, MESSAGE_V1 } from './records/legacy-layout.js'
import { propertyOptions } from './records/property-options.test.support.js'

describe('layout', () => {
  it('puts the fields of a record batch where Kafka has them', () => {
    assert.equal(RECORD_BATCH.size, 61)
    assert.equal(RECORD_BATCH.crc.at, 17)
    assert.equal(RECORD_BATCH.attributes.at, 21)
    assert.equal(RECORD_BATCH.recordCount.at, 57)
    assert.equal(MESSAGE.size, 18)
    assert.equal(MESSAGE_V1.size, 26)
  })

  it('reads back what it wrote, at any place, and touches nothing else', () => {
    const table = layout({ a: fixed.int8, b: fixed.int16, c: fixed.int32, d: fixed.uint32, e: fixed.int64 })
    fc.assert(
      fc.property(
        fc.record({
          a: fc.integer({ min: -128, max: 127 }),
          b: fc.integer({ min: -32768, max: 32767 }),
          c: fc.integer(),
          d: fc.nat(0xffffffff),
          e: fc.maxSafeInteger(),
        }),
        fc.nat(5),
        (values, at) => {
          const bytes = Buffer.alloc(at + table.size + 1, 0xaa)
          for (const name of ['a', 'b', 'c', 'd', 'e'] as const) table[name].set(bytes, at, values[name])
          for (const name of ['a', 'b', 'c', 'd', 'e'] as const) assert.equal(table[name].get(bytes, at), values[name])
          assert.equal(bytes.readBigInt64BE(at + table.e.at), BigInt(values.e))
          assert.ok(bytes.subarray(0, at).every((byte) => byte === 0xaa))
          assert.equal(bytes[at + table.size], 0xaa)
        },
      ),
      propertyOptions(),
    )
  })

  it('reads any int64 exactly when asked', () => {
    const { value } = layout({ value: fixed.int64 })
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (big) => {
        const bytes = Buffer.alloc(8)
        value.set(bytes, 0, big)
        assert.equal(BigInt(value.exact(bytes, 0)), big)
        assert.equal(typeof value.exact(bytes, 0), Number.isSafeInteger(Number(big)) ? 'number' : 'bigint')
      }),
      propertyOptions(),
    )
    assert.throws(() => value.set(Buffer.alloc(8), 0, 2 ** 53), RangeError)
  })
})
