/** A survey tells what a cursor would, or nothing. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { RecordBatch } from './batch.js'
import { BatchBuilder } from './builder.js'
import { RecordsError } from './errors.js'
import { LOG_OVERHEAD, RECORD_BATCH } from './layout.js'
import { propertyOptions } from './property-options.test.support.js'
import type { Survey } from './survey.js'

interface Rec {
  readonly timestamp: number
  readonly key: number
  readonly value: number
  readonly headers: number
}

const bytesOf = (length: number): Buffer | null => (length < 0 ? null : Buffer.alloc(length, 'x'))

function batchOf(records: readonly Rec[]): Buffer {
  const builder = new BatchBuilder({})
  for (const { timestamp, key, value, headers } of records)
    builder.tryAppend({
      timestamp,
      key: bytesOf(key),
      value: bytesOf(value),
      headers: Array.from({ length: headers }, (_, at) => ({ key: `h${at}`, value: null })),
    })
  return builder.build()
}

/** As a cursor has it; null where it throws. */
function slowly(batch: RecordBatch): Survey | null {
  try {
    let recordCount = 0
    let largestTimestampDelta = Number.NEGATIVE_INFINITY
    let offsetsInOrder = true
    for (const cursor = batch.cursor(); cursor.next(); recordCount++) {
      largestTimestampDelta = Math.max(largestTimestampDelta, cursor.timestampDelta)
      if (cursor.offsetDelta !== recordCount) offsetsInOrder = false
    }
    return { recordCount, largestTimestampDelta, offsetsInOrder }
  } catch (error) {
    if (error instanceof RecordsError) return null
    throw error
  }
}

const lengths = fc.oneof(fc.constantFrom(-1, 0, 1, 63, 64, 8191, 8192), fc.integer({ min: 0, max: 200 }))
const plain = fc.record({
  timestamp: fc.integer({ min: 1_000_000, max: 1_008_000 }),
  key: fc.constantFrom(-1, 0, 10, 100),
  value: fc.constantFrom(-1, 0, 10, 1000),
  headers: fc.constant(0),
})
const any = fc.record({
  timestamp: fc.oneof(fc.integer({ min: 0, max: 20_000 }), fc.constantFrom(8191, 8192, 2 ** 40)),
  key: lengths,
  value: lengths,
  headers: fc.constantFrom(0, 0, 0, 1, 3),
})
/** Each byte of it counts. */
const tiny = fc.record({
  timestamp: fc.constantFrom(1, 2, 100),
  key: fc.constantFrom(-1, 0, 1),
  value: fc.constantFrom(-1, 0, 1, 2),
  headers: fc.constant(0),
})

describe('a survey of records', () => {
  it('tells of plain records what a cursor tells', () => {
    fc.assert(
      fc.property(fc.array(plain, { minLength: 1, maxLength: 200 }), (records) => {
        const batch = new RecordBatch(batchOf(records))
        assert.deepEqual(batch.survey(), slowly(batch))
      }),
      propertyOptions(),
    )
  })

  it('tells nothing rather than something else, whatever the records and their bytes are', () => {
    let told = 0
    let soundless = 0
    fc.assert(
      fc.property(
        fc.oneof(fc.array(any, { minLength: 1, maxLength: 30 }), fc.array(tiny, { minLength: 1, maxLength: 4 })),
        fc.array(fc.record({ at: fc.nat(), value: fc.oneof(fc.nat(255), fc.constantFrom(0, 1, 127, 128, 255)) }), {
          maxLength: 3,
        }),
        fc.constantFrom(0, 0, 0, -1, 1),
        (records, changes, more) => {
          const bytes = batchOf(records)
          const batch = new RecordBatch(bytes)
          RECORD_BATCH.recordCount.set(bytes, 0, batch.recordCount + more)
          const places = bytes.length - RECORD_BATCH.size
          for (const { at, value } of changes) bytes[RECORD_BATCH.size + (at % places)] = value
          const survey = batch.survey()
          if (survey === null) soundless++
          else {
            told++
            assert.deepEqual(survey, slowly(batch))
          }
        },
      ),
      propertyOptions(1000),
    )
    assert.ok(told > 0 && soundless > 0)
  })

  // Each is whole to one who takes the first two bytes of the long field for all of it.
  for (const [field, body] of [
    ['timestamp', [0, 0x80, 0x80, 0, 0, 1, 0]],
    ['offset', [0, 0, 0x80, 0x80, 0, 1, 0]],
    ['key length', [0, 0, 0, 0x80, 0x80, 1, 0]],
    ['value length', [0, 0, 0, 1, 0x80, 0x80, 0]],
  ] as const)
    it(`tells nothing of a record whose ${field} takes three bytes`, () => {
      const record = Buffer.from([body.length * 2, ...body])
      const batch = Buffer.concat([
        batchOf([{ timestamp: 0, key: -1, value: -1, headers: 0 }]).subarray(0, RECORD_BATCH.size),
        record,
      ])
      RECORD_BATCH.batchLength.set(batch, 0, batch.length - LOG_OVERHEAD)
      assert.equal(slowly(new RecordBatch(batch)), null)
      assert.equal(new RecordBatch(batch).survey(), null)
    })

  it('tells nothing of compressed records', () => {
    const builder = new BatchBuilder({ codec: 'gzip' })
    builder.tryAppend({ timestamp: 1, key: null, value: Buffer.from('v') })
    assert.equal(new RecordBatch(builder.build()).survey(), null)
  })
})
