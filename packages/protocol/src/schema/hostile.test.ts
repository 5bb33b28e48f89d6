// Bytes that lie: every failure is a typed error with its place, and memory follows the bytes that are there.

import assert from 'node:assert/strict'
import fc from 'fast-check'
import {
  DecodeError,
  decodeBody,
  encodeBody,
  FetchRequest,
  JoinGroupRequest,
  MetadataRequest,
  MetadataResponse,
} from '../index.js'
import { Reader } from '../wire/reader.js'
import { putUnsignedVarint, Writer } from '../wire/writer.js'
import { arbitraryInput, MESSAGES, SEED, versionsOf } from './arbitrary.test.js'
import { codecOf, interpretedCodec } from './codec.js'
import { interpretRead } from './interpret.js'
import type { Input, Message } from './message.js'
import { planOf } from './plan.js'

/** Where in a valid body lengths, counts, tags and sizes stand. */
interface Mark {
  readonly at: number
  readonly size: number
  readonly kind: 'int16' | 'int32' | 'varint'
}

class MarkingReader extends Reader {
  readonly marks: Mark[] = []

  override unsignedVarint(): number {
    const at = this.at
    const value = super.unsignedVarint()
    this.marks.push({ at, size: this.at - at, kind: 'varint' })
    return value
  }

  override stringLength(compact: boolean): number {
    if (!compact) this.marks.push({ at: this.at, size: 2, kind: 'int16' })
    return super.stringLength(compact)
  }

  override length(compact: boolean): number {
    if (!compact) this.marks.push({ at: this.at, size: 4, kind: 'int32' })
    return super.length(compact)
  }
}

const NUMBERS = [-1, -2, 0, 1, 2, 3, 5, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x10000, 0x7fffffff, -0x80000000, 0xffffffff]

function put(mark: Mark, value: number): Buffer {
  const bytes = Buffer.alloc(5)
  if (mark.kind === 'varint') return bytes.subarray(0, putUnsignedVarint(bytes, 0, value))
  if (mark.kind === 'int16') bytes.writeInt16BE((value << 16) >> 16, 0)
  else bytes.writeInt32BE(value | 0, 0)
  return bytes.subarray(0, mark.size)
}

/** Array items and buffer bytes in a value: each stands for a byte of its own on the wire. */
function content(value: unknown): number {
  if (Buffer.isBuffer(value)) return value.length
  if (typeof value !== 'object' || value === null) return 0
  const own = Array.isArray(value) ? value.length : 0
  return Object.values(value).reduce<number>((sum, inner) => sum + content(inner), own)
}

/** A message or a DecodeError with its place; the same from generated code and interpreter. */
function readSafely(schema: Message, version: number, bytes: Buffer): void {
  const outcomes = [codecOf(schema, version), interpretedCodec(schema, version)].map((codec) => {
    try {
      return { body: codec.read(new Reader(bytes)) }
    } catch (error) {
      assert.ok(error instanceof DecodeError, `${schema.name} v${version}: ${(error as Error).stack}`)
      assert.equal(error.api, schema.name)
      assert.equal(error.version, version)
      assert.ok(error.position >= 0 && error.position <= bytes.length)
      return { failure: error.message }
    }
  })
  assert.deepEqual(outcomes[0], outcomes[1])
  assert.ok(content(outcomes[0]!.body) <= bytes.length, `${schema.name} v${version} made more than ${bytes.length} bytes hold`)
}

describe(`hostile bytes (SEED=${SEED})`, function () {
  it('refuse a string that is no UTF-8 and could not be said again, in both ways of decoding', () => {
    for (const version of [1, 9]) {
      const fits = encodeBody(MetadataRequest, version, { topics: [{ name: 'x'.repeat(30_000) }] })
      const grows = Buffer.from(fits.map((byte) => (byte === 0x78 ? 0xff : byte)))
      assert.equal(decodeBody(MetadataRequest, version, fits).topics![0]!.name!.length, 30_000)
      for (const codec of [codecOf(MetadataRequest, version), interpretedCodec(MetadataRequest, version)])
        assert.throws(
          () => codec.read(new Reader(grows)),
          (error: DecodeError) =>
            error instanceof DecodeError && error.field === 'topics[0].name' && /no UTF-8/.test(error.message),
        )
    }
  })

  this.timeout(120_000)

  it('with wrong lengths, counts, tags and sizes give a message or a DecodeError, in every message and version', () => {
    for (const schema of MESSAGES) {
      for (const version of versionsOf(schema)) {
        const mutation = fc.tuple(fc.nat(), fc.constantFrom(...NUMBERS))
        const property = fc.property(arbitraryInput(planOf(schema, version)), mutation, (input, [which, value]) => {
          const writer = new Writer()
          codecOf(schema, version).write(writer, input as Input<Message>)
          const valid = writer.toBuffer()
          const marking = new MarkingReader(valid)
          interpretRead(schema, version, marking, 'exact')
          if (marking.marks.length === 0) return
          const mark = marking.marks[which % marking.marks.length]!
          const bytes = Buffer.concat([valid.subarray(0, mark.at), put(mark, value), valid.subarray(mark.at + mark.size)])
          readSafely(schema, version, bytes)
        })
        fc.assert(property, { numRuns: 12, seed: SEED })
      }
    }
  })

  it('of one version read as another give a message or a DecodeError', () => {
    for (const schema of MESSAGES) {
      const versions = versionsOf(schema)
      const property = fc.property(
        fc.constantFrom(...versions),
        fc.constantFrom(...versions),
        fc.nat(),
        (version, other, seed) => {
          const [input] = fc.sample(arbitraryInput(planOf(schema, version)), { numRuns: 1, seed })
          const writer = new Writer()
          codecOf(schema, version).write(writer, input as Input<Message>)
          readSafely(schema, other, writer.toBuffer())
        },
      )
      fc.assert(property, { numRuns: 5, seed: SEED })
    }
  })

  it('of any kind give a message or a DecodeError', () => {
    const property = fc.property(
      fc.constantFrom(...MESSAGES),
      fc.nat(),
      fc.uint8Array({ maxLength: 120 }),
      (schema, pick, array) => {
        const versions = versionsOf(schema)
        readSafely(schema, versions[pick % versions.length]!, Buffer.from(array))
      },
    )
    fc.assert(property, { numRuns: 3000, seed: SEED })
  })

  it('with more items than may come are refused, with as many they are not, in every message and version', () => {
    for (const schema of MESSAGES) {
      for (const version of versionsOf(schema)) {
        const property = fc.property(arbitraryInput(planOf(schema, version)), (input) => {
          const writer = new Writer()
          codecOf(schema, version).write(writer, input as Input<Message>)
          const bytes = writer.toBuffer()
          const plenty = 1_000_000
          for (const codec of [codecOf(schema, version), interpretedCodec(schema, version)]) {
            const free = new Reader(bytes, 0, bytes.length, plenty)
            const body = codec.read(free, 'exact')
            const count = plenty - free.itemsLeft
            assert.deepEqual(codec.read(new Reader(bytes, 0, bytes.length, count), 'exact'), body)
            if (count === 0) continue
            const short = new Reader(bytes, 0, bytes.length, count - 1)
            assert.throws(() => codec.read(short, 'exact'), {
              name: 'DecodeError',
              message: /items are more than the \d+ that may still come/,
            })
          }
        })
        fc.assert(property, { numRuns: 10, seed: SEED })
      }
    }
  })

  it('announcing two billion items are refused before anything is made for them', () => {
    const bytes = Buffer.from('7fffffff', 'hex')
    assert.throws(
      () => decodeBody(MetadataRequest, 1, bytes),
      (error) => {
        assert.ok(error instanceof DecodeError)
        assert.deepEqual([error.api, error.version, error.field, error.position], ['MetadataRequest', 1, 'topics', 0])
        assert.match(error.message, /MetadataRequest v1 topics: 2147483647 items cannot be in the 0 bytes left \(at byte 0\)/)
        return true
      },
    )
  })

  it('count what an item takes at least: a Metadata topic is no single byte', () => {
    // throttle time, no brokers, no cluster id, controller, then 10 topics announced in 20 bytes
    const bytes = Buffer.concat([
      Buffer.from('00000000' + '00000000' + 'ffff' + '00000001' + '0000000a', 'hex'),
      Buffer.alloc(20),
    ])
    assert.throws(() => decodeBody(MetadataResponse, 3, bytes), /topics: 10 items cannot be in the 20 bytes left/)
  })

  it('with a varint longer than five bytes fail where it begins', () => {
    const bytes = Buffer.from('808080808001', 'hex')
    assert.throws(
      () => decodeBody(MetadataRequest, 9, bytes),
      (error) => error instanceof DecodeError && error.field === 'topics' && /longer than 5/.test(error.reason),
    )
    assert.throws(() => decodeBody(MetadataRequest, 9, Buffer.from('ffffffff7f', 'hex')), /varint beyond 32 bits/)
  })

  it('name the field deep inside by its path', () => {
    const bytes = encodeBody(FetchRequest, 11, { topics: [{ topic: 'a' }, { topic: 'b', partitions: [{}, {}] }] })
    const name = bytes.lastIndexOf('b')
    bytes.writeInt16BE(-1, name - 2)
    assert.throws(
      () => decodeBody(FetchRequest, 11, bytes),
      (error) => error instanceof DecodeError && error.field === 'topics[1].topic' && error.position === name - 2,
    )
  })

  it('with null where null is not allowed fail', () => {
    assert.throws(() => decodeBody(JoinGroupRequest, 0, Buffer.from('ffff', 'hex')), /groupId: null where null is not allowed/)
  })

  it('with a tagged field whose size is not its own fail', () => {
    // FetchRequest v12 up to its tagged section, then clusterId announced one byte too long
    const valid = encodeBody(FetchRequest, 12, {})
    const head = valid.subarray(0, valid.length - 1)
    const tooLong = Buffer.concat([head, Buffer.from('0100030261' + '00', 'hex')])
    assert.throws(() => decodeBody(FetchRequest, 12, tooLong), /clusterId: tagged field says 3 bytes and has 2/)
    const tooShort = Buffer.concat([head, Buffer.from('0100010261', 'hex')])
    assert.throws(() => decodeBody(FetchRequest, 12, tooShort), /clusterId: needs 1 bytes, 0 are left/)
    const exact = Buffer.concat([head, Buffer.from('0100020261', 'hex')])
    assert.equal(decodeBody(FetchRequest, 12, exact).clusterId, 'a')
  })
})
