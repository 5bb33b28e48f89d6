/** What fetches of old versions get of batches that they could not read. */
import assert from 'node:assert/strict'
import { BatchBuilder, type BatchOptions, iterateAnyBatches, RECORD_BATCH, RecordBatch } from '@mq/protocol'
import { convertedFor, offsetBehindControl } from './fetch-convert.js'

function batch(baseOffset: number, count: number, options: BatchOptions & { size?: number } = {}): Buffer {
  const { size = 10, ...more } = options
  const builder = new BatchBuilder({ baseOffset, ...more })
  for (let at = 0; at < count; at++) builder.tryAppend({ timestamp: 1000 + at, key: `k${at}`, value: Buffer.alloc(size, 97) })
  return builder.build()
}

type Config = Parameters<typeof convertedFor>[3]
const CONFIG = { 'compression.type': 'producer', 'message.downconversion.enable': true } as Config

function converted(version: number, stored: readonly Buffer[], more: { fetchOffset?: number; config?: Partial<Config> } = {}) {
  const sizeInBytes = stored.reduce((sum, slice) => sum + slice.length, 0)
  const read = { slices: stored, sizeInBytes } as unknown as Parameters<typeof convertedFor>[1]
  const wanted = { fetchOffset: more.fetchOffset ?? 0 } as Parameters<typeof convertedFor>[2]
  const result = convertedFor(version, read, wanted, { ...CONFIG, ...more.config })
  if (result.kind !== 'converted') return result.kind === 'refused' ? result.error : result.kind
  return [...iterateAnyBatches(result.records)].flatMap((message) =>
    [...message.records()].map(({ offset }) => `${message.magic}:${offset}`),
  )
}

describe('records for an old fetch', () => {
  it('are as stored from v4 on', () => {
    for (const version of [4, 9, 17]) assert.equal(converted(version, [batch(0, 2)]), 'asStored')
  })

  it('are magic 0 up to v1, magic 1 up to v3', () => {
    for (const version of [0, 1]) assert.deepEqual(converted(version, [batch(0, 2)]), ['0:0', '0:1'])
    for (const version of [2, 3]) assert.deepEqual(converted(version, [batch(0, 2)]), ['1:0', '1:1'])
  })

  it('begin where the fetch asks, which some old clients count on', () => {
    assert.deepEqual(converted(3, [batch(0, 3), batch(3, 2)], { fetchOffset: 2 }), ['1:2', '1:3', '1:4'])
  })

  it('may lie over the borders of what was read', () => {
    const stored = Buffer.concat([batch(0, 2), batch(2, 2)])
    assert.deepEqual(converted(3, [stored.subarray(0, 30), stored.subarray(30)]), ['1:0', '1:1', '1:2', '1:3'])
  })

  it('are refused where the topic forbids the conversion (KIP-283)', () => {
    assert.equal(converted(3, [batch(0, 1)], { config: { 'message.downconversion.enable': false } }), 'UNSUPPORTED_VERSION')
    assert.equal(converted(4, [batch(0, 1)], { config: { 'message.downconversion.enable': false } }), 'asStored')
  })

  it('are never zstd: what stands before it is sent, it itself is refused (A-007)', () => {
    const zstd = batch(1, 1, { codec: 'zstd' })
    assert.equal(converted(3, [zstd]), 'UNSUPPORTED_COMPRESSION_TYPE')
    assert.deepEqual(converted(3, [batch(0, 1), zstd]), ['1:0'])
    assert.equal(converted(9, [batch(0, 1)], { config: { 'compression.type': 'zstd' } }), 'UNSUPPORTED_COMPRESSION_TYPE')
    assert.equal(converted(10, [batch(0, 1)], { config: { 'compression.type': 'zstd' } }), 'asStored')
  })

  it('do not grow beyond what was read, but for the first batch', () => {
    const small = batch(0, 100, { codec: 'gzip', size: 0 })
    const many = Array.from({ length: 10 }, (_, at) => batch(at * 50, 50, { size: 0 }))
    const sent = converted(3, many)
    assert.ok(Array.isArray(sent) && sent.length >= 50 && sent.length < 500)
    assert.equal((converted(3, [small]) as string[]).length, 100)
  })

  it('leave out a compressed batch whose end was compacted away, when the client has had the rest', () => {
    const gap = batch(0, 3, { codec: 'gzip' })
    RECORD_BATCH.lastOffsetDelta.set(gap, 0, 9)
    RECORD_BATCH.crc.set(gap, 0, new RecordBatch(gap).computeCrc())
    assert.deepEqual(converted(3, [gap, batch(10, 1)], { fetchOffset: 0 }), ['1:0', '1:1', '1:2', '1:10'])
    assert.deepEqual(converted(3, [gap, batch(10, 1)], { fetchOffset: 3 }), ['1:10'])
  })

  it('are never less than asked for in the middle: what does not fit ends the answer', () => {
    const large = batch(0, 100, { codec: 'gzip', size: 0 })
    const sent = converted(3, [batch(0, 1), large, batch(100, 1)]) as string[]
    assert.deepEqual(
      sent.map((record) => Number(record.split(':')[1])),
      sent.map((_, at) => at),
    )
  })

  it('tell what lies behind control batches, if these are all there is', () => {
    const control = (offset: number) => batch(offset, 1, { control: true, transactional: true, producerId: 1, producerEpoch: 0 })
    assert.equal(offsetBehindControl([control(4)]), 5)
    assert.equal(offsetBehindControl([control(4), control(5)]), 6)
    assert.equal(offsetBehindControl([control(4), batch(5, 1)]), null)
    assert.equal(offsetBehindControl([]), null)
  })

  it('are none of control batches', () => {
    assert.deepEqual(converted(3, [batch(0, 1, { control: true, transactional: true, producerId: 1, producerEpoch: 0 })]), [])
  })

  it('are the cut batch itself when nothing whole fits, so that the client sees how large it is', () => {
    assert.equal(converted(2, [batch(0, 1, { size: 1000 }).subarray(0, 200)]), 'asStored')
  })

  it('are refused when they are damaged', () => {
    const damaged = batch(0, 1)
    damaged.writeInt8(9, 16)
    assert.equal(converted(3, [damaged]), 'CORRUPT_MESSAGE')
  })
})
