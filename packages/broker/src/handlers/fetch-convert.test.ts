/** What fetches of old versions get of batches that they could not read. */
import assert from 'node:assert/strict'
import type { Offload, Read } from '@mq/log'
import { BatchBuilder, type BatchOptions, iterateAnyBatches, RECORD_BATCH, RecordBatch } from '@mq/protocol'
import { type ConvertedFor, convertedFor, offsetBehindControl } from './fetch-convert.js'
import { openTestLogs } from './testing/test-logs.js'

function batch(baseOffset: number, count: number, options: BatchOptions & { size?: number } = {}): Buffer {
  const { size = 10, ...more } = options
  const builder = new BatchBuilder({ baseOffset, ...more })
  for (let at = 0; at < count; at++) builder.tryAppend({ timestamp: 1000 + at, key: `k${at}`, value: Buffer.alloc(size, 97) })
  return builder.build()
}

type Config = ConvertedFor['config']
const CONFIG = { 'compression.type': 'producer', 'message.downconversion.enable': true } as Config

/** Jobs that were run beside the loop. */
let jobs: string[] = []

async function converted(
  version: number,
  stored: readonly Buffer[],
  more: { fetchOffset?: number; config?: Partial<Config> } = {},
) {
  const { directories } = await openTestLogs('memory')
  jobs = []
  const run: Offload['run'] = (name, input) => {
    jobs.push(name)
    return directories.offload.run(name, input)
  }
  const sizeInBytes = stored.reduce((sum, slice) => sum + slice.length, 0)
  const read = { slices: stored, sizeInBytes } as unknown as Read
  const wanted = { fetchOffset: more.fetchOffset ?? 0 } as ConvertedFor['wanted']
  const result = await convertedFor(read, { version, wanted, config: { ...CONFIG, ...more.config }, offload: { run } })
  await directories.close()
  if (result.kind !== 'converted') return result.kind === 'refused' ? result.error : result.kind
  return [...iterateAnyBatches(Buffer.from(result.records))].flatMap((message) =>
    [...message.records()].map(({ offset }) => `${message.magic}:${offset}`),
  )
}

describe('records for an old fetch', () => {
  it('are as stored from v4 on', async () => {
    for (const version of [4, 9, 17]) assert.equal(await converted(version, [batch(0, 2)]), 'asStored')
  })

  it('are magic 0 up to v1, magic 1 up to v3', async () => {
    for (const version of [0, 1]) assert.deepEqual(await converted(version, [batch(0, 2)]), ['0:0', '0:1'])
    for (const version of [2, 3]) assert.deepEqual(await converted(version, [batch(0, 2)]), ['1:0', '1:1'])
  })

  it('begin where the fetch asks, which some old clients count on', async () => {
    assert.deepEqual(await converted(3, [batch(0, 3), batch(3, 2)], { fetchOffset: 2 }), ['1:2', '1:3', '1:4'])
  })

  it('may lie over the borders of what was read', async () => {
    const stored = Buffer.concat([batch(0, 2), batch(2, 2)])
    assert.deepEqual(await converted(3, [stored.subarray(0, 30), stored.subarray(30)]), ['1:0', '1:1', '1:2', '1:3'])
  })

  it('are refused where the topic forbids the conversion (KIP-283)', async () => {
    assert.equal(await converted(3, [batch(0, 1)], { config: { 'message.downconversion.enable': false } }), 'UNSUPPORTED_VERSION')
    assert.equal(await converted(4, [batch(0, 1)], { config: { 'message.downconversion.enable': false } }), 'asStored')
  })

  it('are never zstd: what stands before it is sent, it itself is refused (A-007)', async () => {
    const zstd = batch(1, 1, { codec: 'zstd' })
    assert.equal(await converted(3, [zstd]), 'UNSUPPORTED_COMPRESSION_TYPE')
    assert.deepEqual(await converted(3, [batch(0, 1), zstd]), ['1:0'])
    assert.equal(await converted(9, [batch(0, 1)], { config: { 'compression.type': 'zstd' } }), 'UNSUPPORTED_COMPRESSION_TYPE')
    assert.equal(await converted(10, [batch(0, 1)], { config: { 'compression.type': 'zstd' } }), 'asStored')
  })

  it('do not grow beyond what was read, but for the first batch', async () => {
    const small = batch(0, 100, { codec: 'gzip', size: 0 })
    const many = Array.from({ length: 10 }, (_, at) => batch(at * 50, 50, { size: 0 }))
    const sent = await converted(3, many)
    assert.ok(Array.isArray(sent) && sent.length >= 50 && sent.length < 500)
    assert.equal(((await converted(3, [small])) as string[]).length, 100)
  })

  it('leave out a compressed batch whose end was compacted away, when the client has had the rest', async () => {
    const gap = batch(0, 3, { codec: 'gzip' })
    RECORD_BATCH.lastOffsetDelta.set(gap, 0, 9)
    RECORD_BATCH.crc.set(gap, 0, new RecordBatch(gap).computeCrc())
    assert.deepEqual(await converted(3, [gap, batch(10, 1)], { fetchOffset: 0 }), ['1:0', '1:1', '1:2', '1:10'])
    assert.deepEqual(await converted(3, [gap, batch(10, 1)], { fetchOffset: 3 }), ['1:10'])
  })

  it('are never less than asked for in the middle: what does not fit ends the answer', async () => {
    const large = batch(0, 100, { codec: 'gzip', size: 0 })
    const sent = (await converted(3, [batch(0, 1), large, batch(100, 1)])) as string[]
    assert.deepEqual(
      sent.map((record) => Number(record.split(':')[1])),
      sent.map((_, at) => at),
    )
  })

  it('are converted beside the loop when there are many, the same way', async () => {
    const many = Array.from({ length: 100 }, (_, at) => batch(at * 10, 10, { size: 100 }))
    const sent = (await converted(3, many)) as string[]
    assert.deepEqual(jobs, ['downConvert'])
    assert.deepEqual(
      sent.map((record) => Number(record.split(':')[1])),
      sent.map((_, at) => at),
    )
    assert.ok(sent.length > 500)
    await converted(3, many.slice(0, 10))
    assert.deepEqual(jobs, [])
    await converted(3, [batch(0, 1, { codec: 'gzip', size: 2_000_000 })])
    assert.deepEqual(jobs, ['downConvert'], 'little that gives much')
  })

  it('tell what lies behind control batches, if these are all there is', async () => {
    const control = (offset: number) => batch(offset, 1, { control: true, transactional: true, producerId: 1, producerEpoch: 0 })
    assert.equal(offsetBehindControl([control(4)]), 5)
    assert.equal(offsetBehindControl([control(4), control(5)]), 6)
    assert.equal(offsetBehindControl([control(4), batch(5, 1)]), null)
    assert.equal(offsetBehindControl([]), null)
  })

  it('are none of control batches', async () => {
    assert.deepEqual(
      await converted(3, [batch(0, 1, { control: true, transactional: true, producerId: 1, producerEpoch: 0 })]),
      [],
    )
  })

  it('are the cut batch itself when nothing whole fits, so that the client sees how large it is', async () => {
    assert.equal(await converted(2, [batch(0, 1, { size: 1000 }).subarray(0, 200)]), 'asStored')
  })

  it('are refused when they are damaged', async () => {
    const damaged = batch(0, 1)
    damaged.writeInt8(9, 16)
    assert.equal(await converted(3, [damaged]), 'CORRUPT_MESSAGE')
  })
})
