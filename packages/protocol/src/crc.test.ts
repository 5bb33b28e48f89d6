/** Both checksums, in both implementations. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { crc32, crc32c, nativeCrc, portableCrc } from './crc.js'
import { propertyOptions } from './records/property-options.test.support.js'

describe('checksums', () => {
  it('give the known values of "123456789"', () => {
    const digits = Buffer.from('123456789')
    assert.equal(crc32c(digits), 0xe3069283)
    assert.equal(crc32(digits), 0xcbf43926)
    assert.equal(crc32c(Buffer.from('xx123456789y'), 2, 11), 0xe3069283)
  })

  it('may be computed in pieces', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2000 }), fc.nat(), (array, cut) => {
        const bytes = Buffer.from(array)
        const at = bytes.length === 0 ? 0 : cut % bytes.length
        assert.equal(crc32c(bytes, at, bytes.length, crc32c(bytes, 0, at)), crc32c(bytes))
        assert.equal(crc32(bytes, at, bytes.length, crc32(bytes, 0, at)), crc32(bytes))
      }),
      propertyOptions(),
    )
  })

  it('are the same natively and in JavaScript, with any seed', () => {
    assert.ok(nativeCrc, 'the native implementation is installed where the tests run')
    const native = nativeCrc
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 3000 }), fc.nat(0xffffffff), (array, seed) => {
        const bytes = Buffer.from(array)
        assert.equal(native.crc32c(bytes, seed), portableCrc.crc32c(bytes, seed))
        assert.equal(native.crc32(bytes, seed), portableCrc.crc32(bytes, seed))
      }),
      propertyOptions(),
    )
  })
})
