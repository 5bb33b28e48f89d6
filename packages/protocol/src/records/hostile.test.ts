/** Whatever the bytes are, reading them ends, in records or in a RecordsError. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { vectors } from '../../../../conformance/index.js'
import { crc32 } from '../crc.js'
import { type AnyBatch, iterateAnyBatches } from './any.js'
import { RecordBatch } from './batch.js'
import { downConvert, upConvert } from './convert.js'
import { RecordsError } from './errors.js'
import { RECORD_BATCH } from './layout.js'
import { MESSAGE } from './legacy-layout.js'
import { propertyOptions } from './property-options.test.support.js'

const LIMITS = { maxOutputBytes: 1 << 20 }

const samples = [...vectors.files('records/v2'), ...vectors.files('records/old')]
  .filter((path) => path.endsWith('.bin'))
  .map((path) => vectors.bytes(path))
  .filter((bytes) => bytes.length < 3000)

/** Runs it; anything but a RecordsError is a failure of the test. */
function tolerate(work: () => void): void {
  try {
    work()
  } catch (error) {
    if (!(error instanceof RecordsError)) throw error
  }
}

function readAll(bytes: Buffer): void {
  tolerate(() => {
    for (const batch of iterateAnyBatches(bytes)) {
      batch.crcIsValid()
      tolerate(() => readRecords(batch, bytes.length))
    }
  })
}

function readRecords(batch: AnyBatch, available: number): void {
  let count = 0
  for (const record of batch.records(LIMITS)) {
    count++
    assert.ok((record.key?.length ?? 0) + (record.value?.length ?? 0) <= record.sizeInBytes)
    for (const header of record.headers) assert.ok(header.key.length <= record.sizeInBytes)
  }
  assert.ok(count <= (batch.codec === 0 ? available : LIMITS.maxOutputBytes))
}

/** Puts the CRC right, so that damage behind it is reached. */
function mendCrc(bytes: Buffer): void {
  tolerate(() => {
    for (const batch of iterateAnyBatches(bytes)) {
      if (batch instanceof RecordBatch) RECORD_BATCH.crc.set(bytes, batch.at, batch.computeCrc())
      else MESSAGE.crc.set(bytes, batch.at, crc32(bytes, batch.at + MESSAGE.magic.at, batch.at + batch.sizeInBytes))
    }
  })
}

const HEADER_FIELDS = Object.values(RECORD_BATCH).filter((field) => typeof field === 'object')
/** Edges of lengths, counts and varints. */
const EDGES = [0, 1, -1, 127, 128, 0x7fffffff, -0x80000000, 14, 49, 61]

const change = fc.oneof(
  fc.record({ kind: fc.constant('byte' as const), at: fc.nat(), value: fc.nat(255) }),
  fc.record({ kind: fc.constant('field' as const), at: fc.nat(HEADER_FIELDS.length - 1), value: fc.constantFrom(...EDGES) }),
  fc.record({ kind: fc.constant('cut' as const), at: fc.nat(), value: fc.constant(0) }),
  fc.record({ kind: fc.constant('varint' as const), at: fc.nat(), value: fc.integer({ min: 1, max: 11 }) }),
)

describe('hostile record bytes', function () {
  this.timeout(20_000)

  it('end in records or in a RecordsError, also with a CRC that is right', () => {
    fc.assert(
      fc.property(
        fc.nat(samples.length - 1),
        fc.array(change, { minLength: 1, maxLength: 5 }),
        fc.boolean(),
        (sample, changes, mended) => {
          let bytes = Buffer.from(samples[sample]!)
          for (const { kind, at, value } of changes) {
            if (bytes.length === 0) break
            const place = at % bytes.length
            if (kind === 'byte') bytes[place] = value
            else if (kind === 'varint') bytes.fill(0xff, place, Math.min(bytes.length, place + value))
            else if (kind === 'cut') bytes = bytes.subarray(0, place)
            else if (bytes.length >= RECORD_BATCH.size) writeEdge(bytes, at, value)
          }
          if (mended) mendCrc(bytes)
          readAll(bytes)
          tolerate(() => upConvert(bytes, LIMITS))
          for (const magic of [0, 1] as const) tolerate(() => downConvert(bytes, magic, 0, LIMITS))
        },
      ),
      propertyOptions(2000),
    )
  })

  it('noise ends in a RecordsError or in nothing', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.constantFrom(0, 1, 2), (noise, magic) => {
        const bytes = Buffer.from(noise)
        if (bytes.length > 16) {
          bytes.writeInt32BE(bytes.length - 12, 8)
          bytes[16] = magic
        }
        readAll(bytes)
      }),
      propertyOptions(1000),
    )
  })

  it('does not decompress for a batch that says it has no records', () => {
    const bytes = Buffer.from(vectors.bytes('records/corrupt/not-compressed-as-zstd.bin'))
    assert.throws(() => [...new RecordBatch(bytes).records()], RecordsError)
    RECORD_BATCH.recordCount.set(bytes, 0, 0)
    assert.deepEqual([...new RecordBatch(bytes).records()], [])
  })

  it('does not count to two billion for a batch that says so', () => {
    const bytes = Buffer.from(vectors.bytes('records/v2/v2-empty-batch.bin'))
    RECORD_BATCH.recordCount.set(bytes, 0, 0x7fffffff)
    assert.throws(() => [...new RecordBatch(bytes).records()], { error: 'INVALID_RECORD' })
  })
})

function writeEdge(bytes: Buffer, index: number, value: number): void {
  const field = HEADER_FIELDS[index]!
  const raw = Buffer.alloc(8, value < 0 ? 0xff : 0)
  raw.writeInt32BE(value, 4)
  raw.copy(bytes, field.at, 8 - field.sizeInBytes)
}
