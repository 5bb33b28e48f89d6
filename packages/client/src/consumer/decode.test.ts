import assert from 'node:assert/strict'
import { BatchBuilder } from '@mq/protocol'
import { decodeChunk } from './decode.js'

const chunkOf = (records: Buffer, fetchOffset = 0) => ({
  topic: 't',
  partition: 0,
  epoch: 1,
  fetchOffset,
  highWatermark: 50,
  aborted: null,
  records,
})

function batchOf(options: ConstructorParameters<typeof BatchBuilder>[0], count = 3): Buffer {
  const builder = new BatchBuilder(options)
  for (let at = 0; at < count; at++)
    builder.tryAppend({
      timestamp: 1_000 + (at >> 1),
      key: at === 0 ? null : `k${at}`,
      value: at === 1 ? null : `v${at}`,
      headers:
        at < 2
          ? []
          : [
              { key: 'a', value: '1' },
              { key: 'a', value: '2' },
              { key: '__proto__', value: null },
            ],
    })
  return builder.build()
}

describe('decoding a chunk', () => {
  for (const codec of ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const)
    it(`gives messages in kafkajs’ shape (${codec})`, () => {
      const { messages } = decodeChunk(chunkOf(batchOf({ baseOffset: 7, codec })), false)
      const [first, second, third] = messages
      assert.deepEqual(first, { key: null, value: Buffer.from('v0'), timestamp: '1000', attributes: 0, offset: '7', headers: {} })
      assert.deepEqual([second!.key, second!.value, second!.timestamp], [Buffer.from('k1'), null, '1000'])
      assert.deepEqual([third!.timestamp, third!.offset], ['1001', '9'])
      assert.deepEqual(third!.headers.a, [Buffer.from('1'), Buffer.from('2')])
      assert.deepEqual(Object.keys(third!.headers), ['a', '__proto__'])
    })

  it('gives ordinary buffers that are views of the fetched bytes, wherever these lie in their memory', () => {
    const batch = batchOf({})
    const memory = Buffer.concat([Buffer.alloc(11), batch, Buffer.alloc(5)])
    const { value } = decodeChunk(chunkOf(memory.subarray(11, 11 + batch.length)), false).messages[0]!
    assert.equal(Object.getPrototypeOf(value), Buffer.prototype)
    assert.equal(value!.toString(), 'v0')
    assert.equal(value!.buffer, memory.buffer)
  })

  it('gives each message without headers a plain object of its own', () => {
    const [first, second] = decodeChunk(chunkOf(batchOf({})), false).messages
    first!.headers.added = 'by the program'
    assert.deepEqual(second!.headers, {})
    assert.equal(second!.headers.constructor, Object)
    assert.deepEqual({ ...first!.headers }, { added: 'by the program' })
  })

  it('gives the broker’s time where records have it, and leaves out what lies before the asked offset', () => {
    const batch = batchOf({ baseOffset: 7, timestampType: 'LogAppendTime', logAppendTime: 5_000 })
    const decoded = decodeChunk(chunkOf(batch, 8), false)
    assert.deepEqual(
      decoded.messages.map(({ offset, timestamp }) => [offset, timestamp]),
      [
        ['8', '5000'],
        ['9', '5000'],
      ],
    )
    assert.deepEqual(
      [decoded.firstOffset(), decoded.lastOffset(), decoded.offsetLag(), decoded.offsetLagLow()],
      ['8', '9', '40', '41'],
    )
  })

  it('hides control records and aborted transactions, and covers them', () => {
    const records = Buffer.concat([
      batchOf({ baseOffset: 0, transactional: true, producerId: 5, producerEpoch: 0, baseSequence: 0 }),
      batchOf({ baseOffset: 3, transactional: true, producerId: 6, producerEpoch: 0, baseSequence: 0 }),
    ])
    const chunk = { ...chunkOf(records), aborted: [{ producerId: 5, firstOffset: 0 }] }
    assert.deepEqual(
      decodeChunk(chunk, false).messages.map(({ offset }) => offset),
      ['3', '4', '5'],
    )
    assert.equal(decodeChunk(chunk, true).messages.length, 6)
  })

  it('refuses damaged bytes, and says where', () => {
    const batch = batchOf({ baseOffset: 7 })
    batch[batch.length - 1]! ^= 1
    assert.throws(() => decodeChunk(chunkOf(batch), false), { type: 'CORRUPT_MESSAGE', topic: 't', partition: 0, offset: 9 })
  })
})
