/** Record batches of every magic, good and damaged, as Apache Kafka 3.9.1 wrote and judged them. */
import assert from 'node:assert/strict'
import { vectors } from '../../../../conformance/index.js'
import { codecName, useCodecs, type Way } from '../compression/index.js'
import { ZSTD } from '../compression/zstd.js'
import { errorCode } from '../errors.js'
import { type AnyBatch, iterateAnyBatches } from './any.js'
import { RecordBatch } from './batch.js'
import { BatchBuilder } from './builder.js'
import { readControlRecord } from './control.js'
import { downConvert, upConvert } from './convert.js'
import { RecordsError } from './errors.js'
import { iterateBatches } from './iterate.js'
import { LegacyBatch } from './legacy.js'
import { MessageSetBuilder } from './legacy-builder.js'
import type { LegacyMagic } from './legacy-layout.js'
import type { RecordView } from './record.js'

interface RecordVector {
  offset: number
  timestamp: number
  sequence: number
  sizeInBytes: number
  key: string | null
  value: string | null
  headers?: { key: string; value: string | null }[]
  controlType?: string
}

interface BatchVector {
  position: number
  sizeInBytes: number
  magic: number
  length: number
  crc: number
  attributes: number
  compression: string
  compressionId: number
  timestampType: string
  baseOffset: number
  lastOffset: number
  maxTimestamp: number
  records: RecordVector[]
  // of magic 2
  nextOffset: number
  lastOffsetDelta: number
  partitionLeaderEpoch: number
  baseTimestampField: number
  isTransactional: boolean
  isControlBatch: boolean
  deleteHorizonMs: number | null
  producerId: number
  producerEpoch: number
  baseSequence: number
  lastSequence: number
  recordsCount: number
  // of magic 0 and 1
  wrapperOffset: number
}

interface Outcome {
  magic: number
  ensureValid: string
  ensureValidErrorCode?: number
  iterate: string
  iterateErrorCode?: number
  iterateRecords: number
  streamingRecords: number
}

interface Damaged {
  name: string
  damage: string
  result: { batchIteration: string; batchIterationErrorCode?: number; batches: Outcome[] }
}

const names = (group: string): string[] =>
  vectors
    .files(`records/${group}`)
    .filter((path) => path.endsWith('.json'))
    .map((path) => path.slice(0, -'.json'.length))

const base64 = (bytes: Buffer | null): string | null => (bytes === null ? null : bytes.toString('base64'))

function assertRecords(actual: Iterable<RecordView>, expected: RecordVector[]): void {
  const records = [...actual]
  assert.equal(records.length, expected.length)
  for (const [i, record] of records.entries()) {
    const { headers = [], controlType, ...plain } = expected[i]!
    const { offset, timestamp, sequence, sizeInBytes } = record
    assert.deepEqual({ offset, timestamp, sequence, sizeInBytes, key: base64(record.key), value: base64(record.value) }, plain)
    assert.deepEqual(
      record.headers.map(({ key, value }) => ({ key, value: base64(value) })),
      headers,
    )
    if (controlType !== undefined) assert.equal(readControlRecord(record).type, controlType)
  }
}

function assertBatch(batch: AnyBatch, expected: BatchVector): void {
  assert.equal(batch.at, expected.position)
  for (const name of ['sizeInBytes', 'magic', 'crc', 'attributes', 'timestampType', 'lastOffset', 'maxTimestamp'] as const) {
    assert.equal(batch[name], expected[name], name)
  }
  assert.equal(batch.codec, expected.compressionId)
  assert.equal(codecName(batch.codec), expected.compression)
  assert.equal(batch.crcIsValid(), true)
  if (batch instanceof LegacyBatch) {
    assert.equal(batch.lastOffset, expected.wrapperOffset)
    assert.equal(batch.baseOffset(), expected.baseOffset)
  } else {
    const { baseOffset, lastOffsetDelta, nextOffset, partitionLeaderEpoch, isTransactional, deleteHorizonMs } = batch
    const { producerId, producerEpoch, baseSequence, lastSequence } = batch
    const actual = { baseOffset, lastOffsetDelta, nextOffset, partitionLeaderEpoch, isTransactional, deleteHorizonMs }
    for (const [name, value] of Object.entries({ ...actual, producerId, producerEpoch, baseSequence, lastSequence })) {
      assert.equal(value, expected[name as keyof BatchVector], name)
    }
    assert.equal(batch.baseTimestamp, expected.baseTimestampField)
    assert.equal(batch.isControl, expected.isControlBatch)
    assert.equal(batch.recordCount, expected.recordsCount)
  }
  assertRecords(batch.records(), expected.records)
}

/** The batch written again from what was read. */
function rebuild(batch: RecordBatch): Buffer {
  const builder = new BatchBuilder({
    codec: codecName(batch.codec)!,
    timestampType: batch.timestampType,
    logAppendTime: batch.maxTimestamp,
    producerId: batch.producerId,
    producerEpoch: batch.producerEpoch,
    baseSequence: batch.baseSequence,
    transactional: batch.isTransactional,
    control: batch.isControl,
    baseOffset: batch.baseOffset,
    leaderEpoch: batch.partitionLeaderEpoch,
    ...(batch.deleteHorizonMs === null ? {} : { deleteHorizonMs: batch.deleteHorizonMs }),
  })
  const cursor = batch.cursor()
  for (const record of batch.records()) {
    cursor.next()
    // With LogAppendTime the records' own times are still in the bytes.
    const timestamp =
      batch.timestampType === 'LogAppendTime' ? batch.baseTimestamp + cursor.timestampDelta : record.exactTimestamp
    assert.equal(
      builder.tryAppend({ timestamp, key: record.key, value: record.value, headers: record.headers, offset: record.offset }),
      true,
    )
  }
  return builder.build()
}

function rebuildMessages(batch: LegacyBatch): Buffer {
  const builder = new MessageSetBuilder({
    magic: batch.magic as LegacyMagic,
    codec: codecName(batch.codec) as 'none',
    timestampType: batch.timestampType === 'LogAppendTime' ? 'LogAppendTime' : 'CreateTime',
    logAppendTime: batch.maxTimestamp,
  })
  for (const { offset, exactTimestamp, key, value } of batch.records())
    builder.append({ offset, timestamp: exactTimestamp, key, value })
  return builder.build()
}

const ways: Way[] = ['native', 'portable']

for (const way of ways) {
  describe(`record batches given by Kafka (${way} codecs)`, () => {
    before(() => useCodecs(way))
    after(() => useCodecs('native'))

    for (const path of [...names('v2'), ...names('old')]) {
      it(`reads and writes ${path}`, () => {
        const bytes = vectors.bytes(`${path}.bin`)
        const expected = vectors.json<{ batches: BatchVector[] }>(`${path}.json`).batches
        const batches = [...iterateAnyBatches(bytes)]
        assert.equal(batches.length, expected.length)
        for (const [i, batch] of batches.entries()) {
          assertBatch(batch, expected[i]!)
          if (expected[i]!.records.length === 0) continue
          const again = batch instanceof RecordBatch ? rebuild(batch) : rebuildMessages(batch)
          if (batch.codec === 0) assert.deepEqual(again, batch.slice())
          else assertRecords([...iterateAnyBatches(again)][0]!.records(), expected[i]!.records)
        }
      })
    }

    for (const path of names('downconverted')) {
      it(`converts ${path}`, () => {
        const given = vectors.json<{ sourceBase64: string; downConvertErrorCode?: number; batches: BatchVector[] }>(
          `${path}.json`,
        )
        const source = Buffer.from(given.sourceBase64, 'base64')
        const toMagic = path.endsWith('v0') ? 0 : 1
        if (given.downConvertErrorCode !== undefined) {
          assert.throws(
            () => downConvert(source, toMagic, 0),
            (error) => error instanceof RecordsError && errorCode(error.error) === given.downConvertErrorCode,
          )
          return
        }
        const converted = downConvert(source, toMagic, 0)
        const expected = vectors.bytes(`${path}.bin`)
        if (given.batches[0]!.compressionId === 0) assert.deepEqual(converted, expected)
        for (const [i, batch] of [...iterateAnyBatches(converted)].entries()) {
          const { sizeInBytes, magic, lastOffset, maxTimestamp, timestampType, codec } = batch
          const want = given.batches[i]!
          assert.deepEqual(
            [magic, lastOffset, maxTimestamp, timestampType, codec],
            [want.magic, want.lastOffset, want.maxTimestamp, want.timestampType, want.compressionId],
          )
          assert.ok(sizeInBytes > 0)
          assertRecords(batch.records(), want.records)
        }
      })
    }

    for (const path of names('corrupt')) {
      const given = vectors.json<Damaged>(`${path}.json`)
      it(`judges ${path}: ${given.damage}`, () => judge(vectors.bytes(`${path}.bin`), given))
    }
  })
}

/** Kafka's codes, but where a class of the JVM shows through (-1): an unknown codec is 76, a length that cannot be is 2, else 87. */
function ours(code: number, batch: AnyBatch | undefined): number {
  if (code !== -1) return code
  if (batch === undefined) return 2
  return codecName(batch.codec) === undefined ? 76 : 87
}

function judge(bytes: Buffer, { result }: Damaged): void {
  const batches: AnyBatch[] = []
  let stopped: RecordsError | undefined
  try {
    for (const batch of iterateAnyBatches(bytes)) batches.push(batch)
  } catch (error) {
    assert.ok(error instanceof RecordsError, String(error))
    stopped = error
  }
  if (batches.length < result.batches.length) {
    // A batch that is shorter than its header: Kafka walks over it and then refuses it, we stop walking. The same error.
    assert.equal(result.batches[batches.length]!.ensureValidErrorCode, 2)
    assert.equal(stopped?.error, 'CORRUPT_MESSAGE')
  } else {
    assert.equal(batches.length, result.batches.length)
    const code = result.batchIterationErrorCode
    assert.equal(stopped && errorCode(stopped.error), code === undefined ? undefined : ours(code, undefined))
  }
  for (const [i, batch] of batches.entries()) {
    const expected = result.batches[i]!
    assert.equal(batch.magic, expected.magic)
    assert.equal(batch.crcIsValid(), expected.ensureValid === 'ok')
    let count = 0
    let failed: RecordsError | undefined
    try {
      for (const record of batch.records()) {
        assert.ok(record.headers)
        count++
      }
    } catch (error) {
      assert.ok(error instanceof RecordsError, String(error))
      failed = error
    }
    const code = expected.iterateErrorCode
    assert.equal(failed && errorCode(failed.error), code === undefined ? undefined : ours(code, batch))
    // Kafka has two readers of compressed batches; we see what one of them sees.
    const counts = batch.codec === 0 ? [expected.iterateRecords] : [expected.iterateRecords, expected.streamingRecords]
    assert.ok(counts.includes(count), `${count} records before the failure, not ${counts}`)
  }
}

describe('message sets as batches of magic 2', () => {
  for (const path of names('old').filter((name) => !name.includes('mixed'))) {
    it(`keeps the records of ${path}, with offsets of its own`, () => {
      const expected = vectors.json<{ batches: BatchVector[] }>(`${path}.json`).batches.flatMap((batch) => batch.records)
      const [batch, ...more] = iterateBatches(
        upConvert(vectors.bytes(`${path}.bin`), { baseOffset: 100, leaderEpoch: 7, codec: 'gzip' }),
      )
      assert.equal(more.length, 0)
      assert.equal(batch!.crcIsValid(), true)
      assert.equal(batch!.partitionLeaderEpoch, 7)
      assert.equal(batch!.maxTimestamp, Math.max(...expected.map(({ timestamp }) => timestamp)))
      const records = [...batch!.records()]
      assert.deepEqual(
        records.map(({ offset, timestamp, key, value }) => ({ offset, timestamp, key: base64(key), value: base64(value) })),
        expected.map(({ timestamp, key, value }, i) => ({ offset: 100 + i, timestamp, key, value })),
      )
    })
  }

  it('are refused when their magics are mixed with magic 2', () => {
    assert.throws(() => upConvert(vectors.bytes('records/old/mixed-v0-v1-v2.bin')), RecordsError)
  })
})

it('zstd of node:zlib is used where Node has it', () => {
  assert.equal(ZSTD.native !== undefined, 'zstdCompressSync' in require('node:zlib'))
})
