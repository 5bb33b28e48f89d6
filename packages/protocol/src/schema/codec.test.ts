// What the schema language promises, one promise at a time, on compiled and interpreted codecs alike.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import {
  type Body,
  CreateTopicsRequest,
  DecodeError,
  DeleteTopicsRequest,
  decodeBody,
  decodeVersioned,
  EncodeError,
  encodeBody,
  encodeVersioned,
  FetchRequest,
  FetchResponse,
  InitProducerIdRequest,
  type Input,
  JoinGroupRequest,
  type Message,
  MetadataRequest,
  OffsetCommitKey,
  OffsetCommitValue,
  ProduceRequest,
  Reader,
  Writer,
} from '../index.js'
import { compiledCodec, interpretedCodec } from './codec.js'
import { array, int64, nullableStruct, offset, string, struct } from './fields.js'
import { message } from './message.js'

for (const [kind, codecOf] of [
  ['compiled', compiledCodec],
  ['interpreted', interpretedCodec],
] as const) {
  const write = <S extends Message>(schema: S, version: number, input: Input<S>): Buffer => {
    const writer = new Writer()
    codecOf(schema, version).write(writer, input)
    return writer.toBuffer()
  }
  const refusal = <S extends Message>(schema: S, version: number, input: unknown): EncodeError => {
    try {
      write(schema, version, input as Input<S>)
    } catch (error) {
      assert.ok(error instanceof EncodeError, String(error))
      return error
    }
    return assert.fail('was written')
  }

  describe(`${kind} codecs: fields that a version lacks`, () => {
    it('are dropped when ignorable', () => {
      assert.deepEqual(write(JoinGroupRequest, 4, { reason: 'restart' }), write(JoinGroupRequest, 4, {}))
    })

    it('are an EncodeError with the field when not, unless they have their default', () => {
      const error = refusal(JoinGroupRequest, 4, { groupInstanceId: 'static-1' })
      assert.deepEqual([error.api, error.version, error.field], ['JoinGroupRequest', 4, 'groupInstanceId'])
      assert.match(error.message, /JoinGroupRequest v4 groupInstanceId: this version has no such field/)
      assert.doesNotThrow(() => write(JoinGroupRequest, 4, { groupInstanceId: null }))
    })

    it('are named by their path when deep inside', () => {
      const input = { topics: [{ topic: 't' }, { topic: 'u', partitions: [{ lastFetchedEpoch: 3 }] }] }
      assert.equal(refusal(FetchRequest, 11, input).field, 'topics[1].partitions[0].lastFetchedEpoch')
    })

    it('have their default when read', () => {
      const body = codecOf(FetchRequest, 0).read(new Reader(write(FetchRequest, 0, {})))
      assert.equal(body.maxBytes, 0x7fffffff)
      assert.equal(body.sessionEpoch, -1)
      assert.deepEqual(body.replicaState, { replicaId: -1, replicaEpoch: -1 })
    })
  })

  describe(`${kind} codecs: nulls`, () => {
    it('are written where the version allows them and refused elsewhere', () => {
      assert.equal(write(MetadataRequest, 1, { topics: null }).toString('hex'), 'ffffffff')
      assert.match(refusal(MetadataRequest, 0, { topics: null }).message, /topics: null where null is not allowed/)
      assert.match(refusal(DeleteTopicsRequest, 1, { topicNames: null }).message, /null where null is not allowed/)
    })

    it('of any negative length are read as null, as Kafka reads them', () => {
      const bytes = Buffer.from('fffffffe', 'hex')
      assert.equal(codecOf(MetadataRequest, 1).read(new Reader(bytes)).topics, null)
    })
  })

  describe(`${kind} codecs: values of the wrong kind or size`, () => {
    const cases: [string, Message, number, unknown, string][] = [
      ['a number for a string', JoinGroupRequest, 0, { groupId: 5 }, 'groupId'],
      ['a string for a number', JoinGroupRequest, 0, { sessionTimeoutMs: '5' }, 'sessionTimeoutMs'],
      ['a fraction', JoinGroupRequest, 0, { sessionTimeoutMs: 1.5 }, 'sessionTimeoutMs'],
      ['a number above int32', JoinGroupRequest, 0, { sessionTimeoutMs: 2 ** 31 }, 'sessionTimeoutMs'],
      ['a bigint for an int32', JoinGroupRequest, 0, { sessionTimeoutMs: 5n }, 'sessionTimeoutMs'],
      ['a number above int16', ProduceRequest, 3, { acks: 40000 }, 'acks'],
      ['an unsafe number for an int64', OffsetCommitValue, 0, { offset: 2 ** 53 }, 'offset'],
      ['a bigint above int64', OffsetCommitValue, 0, { offset: 2n ** 63n }, 'offset'],
      ['a string above 32767 bytes', JoinGroupRequest, 0, { groupId: 'x'.repeat(32768) }, 'groupId'],
      ['an object for an array', JoinGroupRequest, 0, { protocols: {} }, 'protocols'],
      ['nothing in an array', JoinGroupRequest, 0, { protocols: [undefined] }, 'protocols[0]'],
      ['an array of the wrong items', DeleteTopicsRequest, 1, { topicNames: ['a', 7] }, 'topicNames[1]'],
      ['text for bytes', JoinGroupRequest, 0, { protocols: [{ metadata: 'text' }] }, 'protocols[0].metadata'],
      [
        'text for records',
        ProduceRequest,
        3,
        { topicData: [{ partitionData: [{ records: 'x' }] }] },
        'topicData[0].partitionData[0].records',
      ],
      ['a uuid of another form', FetchRequest, 13, { topics: [{ topicId: 'AAAAAAAAAAAAAAAAAAAAA=' }] }, 'topics[0].topicId'],
      ['a number for a boolean', CreateTopicsRequest, 1, { validateOnly: 1 }, 'validateOnly'],
      ['no object at all', MetadataRequest, 1, null, ''],
      [
        'unknown tags out of order',
        MetadataRequest,
        9,
        {
          unknownTaggedFields: [
            { tag: 2, data: Buffer.alloc(0) },
            { tag: 1, data: Buffer.alloc(0) },
          ],
        },
        '',
      ],
      ['unknown tags that are known', FetchRequest, 12, { unknownTaggedFields: [{ tag: 0, data: Buffer.alloc(0) }] }, ''],
      ['unknown tags in a version without', MetadataRequest, 1, { unknownTaggedFields: [{ tag: 9, data: Buffer.alloc(0) }] }, ''],
    ]
    for (const [what, schema, version, input, field] of cases)
      it(`refuse ${what}`, () => assert.equal(refusal(schema, version, input).field, field))

    it('leave the writer as it was', () => {
      const writer = new Writer()
      writer.int32(42)
      const codec = codecOf(ProduceRequest, 3)
      const good = { partitionData: [{ records: Buffer.from('abc') }] }
      const bad = { partitionData: [{ index: 'x' }] }
      assert.throws(() => codec.write(writer, { topicData: [good, bad] } as unknown as Input<typeof ProduceRequest>), EncodeError)
      assert.equal(writer.size, 4)
      assert.equal(writer.toBuffer().toString('hex'), '0000002a')
    })
  })

  describe(`${kind} codecs: int64`, () => {
    const impossible = write(FetchRequest, 4, { topics: [{ partitions: [{ fetchOffset: 2n ** 63n - 1n }] }] })

    it('is clamped in the safe reading where a request holds an offset', () => {
      const body = codecOf(FetchRequest, 4).read(new Reader(impossible))
      assert.equal(body.topics[0]!.partitions[0]!.fetchOffset, Number.MAX_SAFE_INTEGER)
      const negative = write(FetchRequest, 4, { topics: [{ partitions: [{ fetchOffset: -(2n ** 63n) }] }] })
      const { topics } = codecOf(FetchRequest, 4).read(new Reader(negative))
      assert.equal(topics[0]!.partitions[0]!.fetchOffset, Number.MIN_SAFE_INTEGER)
    })

    it('is exact in the exact reading: a number when safe, else a bigint', () => {
      const body = codecOf(FetchRequest, 4).read(new Reader(impossible), 'exact')
      assert.equal(body.topics[0]!.partitions[0]!.fetchOffset, 2n ** 63n - 1n)
      for (const value of [0, -1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 2n ** 53n, -(2n ** 53n)]) {
        const bytes = write(OffsetCommitValue, 0, { offset: value })
        assert.equal(codecOf(OffsetCommitValue, 0).read(new Reader(bytes), 'exact').offset, value)
      }
    })

    it('is an error elsewhere, in responses above all', () => {
      const request = write(InitProducerIdRequest, 3, { producerId: 2n ** 60n })
      assert.throws(
        () => codecOf(InitProducerIdRequest, 3).read(new Reader(request)),
        (error) => error instanceof DecodeError && error.field === 'producerId',
      )
      const response = write(FetchResponse, 4, { responses: [{ partitions: [{ highWatermark: 2n ** 60n }] }] })
      assert.throws(
        () => codecOf(FetchResponse, 4).read(new Reader(response)),
        (error) => error instanceof DecodeError && error.field === 'responses[0].partitions[0].highWatermark',
      )
    })
  })

  describe(`${kind} codecs: structs`, () => {
    const Nested = message(
      'Nested',
      { versions: '0-1', flexible: '1+' },
      {
        plain: struct('0+', { place: offset('0+', { default: -1 }) }),
        maybe: nullableStruct('0+', { name: string('0+') }, { default: null }),
        tagged: nullableStruct('1+', { list: array('0+', { id: int64('0+') }) }, { tag: 3, default: null }),
      },
    )

    it('are written with their defaults when left out, null as one byte', () => {
      assert.equal(write(Nested, 0, {}).toString('hex'), 'ffffffffffffffff' + 'ff')
      assert.equal(write(Nested, 0, { maybe: {} }).toString('hex'), 'ffffffffffffffff' + '01' + '0000')
    })

    it('in the tagged section have their true size, also above 127 bytes', () => {
      const list = Array.from({ length: 40 }, (_, id) => ({ id }))
      const bytes = write(Nested, 1, { tagged: { list } })
      const body = codecOf(Nested, 1).read(new Reader(bytes))
      assert.deepEqual(body.tagged, { list })
      assert.equal(bytes.length, 8 + 1 + 1 + 1 + 1 + 2 + (1 + 1 + 40 * 9 + 1))
    })
  })
}

describe('records', () => {
  it('are views of what was read and slices of what was given', () => {
    const records = [Buffer.from('first'), Buffer.from('second')]
    const writer = new Writer()
    compiledCodec(ProduceRequest, 9).write(writer, { topicData: [{ partitionData: [{ records }] }] })
    const slices = writer.slices()
    for (const slice of records) assert.ok(slices.includes(slice))
    const bytes = Buffer.concat(slices)
    const body = decodeBody(ProduceRequest, 9, bytes)
    const read = body.topicData[0]!.partitionData[0]!.records!
    bytes.fill(0)
    assert.deepEqual(read, Buffer.alloc(11))
  })
})

describe('coordinator records', () => {
  it('begin with their version', () => {
    const bytes = encodeVersioned(OffsetCommitKey, 1, { group: 'g', topic: 't', partition: 2 })
    assert.equal(bytes.toString('hex'), '0001' + '000167' + '000174' + '00000002')
    assert.deepEqual(decodeVersioned(OffsetCommitKey, bytes), { version: 1, body: { group: 'g', topic: 't', partition: 2 } })
  })

  it('of a version that the schema lacks are a DecodeError', () => {
    assert.throws(() => decodeVersioned(OffsetCommitKey, Buffer.from('0007', 'hex')), /unknown version 7/)
    assert.throws(() => decodeVersioned(OffsetCommitKey, Buffer.from('00', 'hex')), DecodeError)
  })
})

describe('versions', () => {
  it('that a message does not have are refused', () => {
    assert.throws(() => encodeBody(MetadataRequest, 14, {}), RangeError)
    assert.throws(() => decodeBody(MetadataRequest, -1, Buffer.alloc(0)), RangeError)
    assert.throws(() => decodeBody(MetadataRequest, 1.5, Buffer.alloc(0)), RangeError)
  })
})

describe('where code generation is forbidden', () => {
  it('the interpreter does the work', () => {
    const script = `
      const { encodeBody, decodeBody, MetadataRequest } = require(${JSON.stringify(join(__dirname, '..', 'index.js'))})
      const bytes = encodeBody(MetadataRequest, 9, { topics: [{ name: 'a' }] })
      process.stdout.write(decodeBody(MetadataRequest, 9, bytes).topics[0].name + bytes.length)`
    const { stdout, stderr } = spawnSync(process.execPath, ['--disallow-code-generation-from-strings', '-e', script])
    assert.equal(stdout.toString(), 'a8', stderr.toString())
  })
})

// The inferred types, checked by the compiler: this function is never called.
export function typesHold(body: Body<typeof JoinGroupRequest>, exact: Body<typeof FetchRequest, number | bigint>): void {
  const groupId: string = body.groupId
  const instance: string | null = body.groupInstanceId
  const metadata: Buffer = body.protocols[0]!.metadata
  const place: number | bigint = exact.topics[0]!.partitions[0]!.fetchOffset
  // @ts-expect-error the exact reading may give a bigint
  const narrow: number = exact.topics[0]!.partitions[0]!.fetchOffset
  // @ts-expect-error a group id is never null
  const wrong: Input<typeof JoinGroupRequest> = { groupId: null }
  // @ts-expect-error there is no such field
  const misspelt: Input<typeof JoinGroupRequest> = { groupid: 'g' }
  const again: Input<typeof JoinGroupRequest> = body
  void [groupId, instance, metadata, place, narrow, wrong, misspelt, again]
}
