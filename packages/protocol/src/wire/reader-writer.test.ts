// The two cursors: what one writes the other reads, nothing is read beyond the end, nothing given away is written again.

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { vectors } from '../../../../conformance/index.js'
import { SEED } from '../schema/arbitrary.test.js'
import { DecodeError, EncodeError } from './failures.js'
import { INT64_MAX, INT64_MIN, ZERO_UUID } from './primitives.js'
import { Reader } from './reader.js'
import { Writer } from './writer.js'

const bytesOf = (write: (writer: Writer) => void): Buffer => {
  const writer = new Writer()
  write(writer)
  return writer.toBuffer()
}

describe(`reader and writer (SEED=${SEED})`, () => {
  const roundTrip = <Value>(
    name: string,
    values: fc.Arbitrary<Value>,
    write: (w: Writer, v: Value) => void,
    read: (r: Reader) => unknown,
  ) =>
    it(`agree on ${name}`, () => {
      const property = fc.property(values, (value) => {
        const bytes = bytesOf((writer) => write(writer, value))
        const reader = new Reader(bytes)
        assert.deepEqual(read(reader), value)
        assert.equal(reader.remaining, 0)
        for (let end = 0; end < bytes.length; end++)
          assert.throws(
            () => read(new Reader(bytes, 0, end)),
            (error) => error instanceof DecodeError && error.position >= 0 && error.position <= end,
          )
      })
      fc.assert(property, { seed: SEED })
    })

  const int64 = fc
    .bigInt({ min: INT64_MIN, max: INT64_MAX })
    .map((value) => (Number.isSafeInteger(Number(value)) ? Number(value) : value))
  roundTrip(
    'bool',
    fc.boolean(),
    (w, v) => w.bool(v),
    (r) => r.bool(),
  )
  roundTrip(
    'int8',
    fc.integer({ min: -128, max: 127 }),
    (w, v) => w.int8(v),
    (r) => r.int8(),
  )
  roundTrip(
    'int16',
    fc.integer({ min: -32768, max: 32767 }),
    (w, v) => w.int16(v),
    (r) => r.int16(),
  )
  roundTrip(
    'uint16',
    fc.integer({ min: 0, max: 65535 }),
    (w, v) => w.uint16(v),
    (r) => r.uint16(),
  )
  roundTrip(
    'int32',
    fc.integer(),
    (w, v) => w.int32(v),
    (r) => r.int32(),
  )
  roundTrip(
    'uint32',
    fc.integer({ min: 0, max: 0xffffffff }),
    (w, v) => w.uint32(v),
    (r) => r.uint32(),
  )
  roundTrip(
    'safe int64',
    fc.maxSafeInteger(),
    (w, v) => w.int64(v),
    (r) => r.int64(),
  )
  roundTrip(
    'exact int64',
    int64,
    (w, v) => w.int64(v),
    (r) => r.exactInt64(),
  )
  roundTrip(
    'float64',
    fc.double(),
    (w, v) => w.float64(v),
    (r) => r.float64(),
  )
  roundTrip(
    'unsigned varint',
    fc.integer({ min: 0, max: 0xffffffff }),
    (w, v) => w.unsignedVarint(v),
    (r) => r.unsignedVarint(),
  )
  roundTrip(
    'varint',
    fc.integer(),
    (w, v) => w.varint(v),
    (r) => r.varint(),
  )
  roundTrip(
    'varlong',
    int64,
    (w, v) => w.varlong(v),
    (r) => r.varlong(),
  )
  const uuid = fc.uint8Array({ minLength: 16, maxLength: 16 }).map((array) => Buffer.from(array).toString('base64url'))
  roundTrip(
    'uuid',
    fc.oneof(uuid, fc.constant(ZERO_UUID)),
    (w, v) => w.uuid(v),
    (r) => r.uuid(),
  )
  const text = fc.string({ unit: 'grapheme', maxLength: 80 })
  roundTrip(
    'string',
    text,
    (w, v) => w.string(v, false),
    (r) => r.nullableString(false),
  )
  roundTrip(
    'compact string',
    text,
    (w, v) => w.string(v, true),
    (r) => r.nullableString(true),
  )

  it('write varints and varlongs as Kafka does', () => {
    const { varint, varlong } = vectors.json<{
      varint: { value: number; zigzag: string; unsigned: string }[]
      varlong: { value: string; zigzag: string }[]
    }>('misc/functions.json')
    for (const { value, zigzag, unsigned } of varint) {
      assert.equal(bytesOf((writer) => writer.varint(value)).toString('hex'), zigzag)
      assert.equal(bytesOf((writer) => writer.unsignedVarint(value >>> 0)).toString('hex'), unsigned)
    }
    for (const { value, zigzag } of varlong)
      assert.equal(bytesOf((writer) => writer.varlong(BigInt(value))).toString('hex'), zigzag)
  })

  it('refuse an int64 beyond the safe range, or clamp it where asked', () => {
    const bytes = bytesOf((writer) => {
      writer.int64(INT64_MAX)
      writer.int64(INT64_MIN)
      writer.int64(-(2n ** 53n))
    })
    for (const at of [0, 8, 16]) assert.throws(() => new Reader(bytes, at).int64(), DecodeError)
    assert.equal(new Reader(bytes, 0).clampedInt64(), Number.MAX_SAFE_INTEGER)
    assert.equal(new Reader(bytes, 8).clampedInt64(), Number.MIN_SAFE_INTEGER)
    assert.equal(new Reader(bytes, 16).clampedInt64(), Number.MIN_SAFE_INTEGER)
  })

  it('refuse varints that go on for too long', () => {
    assert.throws(() => new Reader(Buffer.alloc(12, 0x80)).unsignedVarint(), /longer than 5 bytes/)
    assert.throws(() => new Reader(Buffer.alloc(12, 0x80)).varlong(), /longer than 10 bytes/)
  })

  it('refuse what is no uuid', () => {
    for (const text of [
      '',
      'A'.repeat(21),
      'A'.repeat(23),
      `${'A'.repeat(21)}B`,
      `${'A'.repeat(20)}+A`,
      'é'.repeat(22),
      'Ā'.repeat(22),
    ])
      assert.throws(() => bytesOf((writer) => writer.uuid(text)), EncodeError, text)
  })
})

describe('writers', () => {
  it('never touch what an earlier one gave away', () => {
    const first = bytesOf((writer) => writer.string('first', false))
    const kept = first.toString('hex')
    for (let count = 0; count < 5000; count++) bytesOf((writer) => writer.string(`later ${count}`, false))
    assert.equal(first.toString('hex'), kept)
  })

  it('do not share their place while two are at work', () => {
    const [one, two] = [new Writer(), new Writer()]
    for (let count = 0; count < 10_000; count++) {
      one.int32(1)
      two.int32(2)
    }
    assert.ok(one.toBuffer().equals(Buffer.alloc(40_000, Buffer.from('00000001', 'hex'))))
    assert.ok(two.toBuffer().equals(Buffer.alloc(40_000, Buffer.from('00000002', 'hex'))))
  })

  it('keep the order of own bytes and referenced buffers, and their total', () => {
    const writer = new Writer()
    const big = Buffer.alloc(100_000, 7)
    writer.int8(1)
    writer.reference(big)
    writer.reference(Buffer.alloc(0))
    writer.raw(Buffer.alloc(50_000, 9))
    writer.reference(Buffer.from('end'))
    assert.equal(writer.size, 150_004)
    const slices = writer.slices()
    assert.equal(slices.length, 4)
    assert.equal(slices[1], big)
    assert.ok(Buffer.concat(slices).equals(Buffer.concat([Buffer.from([1]), big, Buffer.alloc(50_000, 9), Buffer.from('end')])))
  })

  it('go back to a mark', () => {
    const writer = new Writer()
    writer.int32(1)
    const mark = writer.mark()
    writer.reference(Buffer.from('dropped'))
    writer.raw(Buffer.alloc(40_000))
    writer.reset(mark)
    writer.int8(2)
    assert.equal(writer.size, 5)
    assert.equal(writer.toBuffer().toString('hex'), '0000000102')
  })
})
