/**
 * Golden answers to odd input, row by row as Apache Kafka 3.9.1 gave them on raw sockets, against a whole broker; where Kafka says nothing or
 * UNKNOWN_SERVER_ERROR, ours says what is wrong.
 */
import assert from 'node:assert/strict'
import { BatchBuilder, type BatchOptions, crc32c, encodeRequest, errorByCode, RECORD_BATCH } from '@mq/protocol'
import { type RunningBroker, startBroker } from './start-broker.js'
import { RawClient, requestFrame } from './testing/raw-client.js'

const batchOf = (options: BatchOptions = {}, count = 2, timestamp = 1_700_000_000_000) => {
  const builder = new BatchBuilder(options)
  for (let at = 0; at < count; at++) builder.tryAppend({ timestamp, key: `k${at}`, value: `v${at}`, headers: [] })
  return builder.build()
}
/** A batch with one header field changed and, but for the CRC itself, the checksum put right. */
const changed = (field: keyof typeof RECORD_BATCH, value: number) => {
  const bytes = batchOf()
  ;(RECORD_BATCH[field] as { set(bytes: Buffer, start: number, value: number): void }).set(bytes, 0, value)
  if (field !== 'crc') RECORD_BATCH.crc.set(bytes, 0, crc32c(bytes, RECORD_BATCH.attributes.at))
  return bytes
}
const name = (code: number) => (code === 0 ? 'NONE' : errorByCode(code))

describe('Odd input to a whole broker', () => {
  let broker: RunningBroker
  let client: RawClient
  const opened: RawClient[] = []
  const connect = async () => {
    const one = await RawClient.connect(broker.port)
    opened.push(one)
    return one
  }
  const produce = async (
    records: Buffer | null,
    options: { topic?: string; index?: number; acks?: number; version?: number } = {},
  ) => {
    const { topic = 'odd', index = 0, acks = -1, version = 9 } = options
    const { responses } = await client.ask('Produce', version, {
      acks,
      timeoutMs: 1000,
      topicData: [{ name: topic, partitionData: [{ index, records }] }],
    })
    const { errorCode, baseOffset } = responses[0]!.partitionResponses[0]!
    return { error: name(errorCode), baseOffset }
  }
  const errorOf = async (records: Buffer | null, options = {}) => (await produce(records, options)).error
  /** What a fresh connection gets to these bytes: the answer in hex, or `closed`. */
  const sent = async (bytes: Buffer) => {
    const one = await connect()
    one.write(bytes)
    return (await one.frame())?.toString('hex') ?? 'closed'
  }
  const create = (topic: string) =>
    client.ask('CreateTopics', 5, { topics: [{ name: topic, numPartitions: 1, replicationFactor: 1 }], timeoutMs: 5000 })

  beforeEach(async () => {
    broker = await startBroker({ configs: { 'connections.max.idle.ms': 600_000 } })
    client = await connect()
    await create('odd')
  })
  afterEach(async () => {
    for (const one of opened.splice(0)) one.end()
    await broker.close()
  })

  it('ApiVersions v99: a body of version 0 with error 35 and one entry, key 18 up to 4', async () => {
    assert.equal(await sent(requestFrame({ key: 18, version: 99 })), '00000007002300000001001200000004')
  })

  it('ApiVersions v3 with a bad client name: error 42 in version 3, a header without tags', async () => {
    const body = Buffer.from('\x04a b\x021\x00', 'latin1')
    assert.equal(await sent(requestFrame({ key: 18, version: 3, flexible: true, body })), '00000007002a010000000000')
  })

  const CLOSED: readonly (readonly [string, Buffer])[] = [
    ['another key with an unknown version', requestFrame({ key: 3, version: 99 })],
    ['the unknown key 999', requestFrame({ key: 999, version: 0 })],
    ['a size of -1', Buffer.from('ffffffff', 'hex')],
    ['a size of 0', Buffer.from('00000000', 'hex')],
    ['a size of 104857601', Buffer.from('06400001', 'hex')],
    ['HTTP', Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')],
    ['a TLS hello', Buffer.concat([Buffer.from('16030100c8010000c40303', 'hex'), Buffer.alloc(200)])],
    ['an array length of 2^31-1', requestFrame({ key: 3, version: 1, body: Buffer.from('7fffffff', 'hex') })],
    ['a short string', requestFrame({ key: 3, version: 1, body: Buffer.from('000000017530', 'hex') })],
  ]
  for (const [what, bytes] of CLOSED) {
    it(`${what}: closed, nothing sent, and others are served`, async () => {
      assert.equal(await sent(bytes), 'closed')
      assert.equal(await errorOf(batchOf()), 'NONE')
    })
  }

  it('a size of 104857600 and silence: open until it is idle for too long, and no memory for it', async () => {
    const before = process.memoryUsage()
    const silent = await connect()
    silent.write(Buffer.from('06400000', 'hex'))
    let isClosed = false
    void silent.closed().then(() => {
      isClosed = true
    })
    for (let round = 0; round < 20; round++) await client.ask('ApiVersions', 0, {})
    assert.equal(isClosed, false)
    const { arrayBuffers, external } = process.memoryUsage()
    assert.ok(arrayBuffers + external - before.arrayBuffers - before.external < 10_000_000)
  })

  it('trailing bytes after a valid Metadata request: answered', async () => {
    assert.notEqual(await sent(requestFrame({ key: 3, version: 1, body: Buffer.from('00000000cafe', 'hex') })), 'closed')
  })

  it('three pipelined requests: answered in order', async () => {
    const one = await connect()
    const metadata = (correlationId: number) =>
      requestFrame({ key: 3, version: 1, correlationId, body: Buffer.from('00000000', 'hex') })
    one.write(Buffer.concat([metadata(1), requestFrame({ key: 18, version: 0, correlationId: 2 }), metadata(3)]))
    const order = []
    for (let each = 0; each < 3; each++) order.push((await one.frame())?.readInt32BE(0))
    assert.deepEqual(order, [1, 2, 3])
  })

  it('auto-creation of names that none may have: error 17; of 249 characters: 5, then created', async () => {
    const ask = async (topic: string) => {
      const { topics } = await client.ask('Metadata', 4, { topics: [{ name: topic }], allowAutoTopicCreation: true })
      return name(topics[0]!.errorCode)
    }
    for (const topic of ['..', '.', '../../etc/passwd', 'a b', 'thé', '', 'x'.repeat(250)]) {
      assert.equal(await ask(topic), 'INVALID_TOPIC_EXCEPTION', JSON.stringify(topic))
    }
    assert.deepEqual([await ask('x'.repeat(249)), await ask('x'.repeat(249))], ['LEADER_NOT_AVAILABLE', 'NONE'])
  })

  it('`a_b` when `a.b` exists: error 17', async () => {
    await create('a.b')
    const { topics } = await create('a_b')
    assert.equal(name(topics[0]!.errorCode), 'INVALID_TOPIC_EXCEPTION')
  })

  for (const acks of [2, -2]) {
    it(`produce with acks ${acks}: error 21`, async () => {
      assert.equal(await errorOf(batchOf(), { acks }), 'INVALID_REQUIRED_ACKS')
    })
  }

  for (const [what, make] of [
    ['a wrong CRC', () => changed('crc', 1)],
    ['magic 9', () => changed('magic', 9)],
    ['a batch length that is too small', () => changed('batchLength', 10)],
  ] as const) {
    it(`${what}: error 2`, async () => assert.equal(await errorOf(make()), 'CORRUPT_MESSAGE'))
  }

  for (const [what, make] of [
    ['a wrong record count', () => changed('recordCount', 3)],
    ['a wrong last offset delta', () => changed('lastOffsetDelta', 7)],
    ['two batches', () => Buffer.concat([batchOf(), batchOf()])],
    ['an empty set', () => Buffer.alloc(0)],
    ['a batch length past the end', () => changed('batchLength', 5000)],
    ['the control bit', () => changed('attributes', 0x20)],
    ['a base offset that is not 0', () => changed('baseOffset', 77)],
  ] as const) {
    it(`${what}: error 87`, async () => assert.equal(await errorOf(make()), 'INVALID_RECORD'))
  }

  it('null records: error 87, where Kafka gives no answer at all', async () => {
    assert.equal(await errorOf(null), 'INVALID_RECORD')
  })

  for (const codec of [5, 6, 7]) {
    it(`codec ${codec}: error 76, where Kafka says -1`, async () => {
      assert.equal(await errorOf(changed('attributes', codec)), 'UNSUPPORTED_COMPRESSION_TYPE')
    })
  }

  it('the transactional bit without a transactional id: error 53', async () => {
    const records = batchOf({ transactional: true, producerId: 1, producerEpoch: 0, baseSequence: 0 })
    assert.equal(await errorOf(records), 'TRANSACTIONAL_ID_AUTHORIZATION_FAILED')
  })

  it('an unknown topic or partition: error 3', async () => {
    assert.equal(await errorOf(batchOf(), { topic: 'nowhere' }), 'UNKNOWN_TOPIC_OR_PARTITION')
    for (const index of [1, -1, 2 ** 31 - 1]) assert.equal(await errorOf(batchOf(), { index }), 'UNKNOWN_TOPIC_OR_PARTITION')
  })

  it('`__consumer_offsets` by a client: error 17', async () => {
    await client.ask('FindCoordinator', 1, { key: 'group', keyType: 0 })
    assert.equal(await errorOf(batchOf(), { topic: '__consumer_offsets' }), 'INVALID_TOPIC_EXCEPTION')
  })

  it('sequences: an unknown producer may begin at 5, a gap is 45, the same again 0 with the first offset, an older epoch 47', async () => {
    const send = (baseSequence: number, producerEpoch = 1) => produce(batchOf({ producerId: 4000, producerEpoch, baseSequence }))
    assert.deepEqual(await send(5), { error: 'NONE', baseOffset: 0 })
    assert.deepEqual(await send(7), { error: 'NONE', baseOffset: 2 })
    assert.deepEqual((await send(20)).error, 'OUT_OF_ORDER_SEQUENCE_NUMBER')
    assert.deepEqual(await send(5), { error: 'NONE', baseOffset: 0 })
    assert.deepEqual((await send(9, 0)).error, 'INVALID_PRODUCER_EPOCH')
  })

  it('OffsetCommit v2 with the largest retention time: kept, where Kafka forgets it at once', async () => {
    await client.ask('FindCoordinator', 1, { key: 'kept', keyType: 0 })
    const partitions = [{ partitionIndex: 0, committedOffset: 3, committedMetadata: '' }]
    for (const retentionTimeMs of [2n ** 63n - 1n, 2n ** 53n]) {
      const commit = { groupId: 'kept', generationIdOrMemberEpoch: -1, memberId: '', retentionTimeMs }
      const { topics } = await client.ask('OffsetCommit', 2, { ...commit, topics: [{ name: 'odd', partitions }] })
      assert.equal(name(topics[0]!.partitions[0]!.errorCode), 'NONE')
      const fetched = await client.ask('OffsetFetch', 1, { groupId: 'kept', topics: [{ name: 'odd', partitionIndexes: [0] }] })
      assert.equal(fetched.topics[0]!.partitions[0]!.committedOffset, 3)
    }
  })

  it('InitProducerId with a producer id beyond 2^53: closed', async () => {
    const asked = { transactionalId: null, transactionTimeoutMs: 1000, producerId: 2n ** 53n, producerEpoch: 0 }
    await assert.rejects(client.ask('InitProducerId', 4, asked), /closed/)
  })

  it('a timestamp two days ahead: accepted', async () => {
    assert.equal(await errorOf(batchOf({}, 2, Date.now() + 2 * 86_400_000)), 'NONE')
  })

  it('acks=0 and an error: closed; without an error: nothing is said', async () => {
    const body = (topic: string) => ({
      acks: 0,
      timeoutMs: 1000,
      topicData: [{ name: topic, partitionData: [{ index: 0, records: batchOf() }] }],
    })
    await assert.rejects((await connect()).ask('Produce', 9, body('nowhere')), /closed/)
    const one = await connect()
    const frame = { api: 'Produce', version: 9, correlationId: 99, clientId: 'raw', body: body('odd') } as const
    one.write(Buffer.concat(encodeRequest(frame)))
    // The next answer on the connection is that of the next request, whose number ask() checks.
    assert.equal((await one.ask('ApiVersions', 0, {})).errorCode, 0)
  })

  it('10,001 new partitions in one request: error 37', async () => {
    const { topics } = await client.ask('CreateTopics', 5, {
      topics: [{ name: 'huge', numPartitions: 10_001, replicationFactor: 1 }],
    })
    assert.equal(name(topics[0]!.errorCode), 'INVALID_PARTITIONS')
    const { results } = await client.ask('CreatePartitions', 3, { topics: [{ name: 'odd', count: 10_002, assignments: null }] })
    assert.equal(name(results[0]!.errorCode), 'INVALID_PARTITIONS')
  })
})
