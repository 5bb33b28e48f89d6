import assert from 'node:assert/strict'
import { BatchBuilder, type CodecName, endTransactionMarker, MessageSetBuilder, RECORD_BATCH, RecordBatch } from '@mq/protocol'
import { batch, type TestBatch } from './log.test.support.js'
import { DEFAULT_TOPIC_CONFIG, type TopicConfig } from './topic-config.js'
import { type Validated, type ValidateOptions, validate } from './validate.js'

const NOW = 1_700_000_000_000

function run(records: Buffer, config: Partial<TopicConfig> = {}, options: Partial<ValidateOptions> = {}) {
  return validate(records, {
    origin: 'client',
    leaderEpoch: 4,
    firstOffset: 100,
    now: NOW,
    config: { ...DEFAULT_TOPIC_CONFIG, ...config },
    ...options,
  })
}

function accepted(records: Buffer, config: Partial<TopicConfig> = {}, options: Partial<ValidateOptions> = {}): Validated {
  const outcome = run(records, config, options)
  assert.equal(outcome.kind, 'validated', JSON.stringify(outcome))
  return outcome as Validated
}

function errorOf(records: Buffer, config: Partial<TopicConfig> = {}, options: Partial<ValidateOptions> = {}): string {
  const outcome = run(records, config, options)
  return outcome.kind === 'refused' ? outcome.error : 'none'
}

const valuesOf = ({ batch: one }: Validated) => [...one.records()].map(({ value }) => String(value))
const CODECS: readonly CodecName[] = ['none', 'gzip', 'snappy', 'lz4', 'zstd']

describe('validating a batch', () => {
  it('writes offset and leader epoch in place and leaves the rest, the CRC too, as it was', () => {
    for (const codec of CODECS) {
      const records = batch({ codec, values: ['a', 'b', 'c'] })
      const before = Buffer.from(records)
      const outcome = accepted(records)
      assert.equal(outcome.batch.bytes, records, 'no copy was made')
      assert.deepEqual([outcome.firstOffset, outcome.lastOffset, outcome.logAppendTime], [100, 102, -1])
      assert.deepEqual([outcome.batch.baseOffset, outcome.batch.partitionLeaderEpoch], [100, 4])
      RECORD_BATCH.baseOffset.set(records, 0, 0)
      RECORD_BATCH.partitionLeaderEpoch.set(records, 0, -1)
      assert.deepEqual(records, before)
    }
  })

  it('puts a largest timestamp right that the records contradict, with a new CRC', () => {
    for (const codec of CODECS) {
      const records = batch({ codec, values: ['a', 'b'], timestamps: [50, 40] })
      RECORD_BATCH.maxTimestamp.set(records, 0, 99)
      RECORD_BATCH.crc.set(records, 0, new RecordBatch(records).computeCrc())
      const outcome = accepted(records)
      assert.deepEqual([outcome.maxTimestamp, outcome.batch.maxTimestamp], [50, 50])
      assert.ok(outcome.batch.crcIsValid())
    }
  })

  it('gives all records the time of the append where the topic says so', () => {
    for (const codec of CODECS) {
      const outcome = accepted(batch({ codec, values: ['a', 'b'], timestamps: [1, 2] }), {
        'message.timestamp.type': 'LogAppendTime',
      })
      assert.deepEqual([outcome.logAppendTime, outcome.maxTimestamp, outcome.batch.timestampType], [NOW, NOW, 'LogAppendTime'])
      assert.deepEqual(
        [...outcome.batch.records()].map(({ timestamp }) => timestamp),
        [NOW, NOW],
      )
      assert.ok(outcome.batch.crcIsValid())
    }
  })

  it('clears unused attribute bits only when it writes the header anew', () => {
    const odd = (timestamp: number) => {
      const records = batch({ timestamp })
      RECORD_BATCH.attributes.set(records, 0, 0x100)
      RECORD_BATCH.crc.set(records, 0, new RecordBatch(records).computeCrc())
      return records
    }
    assert.equal(accepted(odd(5)).batch.attributes, 0x100)
    assert.equal(accepted(odd(5), { 'message.timestamp.type': 'LogAppendTime' }).batch.attributes, 0x08)
  })

  it('stores batches with the codec of the topic, whatever they came in', () => {
    for (const [at, wanted] of (['uncompressed', 'gzip', 'snappy', 'lz4', 'zstd'] as const).entries()) {
      for (const codec of CODECS) {
        const given = batch({ codec, values: ['a', 'b'], timestamps: [7, 9], producerId: 3, producerEpoch: 1, baseSequence: 5 })
        const outcome = accepted(given, { 'compression.type': wanted })
        assert.equal(outcome.batch.codec, at)
        assert.deepEqual(valuesOf(outcome), ['a', 'b'])
        assert.deepEqual(
          [...outcome.batch.records()].map(({ offset, timestamp }) => [offset, timestamp]),
          [
            [100, 7],
            [101, 9],
          ],
        )
        assert.deepEqual([outcome.batch.producerId, outcome.batch.producerEpoch, outcome.batch.baseSequence], [3, 1, 5])
        assert.deepEqual([outcome.batch.partitionLeaderEpoch, outcome.maxTimestamp, outcome.lastOffset], [4, 9, 101])
        assert.ok(outcome.batch.crcIsValid())
      }
    }
  })

  it('keeps headers and nulls when it compresses anew', () => {
    const builder = new BatchBuilder()
    builder.tryAppend({
      timestamp: 1,
      key: null,
      value: null,
      headers: [
        { key: 'h', value: Buffer.from('x') },
        { key: 'h', value: null },
      ],
    })
    const [record] = accepted(builder.build(), { 'compression.type': 'gzip' }).batch.records()
    assert.deepEqual([record!.key, record!.value], [null, null])
    assert.deepEqual(
      record!.headers.map(({ key, value }) => [key, value === null ? null : String(value)]),
      [
        ['h', 'x'],
        ['h', null],
      ],
    )
  })

  it('refuses more than max.message.bytes, before and after compressing', () => {
    const large = batch({ values: ['x'.repeat(1000)] })
    assert.equal(errorOf(Buffer.from(large), { 'max.message.bytes': large.length }), 'none')
    assert.equal(errorOf(Buffer.from(large), { 'max.message.bytes': large.length - 1 }), 'MESSAGE_TOO_LARGE')
    const small = batch({ codec: 'gzip', values: ['x'.repeat(1000)] })
    assert.equal(errorOf(Buffer.from(small), { 'max.message.bytes': 500 }), 'none')
    assert.equal(
      errorOf(Buffer.from(small), { 'max.message.bytes': 500, 'compression.type': 'uncompressed' }),
      'MESSAGE_TOO_LARGE',
    )
  })

  it('wants a key on a compacted topic and says which record has none', () => {
    for (const codec of CODECS) {
      const outcome = run(batch({ codec, values: ['a', 'b', 'c'], keys: ['k', null, null] }), {
        'cleanup.policy': ['compact', 'delete'],
      })
      assert.equal(outcome.kind === 'refused' && outcome.error, 'INVALID_RECORD')
      assert.deepEqual(outcome.kind === 'refused' && outcome.recordErrors?.map(({ batchIndex }) => batchIndex), [1, 2])
    }
    assert.equal(errorOf(batch({ values: ['a'], keys: ['k'] }), { 'cleanup.policy': ['compact'] }), 'none')
    assert.equal(errorOf(batch({ values: [null], keys: ['k'] }), { 'cleanup.policy': ['compact'] }), 'none')
  })

  it('refuses times too far from now, but not without limits nor by the time of the append', () => {
    const hour = 3_600_000
    const limits = { 'message.timestamp.before.max.ms': hour, 'message.timestamp.after.max.ms': hour }
    const at = (timestamp: number) => batch({ timestamp })
    for (const [timestamp, error] of [
      [NOW - hour, 'none'],
      [NOW - hour - 1, 'INVALID_TIMESTAMP'],
      [NOW + hour, 'none'],
      [NOW + hour + 1, 'INVALID_TIMESTAMP'],
      [-1, 'none'],
    ] as const) {
      assert.equal(errorOf(at(timestamp), limits), error, `${timestamp - NOW}`)
      assert.equal(errorOf(at(timestamp)), 'none')
      assert.equal(errorOf(at(timestamp), { ...limits, 'message.timestamp.type': 'LogAppendTime' }), 'none')
    }
    const outcome = run(batch({ values: ['a', 'b'], timestamps: [NOW, 5] }), limits)
    assert.deepEqual(outcome.kind === 'refused' && outcome.recordErrors?.map(({ batchIndex }) => batchIndex), [1])
  })

  it('lists at most a thousand wrong records', () => {
    const outcome = run(
      batch({ values: Array.from({ length: 3000 }, () => 'v'), keys: Array.from({ length: 3000 }, () => null) }),
      {
        'cleanup.policy': ['compact'],
      },
    )
    assert.equal(outcome.kind === 'refused' && outcome.recordErrors?.length, 1000)
  })

  const wrong: Record<string, [error: string, TestBatch, ((bytes: Buffer) => void)?]> = {
    'a base offset': ['INVALID_RECORD', { baseOffset: 1 }],
    'control records': ['INVALID_RECORD', { control: true }],
    'a producer id without a sequence': ['INVALID_RECORD', { producerId: 1, producerEpoch: 0 }],
    'a count that is too high': ['INVALID_RECORD', {}, (bytes) => RECORD_BATCH.recordCount.set(bytes, 0, 2)],
    'an unknown codec': ['UNSUPPORTED_COMPRESSION_TYPE', {}, (bytes) => RECORD_BATCH.attributes.set(bytes, 0, 5)],
    'LogAppendTime set by the producer on records without a time': [
      'INVALID_TIMESTAMP',
      { timestampType: 'LogAppendTime', timestamp: -1 },
    ],
  }
  for (const [what, [error, options, change]] of Object.entries(wrong)) {
    it(`refuses ${what}`, () => {
      const records = batch(options)
      change?.(records)
      RECORD_BATCH.crc.set(records, 0, new RecordBatch(records).computeCrc())
      assert.equal(errorOf(records), error)
    })
  }

  it('refuses two batches at once, nothing, and damage', () => {
    assert.equal(errorOf(Buffer.concat([batch(), batch()])), 'INVALID_RECORD')
    assert.equal(errorOf(Buffer.alloc(0)), 'INVALID_RECORD')
    const damaged = batch()
    damaged[65]! ^= 1
    assert.equal(errorOf(damaged), 'CORRUPT_MESSAGE')
  })

  it('takes a control batch from a coordinator', () => {
    const marker = endTransactionMarker({ producerId: 1, producerEpoch: 0, commit: true, coordinatorEpoch: 2, timestamp: 5 })
    const outcome = accepted(marker, { 'cleanup.policy': ['compact'], 'compression.type': 'gzip' }, { origin: 'coordinator' })
    assert.deepEqual([outcome.batch.isControl, outcome.batch.codec, outcome.firstOffset, outcome.lastOffset], [true, 0, 100, 100])
  })
})

describe('validating what old clients send', () => {
  const set = (magic: 0 | 1, codec: Exclude<CodecName, 'zstd'> = 'none') => {
    const builder = new MessageSetBuilder({ magic, codec })
    for (const [offset, value] of ['a', 'b', 'c'].entries())
      builder.append({ offset, timestamp: 10 + offset, key: Buffer.from('k'), value: Buffer.from(value) })
    return builder.build()
  }

  for (const magic of [0, 1] as const) {
    for (const codec of ['none', 'gzip', 'snappy', 'lz4'] as const) {
      it(`converts magic ${magic} with codec ${codec} into one batch of the current format`, () => {
        const outcome = accepted(set(magic, codec))
        assert.deepEqual(
          [outcome.batch.magic, outcome.firstOffset, outcome.lastOffset, outcome.batch.partitionLeaderEpoch],
          [2, 100, 102, 4],
        )
        assert.equal(outcome.batch.codec, ['none', 'gzip', 'snappy', 'lz4'].indexOf(codec))
        assert.deepEqual(valuesOf(outcome), ['a', 'b', 'c'])
        assert.deepEqual(
          [...outcome.batch.records()].map(({ timestamp }) => timestamp),
          magic === 0 ? [-1, -1, -1] : [10, 11, 12],
        )
        assert.ok(outcome.batch.crcIsValid())
      })
    }
  }

  it('gives them the time of the append, and holds them to the rules of the topic', () => {
    const outcome = accepted(set(1), { 'message.timestamp.type': 'LogAppendTime' })
    assert.deepEqual(
      [...outcome.batch.records()].map(({ timestamp }) => timestamp),
      [NOW, NOW, NOW],
    )
    assert.equal(errorOf(set(1), { 'message.timestamp.before.max.ms': 1000 }), 'INVALID_TIMESTAMP')
    assert.equal(errorOf(set(1), { 'max.message.bytes': 20 }), 'MESSAGE_TOO_LARGE')
  })

  it('refuses mixed formats, two wrappers and damage', () => {
    assert.equal(errorOf(Buffer.concat([set(0), set(1)])), 'INVALID_RECORD')
    assert.equal(errorOf(Buffer.concat([set(1), batch()])), 'INVALID_RECORD')
    assert.equal(errorOf(Buffer.concat([set(1, 'gzip'), set(1, 'gzip')])), 'INVALID_RECORD')
    const damaged = set(1)
    damaged[30]! ^= 1
    assert.equal(errorOf(damaged), 'CORRUPT_MESSAGE')
  })
})
