/** Every codec both ways: what one writes the other reads, damage is a typed error, and a bomb stops at the limit. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { propertyOptions } from '../records/property-options.test.support.js'
import { bombs } from './bombs.test.support.js'
import { CODECS, type CodecName, CompressionError, compress, decompress, useCodecs, type Way } from './index.js'
import { LZ4_BLOCK } from './lz4-block.js'
import { SNAPPY_BLOCK } from './snappy-block.js'
import { xxhash32 } from './xxhash32.js'

const codecs = (Object.keys(CODECS) as CodecName[]).filter((name) => name !== 'none')
const ways: Way[] = ['native', 'portable']

function by<T>(way: Way, work: () => T): T {
  useCodecs(way)
  try {
    return work()
  } finally {
    useCodecs('native')
  }
}

/** Data that compresses: runs, repeats and noise in turn. */
const data = fc
  .array(
    fc.oneof(
      fc.uint8Array({ maxLength: 300 }).map((noise) => Buffer.from(noise)),
      fc.tuple(fc.nat(255), fc.nat(70_000)).map(([byte, count]) => Buffer.alloc(count, byte)),
      fc.tuple(fc.string({ minLength: 1, maxLength: 40 }), fc.nat(3000)).map(([text, size]) => Buffer.alloc(size, text)),
    ),
    { maxLength: 8 },
  )
  .map((parts) => Buffer.concat(parts))

/** The output, or the name of the error. Anything but a CompressionError is a failure of the test. */
function outcome(way: Way, codec: CodecName, bytes: Buffer, maxOutputBytes: number): Buffer | string {
  try {
    return by(way, () => decompress(codec, bytes, { maxOutputBytes }))
  } catch (error) {
    assert.ok(error instanceof CompressionError, String(error))
    return error.error
  }
}

describe('codecs', function () {
  this.timeout(20_000)

  it('have a native way where the tests run', () => {
    assert.ok(LZ4_BLOCK.native)
    assert.ok(SNAPPY_BLOCK.native)
  })

  for (const codec of codecs) {
    it(`${codec}: each way reads what each way wrote`, () => {
      fc.assert(
        fc.property(data, fc.constantFrom(...ways), fc.constantFrom(...ways), (bytes, writer, reader) => {
          const compressed = by(writer, () => compress(codec, bytes))
          assert.deepEqual(
            by(reader, () => decompress(codec, compressed, { maxOutputBytes: bytes.length })),
            bytes,
          )
          if (bytes.length > 0) {
            assert.equal(outcome(reader, codec, compressed, bytes.length - 1), 'INVALID_RECORD')
          }
        }),
        propertyOptions(100),
      )
    })

    it(`${codec}: damaged input is an error or other bytes, the same both ways`, () => {
      fc.assert(
        fc.property(
          data,
          fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 }),
          fc.nat(),
          (bytes, changes, cut) => {
            const compressed = Buffer.from(compress(codec, bytes))
            for (const [at, byte] of changes) compressed[at % compressed.length] = byte
            const input = cut % 4 === 0 ? compressed.subarray(0, cut % compressed.length) : compressed
            const [native, portable] = ways.map((way) => outcome(way, codec, input, 1 << 20))
            assert.ok(typeof native === 'string' ? native === portable : Buffer.isBuffer(portable) && native!.equals(portable))
          },
        ),
        propertyOptions(150),
      )
    })

    it(`${codec}: noise is an error, whatever it begins with`, () => {
      fc.assert(
        fc.property(fc.uint8Array({ maxLength: 200 }), (noise) => {
          const start = compress(codec, Buffer.from('a')).subarray(0, 16)
          for (const way of ways) {
            outcome(way, codec, Buffer.from(noise), 1 << 16)
            outcome(way, codec, Buffer.concat([start, noise]), 1 << 16)
          }
        }),
        propertyOptions(150),
      )
    })

    for (const [name, bomb] of bombs(codec)) {
      for (const way of ways) {
        it(`${codec}: ${name} stops at the limit (${way})`, () => {
          assert.ok(bomb.length < 8 * 1024 * 1024)
          assert.equal(outcome(way, codec, bomb, 4 * 1024 * 1024), 'INVALID_RECORD')
        })
      }
    }
  }

  it('know a limit of nothing', () => {
    for (const codec of codecs) {
      for (const way of ways) {
        assert.equal(outcome(way, codec, compress(codec, Buffer.from('a')), 0), 'INVALID_RECORD')
        assert.deepEqual(outcome(way, codec, compress(codec, Buffer.alloc(0)), 0), Buffer.alloc(0))
      }
    }
  })

  it('refuse the ids that have no codec', () => {
    for (const id of [5, 6, 7]) {
      assert.throws(() => decompress(id, Buffer.alloc(10)), { name: 'CompressionError', error: 'UNSUPPORTED_COMPRESSION_TYPE' })
      assert.throws(() => compress(id, Buffer.alloc(10)), { name: 'CompressionError', error: 'UNSUPPORTED_COMPRESSION_TYPE' })
    }
  })

  it('take the levels of the configs', () => {
    const text = Buffer.from('a level should make a difference, or at least no error. '.repeat(500))
    for (const codec of codecs) {
      const { levels } = CODECS[codec]
      if (levels === null) continue
      for (const level of [levels.min, levels.default, levels.max]) {
        for (const way of ways)
          assert.deepEqual(
            decompress(
              codec,
              by(way, () => compress(codec, text, level)),
            ),
            text,
          )
      }
    }
    assert.ok(compress('gzip', text, 9).length < compress('gzip', text, 1).length)
    assert.ok(compress('zstd', text, 19).length <= compress('zstd', text, -100).length)
  })
})

describe('snappy', () => {
  const text = Buffer.from('raw snappy is what librdkafka sends '.repeat(40))

  it('is read raw, as clients without snappy-java send it', () => {
    for (const way of ways) {
      const raw = Buffer.from((way === 'native' ? SNAPPY_BLOCK.native! : SNAPPY_BLOCK.portable).compress(text))
      for (const reader of ways) assert.deepEqual(outcome(reader, 'snappy', raw, 1 << 20), text)
    }
  })

  it('is written in the frame of snappy-java, 32 KiB a block', () => {
    const framed = compress('snappy', Buffer.alloc(70_000, 'ab'))
    assert.equal(framed.toString('hex', 0, 16), '82534e41505059000000000100000001')
    let blocks = 0
    for (let at = 16; at < framed.length; at += 4 + framed.readInt32BE(at)) blocks++
    assert.equal(blocks, 3)
  })

  it('reads frames that follow one another', () => {
    const twice = Buffer.concat([compress('snappy', text), compress('snappy', text)])
    assert.deepEqual(decompress('snappy', twice), Buffer.concat([text, text]))
  })
})

describe('lz4', () => {
  const text = Buffer.from('frames and blocks, blocks and frames. '.repeat(4000))

  it('hashes as xxHash does', () => {
    assert.equal(xxhash32(Buffer.alloc(0)), 0x02cc5d05)
    assert.equal(xxhash32(Buffer.from('abc')), 0x32d153ff)
    assert.equal(xxhash32(Buffer.from('Nobody inspects the spammish repetition')), 0xe2293b2f)
  })

  it('keeps the wrong header checksum of magic 0, and reads it only there', () => {
    const old = compress('lz4', text, undefined, 'kafka-0.8')
    assert.notEqual(old[6], compress('lz4', text)[6])
    assert.deepEqual(decompress('lz4', old, { lz4Framing: 'kafka-0.8' }), text)
    assert.throws(() => decompress('lz4', old), CompressionError)
  })

  it('refuses dependent blocks, dictionaries and a wrong block checksum, as Kafka does', () => {
    const frame = (flags: number, change: (bytes: Buffer) => void = () => undefined): Buffer => {
      const bytes = Buffer.from(compress('lz4', Buffer.from('short')))
      bytes[4] = flags
      bytes[6] = (xxhash32(bytes, 4, 6) >>> 8) & 0xff
      change(bytes)
      return bytes
    }
    assert.deepEqual(decompress('lz4', frame(0x60)), Buffer.from('short'))
    for (const flags of [0x40, 0x61, 0x62, 0xa0, 0x70]) {
      assert.throws(() => decompress('lz4', frame(flags)), { error: 'INVALID_RECORD' }, `flags ${flags}`)
    }
  })

  it('checks the checksum of a block where there is one', () => {
    const plain = Buffer.from('stored as it is')
    const header = Buffer.from([0x04, 0x22, 0x4d, 0x18, 0x70, 0x40, 0])
    header[6] = (xxhash32(header, 4, 6) >>> 8) & 0xff
    const words = Buffer.alloc(12)
    words.writeUInt32LE((plain.length | 0x80000000) >>> 0, 0)
    words.writeUInt32LE(xxhash32(plain), 4)
    const frame = Buffer.concat([header, words.subarray(0, 4), plain, words.subarray(4)])
    assert.deepEqual(decompress('lz4', frame), plain)
    frame[frame.length - 6]! ^= 1
    assert.throws(() => decompress('lz4', frame), { error: 'INVALID_RECORD' })
  })
})

describe('where Kafka is lenient or strict', () => {
  const text = Buffer.from('what Java reads we read, what it refuses we refuse')

  it('ends an lz4 frame at a stored block of no bytes', () => {
    const frame = Buffer.from(compress('lz4', text))
    frame[frame.length - 1] = 0x80
    assert.deepEqual(decompress('lz4', frame), text)
  })

  it('does not look at the versions of a snappy stream, nor at too few bytes for one more block', () => {
    const stream = Buffer.concat([compress('snappy', text), Buffer.from([1, 2, 3])])
    stream.fill(0xff, 8, 16)
    assert.deepEqual(decompress('snappy', stream), text)
  })

  it('refuses zstd windows above 128 MiB', () => {
    // One raw block of a byte, behind a window descriptor.
    const frame = (window: number): Buffer => Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, window, 0x09, 0, 0, 0x61])
    assert.deepEqual(decompress('zstd', frame(17 << 3)), Buffer.from('a'))
    assert.throws(() => decompress('zstd', frame((17 << 3) | 1)), { error: 'INVALID_RECORD' })
  })
})
