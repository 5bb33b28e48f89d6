/** What is built is what is read, within the budget. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { vectors } from '../../../../conformance/index.js'
import { CODECS, type CodecName } from '../compression/index.js'
import { RecordBatch } from './batch.js'
import { type AppendRecord, BatchBuilder } from './builder.js'
import { endTransactionMarker, readControlRecord } from './control.js'
import { downConvert, upConvert } from './convert.js'
import { RECORD_BATCH } from './layout.js'
import { readMessageSet } from './legacy.js'
import { propertyOptions } from './property-options.test.support.js'

const part = fc.option(fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)))
const record = fc.record(
  {
    timestamp: fc.oneof(fc.integer({ min: 1_600_000_000_000, max: 1_900_000_000_000 }), fc.maxSafeInteger(), fc.constant(-1)),
    key: part,
    value: part,
    headers: fc.array(
      fc.record({ key: fc.string({ unit: 'grapheme', maxLength: 20 }), value: part }, { noNullPrototype: true }),
      { maxLength: 3 },
    ),
  },
  { noNullPrototype: true },
)
const codec = fc.constantFrom(...(Object.keys(CODECS) as CodecName[]))

function build(records: readonly AppendRecord[], options: ConstructorParameters<typeof BatchBuilder>[0]): RecordBatch {
  const builder = new BatchBuilder(options)
  for (const one of records) assert.equal(builder.tryAppend(one), true)
  return new RecordBatch(builder.build())
}

describe('BatchBuilder', function () {
  this.timeout(10_000)

  it('writes what a reader finds', () => {
    fc.assert(
      fc.property(
        fc.array(record, { minLength: 1, maxLength: 20 }),
        fc.record({
          codec,
          baseOffset: fc.maxSafeNat().map((offset) => Math.min(offset, Number.MAX_SAFE_INTEGER - 100)),
          leaderEpoch: fc.nat(),
          producerId: fc.maxSafeNat(),
          producerEpoch: fc.nat(32767),
          baseSequence: fc.nat(0x7fffffff),
          transactional: fc.boolean(),
          control: fc.boolean(),
        }),
        (records, options) => {
          const batch = build(records, options)
          assert.equal(batch.crcIsValid(), true)
          assert.equal(batch.codec, CODECS[options.codec].id)
          assert.equal(batch.baseOffset, options.baseOffset)
          assert.equal(batch.partitionLeaderEpoch, options.leaderEpoch)
          assert.equal(batch.producerId, options.producerId)
          assert.equal(batch.producerEpoch, options.producerEpoch)
          assert.equal(batch.baseSequence, options.baseSequence)
          assert.equal(batch.isTransactional, options.transactional)
          assert.equal(batch.isControl, options.control)
          assert.equal(batch.maxTimestamp, Math.max(...records.map(({ timestamp }) => timestamp)))
          assert.equal(batch.recordCount, records.length)
          assert.equal(batch.lastOffset, options.baseOffset + records.length - 1)
          assert.deepEqual(
            [...batch.records()].map(({ timestamp, key, value, headers }) => ({ timestamp, key, value, headers })),
            records,
          )
          const sequences = [...batch.records()].map(({ sequence }) => sequence)
          assert.deepEqual(
            sequences,
            records.map((_, i) => (options.baseSequence + i) % 2 ** 31),
          )
          assert.equal(batch.lastSequence, sequences.at(-1))
        },
      ),
      propertyOptions(),
    )
  })

  it('writes strings as UTF-8', () => {
    const [read] = build([{ timestamp: 1, key: 'ключ', value: '', headers: [{ key: '鍵', value: '🗝' }] }], {}).records()
    assert.deepEqual(read!.key, Buffer.from('ключ'))
    assert.deepEqual(read!.value, Buffer.alloc(0))
    assert.deepEqual(read!.headers, [{ key: '鍵', value: Buffer.from('🗝') }])
  })

  it('writes long strings of any characters, also where a batch ends', () => {
    const texts = ['a', 'é', '€', '😀', '\ud800'].flatMap((character) =>
      [32, 33, 40, 300].flatMap((length) => ['', 'x', 'xy'].map((before) => before + character + 'a'.repeat(length) + character)),
    )
    const builder = new BatchBuilder({})
    for (const value of texts) assert.equal(builder.tryAppend({ timestamp: 1, key: value, value }), true)
    const read = [...new RecordBatch(builder.build()).records()]
    assert.deepEqual(
      read.map(({ value }) => value!.toString('hex')),
      texts.map((text) => Buffer.from(text).toString('hex')),
    )
    for (const text of texts) {
      const exact = new BatchBuilder({})
      exact.tryAppend({ timestamp: 1, key: null, value: text })
      exact.tryAppend({ timestamp: 1, key: null, value: text })
      for (const [maxBytes, fits] of [
        [exact.sizeInBytes, true],
        [exact.sizeInBytes - 1, false],
      ] as const) {
        const limited = new BatchBuilder({ maxBytes })
        limited.tryAppend({ timestamp: 1, key: null, value: text })
        assert.equal(limited.tryAppend({ timestamp: 1, key: null, value: text }), fits)
      }
    }
  })

  it('takes the first record always, others only within the budget', () => {
    fc.assert(
      fc.property(fc.array(record, { minLength: 1, maxLength: 30 }), fc.nat(2000), (records, maxBytes) => {
        const builder = new BatchBuilder({ maxBytes })
        assert.equal(builder.tryAppend(records[0]!), true)
        let taken = 1
        for (const one of records.slice(1)) {
          const before = builder.sizeInBytes
          if (builder.tryAppend(one)) {
            taken++
            assert.ok(builder.sizeInBytes <= maxBytes)
          } else {
            assert.equal(builder.sizeInBytes, before)
          }
        }
        const bytes = builder.build()
        assert.equal(builder.sizeInBytes, bytes.length)
        assert.equal([...new RecordBatch(bytes).records()].length, taken)
      }),
      propertyOptions(),
    )
  })

  it('keeps gaps in the offsets and refuses to go back', () => {
    const builder = new BatchBuilder({ baseOffset: 100 })
    builder.tryAppend({ timestamp: 1, key: null, value: null, offset: 103 })
    builder.tryAppend({ timestamp: 1, key: null, value: null, offset: 110 })
    builder.tryAppend({ timestamp: 1, key: null, value: null })
    assert.throws(() => builder.tryAppend({ timestamp: 1, key: null, value: null, offset: 111 }), RangeError)
    const batch = new RecordBatch(builder.build())
    assert.deepEqual(
      [...batch.records()].map(({ offset }) => offset),
      [103, 110, 111],
    )
    assert.equal(batch.lastOffset, 111)
    assert.equal(batch.recordCount, 3)
  })

  it('gives all records the time of the append where the topic asks for it', () => {
    const batch = build(
      [
        { timestamp: 5, key: null, value: 'a' },
        { timestamp: 9, key: null, value: 'b' },
      ],
      { timestampType: 'LogAppendTime', logAppendTime: 77 },
    )
    assert.equal(batch.timestampType, 'LogAppendTime')
    assert.equal(batch.maxTimestamp, 77)
    assert.deepEqual(
      [...batch.records()].map(({ timestamp }) => timestamp),
      [77, 77],
    )
  })

  it('carries a delete horizon in place of the base timestamp', () => {
    const batch = build([{ timestamp: 5000, key: 'a', value: null }], { deleteHorizonMs: 9000 })
    assert.equal(batch.deleteHorizonMs, 9000)
    assert.equal([...batch.records()][0]!.timestamp, 5000)
  })

  it('refuses what is neither bytes nor text nor null, and goes on', () => {
    const builder = new BatchBuilder()
    builder.tryAppend({ timestamp: 1, key: null, value: 'first' })
    const size = builder.sizeInBytes
    for (const odd of [
      { key: 5, value: 'v' },
      { key: null, value: true },
      { key: null, value: 'v', headers: [{ key: 'h', value: 5 }] },
    ])
      assert.throws(() => builder.tryAppend({ timestamp: 1, ...odd } as never), TypeError)
    assert.deepEqual([builder.recordCount, builder.sizeInBytes], [1, size])
    builder.tryAppend({ timestamp: 1, key: null, value: 'second' })
    assert.deepEqual(
      [...new RecordBatch(builder.build()).records()].map(({ value }) => String(value)),
      ['first', 'second'],
    )
  })

  it('is spent when it has built', () => {
    const builder = new BatchBuilder()
    assert.throws(() => builder.build(), RangeError)
    builder.tryAppend({ timestamp: 1, key: null, value: null })
    builder.build()
    assert.throws(() => builder.tryAppend({ timestamp: 1, key: null, value: null }), TypeError)
    assert.throws(() => builder.build(), TypeError)
  })
})

describe('transaction markers', () => {
  it('are the bytes that Kafka writes', () => {
    for (const [name, commit] of [
      ['commit', true],
      ['abort', false],
    ] as const) {
      const given = vectors.bytes(`records/v2/v2-control-${name}.bin`)
      const batch = new RecordBatch(given)
      const [marker] = batch.records()
      const { type, coordinatorEpoch } = readControlRecord(marker!)
      assert.equal(type, name.toUpperCase())
      const { producerId, producerEpoch } = batch
      const written = endTransactionMarker({
        producerId,
        producerEpoch,
        commit,
        coordinatorEpoch: coordinatorEpoch!,
        timestamp: marker!.timestamp,
        offset: batch.baseOffset,
        leaderEpoch: batch.partitionLeaderEpoch,
      })
      assert.deepEqual(written, given)
    }
  })

  it('are refused when their key or value is cut, and unknown types are known to be unknown', () => {
    const bytes = (hex: string): Buffer => Buffer.from(hex, 'hex')
    assert.equal(readControlRecord({ key: bytes('00000009'), value: null }).type, 'UNKNOWN')
    assert.equal(readControlRecord({ key: bytes('0000ffff'), value: null }).type, 'UNKNOWN')
    assert.equal(readControlRecord({ key: bytes('00010001'), value: bytes('000100000005ff') }).coordinatorEpoch, 5)
    for (const [key, value] of [
      [null, null],
      [bytes('000000'), null],
      [bytes('ffff0001'), bytes('000000000001')],
      [bytes('00000001'), null],
      [bytes('00000001'), bytes('0000000000')],
      [bytes('00000000'), bytes('ffff00000000')],
    ] as const) {
      assert.throws(() => readControlRecord({ key, value }), { error: 'INVALID_RECORD' })
    }
  })
})

describe('converting down and up again', () => {
  it('keeps keys, values, offsets and, in magic 1, timestamps', () => {
    const oldCodec = fc.constantFrom('none', 'gzip', 'snappy', 'lz4') as fc.Arbitrary<CodecName>
    fc.assert(
      fc.property(
        fc.array(record, { minLength: 1, maxLength: 10 }),
        oldCodec,
        fc.constantFrom(0, 1),
        fc.nat(1e6),
        (records, name, magic, base) => {
          const batch = build(records, { codec: name, baseOffset: base, producerId: 5, producerEpoch: 0, baseSequence: 0 })
          const old = downConvert(batch.slice(), magic as 0 | 1, base)
          const messages = [...readMessageSet(old)].flatMap((message) => {
            assert.equal(message.magic, magic)
            assert.equal(message.crcIsValid(), true)
            return [...message.records()]
          })
          const kept = records.map(({ timestamp, key, value }) => ({ timestamp: magic === 0 ? -1 : timestamp, key, value }))
          const shape = ({ timestamp, key, value }: AppendRecord) => ({ timestamp, key, value })
          assert.deepEqual(messages.map(shape), kept)
          assert.deepEqual(
            messages.map(({ offset }) => offset),
            records.map((_, i) => base + i),
          )
          const again = new RecordBatch(upConvert(old, { baseOffset: 7, codec: name }))
          assert.deepEqual([...again.records()].map(shape), kept)
          assert.equal(again.baseOffset, 7)
        },
      ),
      propertyOptions(),
    )
  })

  it('leaves out control batches, and records before the offset that was asked for', () => {
    const marker = endTransactionMarker({
      producerId: 1,
      producerEpoch: 0,
      commit: true,
      coordinatorEpoch: 0,
      timestamp: 1,
      offset: 0,
    })
    const data = build(
      ['a', 'b', 'c'].map((value) => ({ timestamp: 1, key: null, value })),
      { baseOffset: 1 },
    )
    const old = downConvert(Buffer.concat([marker, data.slice()]), 1, 2)
    assert.deepEqual(
      [...readMessageSet(old)].map(({ lastOffset }) => lastOffset),
      [2, 3],
    )
  })

  it('passes messages on that are old enough, and cuts off what is not whole', () => {
    const given = vectors.bytes('records/old/v0-none-basic.bin')
    assert.deepEqual(downConvert(given, 1, 0), given)
    assert.deepEqual(downConvert(Buffer.concat([given, given.subarray(0, 20)]), 0, 0), given)
  })

  it('counts what all wrappers give against the limit', () => {
    const wrapper = vectors.bytes('records/old/v1-gzip-large.bin')
    const size = [...[...readMessageSet(wrapper)][0]!.records()].reduce((sum, { sizeInBytes }) => sum + sizeInBytes, 0)
    const twice = Buffer.concat([wrapper, wrapper])
    assert.doesNotThrow(() => upConvert(twice, { maxOutputBytes: 2 * size }))
    assert.throws(() => upConvert(twice, { maxOutputBytes: 2 * size - 1 }), { error: 'INVALID_RECORD' })
  })
})

describe('RecordBatch', () => {
  it('is corrupt when its offsets are beyond 2^53-1, the exact value being still readable', () => {
    for (const offset of [2n ** 53n, -(2n ** 63n), 2n ** 63n - 1n]) {
      const bytes = Buffer.from(vectors.bytes('records/v2/v2-none-basic.bin'))
      RECORD_BATCH.baseOffset.set(bytes, 0, offset)
      assert.throws(() => new RecordBatch(bytes), { error: 'CORRUPT_MESSAGE' })
      assert.equal(RECORD_BATCH.baseOffset.exact(bytes, 0), offset)
    }
    const edge = Buffer.from(vectors.bytes('records/v2/v2-none-basic.bin'))
    RECORD_BATCH.baseOffset.set(edge, 0, Number.MAX_SAFE_INTEGER - 2)
    assert.throws(() => new RecordBatch(edge), { error: 'CORRUPT_MESSAGE' })
  })

  it('reads in place: its slices share the bytes it was given', () => {
    const bytes = Buffer.concat([Buffer.alloc(9), vectors.bytes('records/v2/v2-none-basic.bin')])
    const batch = new RecordBatch(bytes, 9)
    const [first] = batch.records()
    assert.equal(batch.slice().buffer, bytes.buffer)
    assert.equal(first!.value!.buffer, bytes.buffer)
    assert.equal(batch.crcIsValid(), true)
  })

  it('reads timestamps exactly where a number would not do', () => {
    const far = 2n ** 62n - 1n
    const batch = build(
      [
        { timestamp: 0, key: null, value: null },
        { timestamp: far, key: null, value: null },
      ],
      {},
    )
    assert.deepEqual(
      [...batch.records()].map(({ exactTimestamp }) => exactTimestamp),
      [0, far],
    )
    assert.equal(RECORD_BATCH.maxTimestamp.exact(batch.bytes, 0), far)
  })
})
