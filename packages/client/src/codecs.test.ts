import assert from 'node:assert/strict'
import { BatchBuilder, RecordBatch } from '@mq/protocol'
import { type Codec, CompressionCodecs, compressBatch, decompressReplaced, needsDecompression, replacedCodec } from './codecs.js'
import { CompressionTypes } from './enums.js'

const TYPES = [CompressionTypes.GZIP, CompressionTypes.Snappy, CompressionTypes.LZ4, CompressionTypes.ZSTD] as const

function batchOf(values: string[]): Buffer {
  const builder = new BatchBuilder({ baseOffset: 7 })
  for (const value of values) builder.tryAppend({ timestamp: 1, key: null, value, headers: [] })
  return builder.build()
}
const valuesOf = (bytes: Buffer): string[] => [...new RecordBatch(bytes).records()].map(({ value }) => String(value))

describe('CompressionCodecs', () => {
  const before = { ...CompressionCodecs }
  afterEach(() => void Object.assign(CompressionCodecs, before))

  it('has all four built in, in the shape of kafkajs', async () => {
    const text = Buffer.from('again and again and again')
    for (const type of TYPES) {
      const codec: Codec = CompressionCodecs[type]()
      assert.deepEqual(await codec.decompress(await codec.compress({ buffer: text })), text)
      assert.equal(replacedCodec(type), undefined)
    }
    assert.equal(needsDecompression(), false)
  })

  it('lets a program put its own codec in, which then compresses and decompresses', async () => {
    const calls: string[] = []
    const flip = (bytes: Buffer): Buffer => Buffer.from(bytes.map((byte) => byte ^ 0xff))
    CompressionCodecs[CompressionTypes.LZ4] = () => ({
      compress: async (encoder: { buffer: Buffer }) => {
        calls.push('compress')
        return flip(encoder.buffer)
      },
      decompress: async (buffer: Buffer) => {
        calls.push('decompress')
        return flip(buffer)
      },
    })
    const codec = replacedCodec(CompressionTypes.LZ4)
    assert.ok(codec)
    const compressed = await compressBatch(batchOf(['a', 'b']), CompressionTypes.LZ4, codec)
    const batch = new RecordBatch(compressed)
    assert.equal(batch.codec, CompressionTypes.LZ4)
    assert.ok(batch.crcIsValid())
    assert.ok(needsDecompression())
    const plain = await decompressReplaced(Buffer.concat([compressed, batchOf(['c'])]))
    assert.deepEqual(valuesOf(plain), ['a', 'b'])
    assert.deepEqual(valuesOf(plain.subarray(new RecordBatch(plain).sizeInBytes)), ['c'])
    assert.deepEqual(calls, ['compress', 'decompress'])
  })

  it('leaves a damaged batch to whoever decodes it', async () => {
    CompressionCodecs[CompressionTypes.GZIP] = () => ({ compress: () => Buffer.alloc(0), decompress: () => Buffer.alloc(0) })
    const damaged = await compressBatch(batchOf(['a']), CompressionTypes.GZIP, {
      compress: ({ buffer }) => buffer,
      decompress: (each) => each,
    })
    damaged[damaged.length - 1]! ^= 1
    assert.deepEqual(await decompressReplaced(damaged), damaged)
  })
})
