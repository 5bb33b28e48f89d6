import assert from 'node:assert/strict'
import { type Body, type ProduceRequest, RecordBatch } from '@mq/protocol'
import { CompressionTypes, logLevel } from '../enums.js'
import { Kafka, type ProducerConfig } from '../kafka.js'
import { nodeEnvironment } from '../node-environment.js'
import type { Clock } from '../ports.js'
import { FakeBroker, topicMetadata } from '../testing/fake-broker.js'
import { ManualTime } from '../testing/manual-timers.js'

type Produce = Body<typeof ProduceRequest>

const LEADER_NOT_AVAILABLE = 5
const MESSAGE_TOO_LARGE = 10

describe('the producer', () => {
  let broker: FakeBroker
  const closers: (() => Promise<void>)[] = []
  /** Values stored by the fake broker, by partition, in order. */
  const stored: { [partition: number]: string[] } = {}

  const store = (request: Produce, errorOf: (partition: number) => number = () => 0) => ({
    responses: request.topicData.map(({ name, partitionData }) => ({
      name,
      partitionResponses: partitionData.map(({ index, records }) => {
        const errorCode = errorOf(index)
        stored[index] ??= []
        const baseOffset = stored[index].length
        if (errorCode === 0) for (const { value } of new RecordBatch(records!).records()) stored[index].push(String(value))
        return { index, errorCode, baseOffset: errorCode === 0 ? baseOffset : -1, logStartOffset: 0 }
      }),
    })),
  })

  const producerOf = async (config: ProducerConfig = {}, clock: Clock = nodeEnvironment.clock) => {
    const kafka = new Kafka(
      { brokers: [broker.address], logLevel: logLevel.NOTHING, retry: { initialRetryTime: 1, retries: 3 } },
      { ...nodeEnvironment, clock, variables: {} },
    )
    const producer = kafka.producer(config)
    await producer.connect()
    closers.push(() => producer.disconnect())
    return producer
  }

  beforeEach(async () => {
    for (const key of Object.keys(stored)) delete stored[Number(key)]
    broker = await new FakeBroker().listen()
    const self = { nodeId: 1, host: '127.0.0.1', port: broker.port }
    broker.answers.Metadata = ({ topics }) => ({
      brokers: [self],
      controllerId: 1,
      clusterId: 'fake',
      topics: (topics ?? []).map(({ name }) => topicMetadata(name!, 3, 1)),
    })
    broker.answers.Produce = (request) => store(request)
    broker.answers.InitProducerId = () => ({ producerId: 4000, producerEpoch: 0 })
  })
  afterEach(async () => {
    for (const close of closers.splice(0)) await close()
    await broker.close()
  })

  it('answers one entry per partition, with the offset of its first message', async () => {
    const producer = await producerOf()
    const [first] = await producer.send({
      topic: 't',
      messages: [
        { partition: 2, value: 'a' },
        { partition: 2, value: 'b' },
      ],
    })
    assert.deepEqual(first, {
      topicName: 't',
      partition: 2,
      errorCode: 0,
      baseOffset: '0',
      logAppendTime: '-1',
      logStartOffset: '0',
    })
    const [second] = await producer.send({ topic: 't', messages: [{ partition: 2, value: 'c' }] })
    assert.equal(second!.baseOffset, '2')
  })

  it('gathers sends of one turn into few requests, each promise with its own offset', async () => {
    const producer = await producerOf()
    await producer.send({ topic: 't', messages: [{ partition: 0, value: 'warm' }] })
    const before = broker.count('Produce')
    const results = await Promise.all(
      Array.from({ length: 1000 }, (_, at) => producer.send({ topic: 't', messages: [{ partition: 0, value: `v${at}` }] })),
    )
    assert.ok(broker.count('Produce') - before <= 20, String(broker.count('Produce') - before))
    assert.deepEqual(
      results.map(([entry]) => entry!.baseOffset),
      Array.from({ length: 1000 }, (_, at) => String(at + 1)),
    )
  })

  it('keeps the order of a partition over failed tries', async () => {
    let failures = 2
    broker.answers.Produce = (request) => store(request, () => (failures-- > 0 ? 6 : 0))
    const producer = await producerOf()
    await Promise.all(['a', 'b', 'c'].map((value) => producer.send({ topic: 't', messages: [{ partition: 1, value }] })))
    assert.deepEqual(stored[1], ['a', 'b', 'c'])
  })

  it('says what is final at once, with type, topic and no retry; others in the request are not affected', async () => {
    broker.answers.Produce = (request) => store(request, (partition) => (partition === 0 ? MESSAGE_TOO_LARGE : 0))
    const producer = await producerOf()
    const [big, fine] = await Promise.allSettled([
      producer.send({ topic: 't', messages: [{ partition: 0, value: 'too large' }] }),
      producer.send({ topic: 't', messages: [{ partition: 1, value: 'fine' }] }),
    ])
    assert.equal(big.status, 'rejected')
    const { type, retriable, topic } = (big as PromiseRejectedResult).reason
    assert.deepEqual({ type, retriable, topic }, { type: 'MESSAGE_TOO_LARGE', retriable: false, topic: 't' })
    assert.equal(fine.status, 'fulfilled')
    assert.equal(broker.count('Produce'), 1)
  })

  it('gives up after the policy’s tries, with the last error as the cause', async () => {
    broker.answers.Produce = (request) => store(request, () => 6)
    const producer = await producerOf()
    await assert.rejects(
      producer.send({ topic: 't', messages: [{ partition: 0, value: 'x' }] }),
      (error: Error & { cause: { type: string } }) => {
        assert.equal(error.name, 'KafkaJSNumberOfRetriesExceeded')
        assert.equal(error.cause.type, 'NOT_LEADER_OR_FOLLOWER')
        return true
      },
    )
    assert.equal(broker.count('Produce'), 4)
  })

  it('reconnects after the broker closed the idle connection', async () => {
    const producer = await producerOf()
    await producer.send({ topic: 't', messages: [{ partition: 0, value: 'one' }] })
    broker.dropConnections()
    await new Promise(setImmediate)
    await producer.send({ topic: 't', messages: [{ partition: 0, value: 'two' }] })
    assert.deepEqual(stored[0], ['one', 'two'])
  })

  it('numbers an idempotent producer’s batches without gap, and repeats a number only with the same bytes', async () => {
    const seen: { sequence: number; count: number; bytes: string }[] = []
    let drop = true
    broker.answers.Produce = (request) => {
      for (const { partitionData } of request.topicData)
        for (const { records } of partitionData) {
          const batch = new RecordBatch(records!)
          assert.equal(batch.producerId, 4000)
          assert.ok(batch.crcIsValid())
          seen.push({ sequence: batch.baseSequence, count: batch.recordCount, bytes: records!.toString('hex') })
        }
      if (drop) {
        drop = false
        return 'close'
      }
      return store(request)
    }
    const producer = await producerOf({ idempotent: true, maxInFlightRequests: 5 })
    await Promise.all(
      Array.from({ length: 200 }, (_, at) => producer.send({ topic: 't', messages: [{ partition: 0, value: `v${at}` }] })),
    )
    assert.deepEqual(
      stored[0],
      Array.from({ length: 200 }, (_, at) => `v${at}`),
    )
    assert.equal(seen[0]!.bytes, seen[1]!.bytes)
    let next = 0
    for (const { sequence, count } of seen.slice(1)) {
      assert.equal(sequence, next)
      next += count
    }
  })

  it('takes a new producer id after a batch was given up', async () => {
    let ids = 4000
    broker.answers.InitProducerId = () => ({ producerId: ids++, producerEpoch: 0 })
    broker.answers.Produce = (request) => store(request, () => 87)
    const producer = await producerOf({ idempotent: true })
    await assert.rejects(producer.send({ topic: 't', messages: [{ partition: 0, value: 'bad' }] }))
    const sequences: number[][] = []
    broker.answers.Produce = (request) => {
      const batch = new RecordBatch(request.topicData[0]!.partitionData[0]!.records!)
      sequences.push([batch.producerId, batch.baseSequence])
      return store(request)
    }
    await producer.send({ topic: 't', messages: [{ partition: 0, value: 'good' }] })
    assert.deepEqual(sequences, [[4001, 0]])
  })

  it('resolves with nothing for acks=0, once the bytes are written', async () => {
    broker.answers.Produce = (request) => {
      store(request)
      return 'silence'
    }
    const producer = await producerOf()
    assert.deepEqual(await producer.send({ topic: 't', acks: 0, messages: [{ partition: 0, value: 'x' }] }), [])
  })

  it('refuses bad arguments by name, before anything is sent', async () => {
    const producer = await producerOf()
    const cases: [object, RegExp][] = [
      [{ topic: '', messages: [] }, /Invalid topic/],
      [{ topic: 't' }, /Invalid messages array/],
      [{ topic: 't', messages: [{ value: 'ok' }, { key: 'k' }] }, /without value for topic "t"/],
      [{ topic: 't', messages: [null] }, /got null/],
      [{ topic: 't', messages: [{ value: 'v', timestamp: 'yesterday' }] }, /Invalid timestamp "yesterday"/],
      [{ topic: 't', messages: [{ value: 'v', timestamp: '9223372036854775808' }] }, /Invalid timestamp "9223372036854775808"/],
      [{ topic: 't', messages: [{ value: 'v', timestamp: '1.5' }] }, /Invalid timestamp "1.5"/],
      [{ topic: 't', messages: [{ value: 'v' }], acks: 2 }, /Invalid acks 2/],
      [{ topic: 't', messages: [{ value: 'v' }], compression: 9 }, /Invalid compression 9/],
    ]
    for (const [record, expected] of cases) await assert.rejects(producer.send(record as never), expected)
    assert.equal(broker.count('Produce'), 0)
  })

  it('rejects sends before connect and after disconnect', async () => {
    const producer = await producerOf()
    await producer.disconnect()
    await assert.rejects(producer.send({ topic: 't', messages: [{ value: 'x' }] }), /The producer is disconnected/)
  })

  it('sends null keys and values as null, empty ones as empty, repeated headers in order', async () => {
    const batches: RecordBatch[] = []
    broker.answers.Produce = (request) => {
      batches.push(new RecordBatch(request.topicData[0]!.partitionData[0]!.records!))
      return store(request)
    }
    const producer = await producerOf()
    await producer.send({
      topic: 't',
      compression: CompressionTypes.GZIP,
      messages: [
        { partition: 0, key: null, value: null, timestamp: '1700000000000' },
        { partition: 0, key: '', value: '', headers: { h: ['1', Buffer.from('2')], n: undefined } },
      ],
    })
    const [tombstone, empty] = [...batches[0]!.records()]
    assert.equal(batches[0]!.codec, 1)
    assert.deepEqual([tombstone!.key, tombstone!.value, tombstone!.timestamp], [null, null, 1_700_000_000_000])
    assert.deepEqual([empty!.key!.length, empty!.value!.length], [0, 0])
    assert.deepEqual(
      empty!.headers.map(({ key, value }) => [key, value && String(value)]),
      [
        ['h', '1'],
        ['h', '2'],
        ['n', null],
      ],
    )
  })

  it('waits on disconnect for what was sent', async () => {
    const producer = await producerOf()
    const sent = producer.send({ topic: 't', messages: [{ partition: 0, value: 'late' }] })
    await new Promise(setImmediate)
    await producer.disconnect()
    assert.equal((await sent)[0]!.baseOffset, '0')
  })

  /** Every batch that came, whether it was taken or not. */
  const takeOnly = (largest: number): RecordBatch[] => {
    const batches: RecordBatch[] = []
    broker.answers.Produce = (request) => {
      const records = request.topicData[0]!.partitionData[0]!.records!
      const batch = new RecordBatch(records)
      batches.push(batch)
      return store(request, () => (batch.recordCount > largest ? MESSAGE_TOO_LARGE : 0))
    }
    return batches
  }

  for (const codec of [CompressionTypes.None, CompressionTypes.GZIP])
    it(`splits a batch that the broker finds too large, in order and without a gap in the sequence (codec ${codec})`, async () => {
      const batches = takeOnly(3)
      const producer = await producerOf({ idempotent: true })
      await producer.send({ topic: 't', messages: [{ partition: 0, value: 'warm' }] })
      const values = Array.from({ length: 12 }, (_, at) => `v${at}`)
      const sends = [values.slice(0, 1), values.slice(1, 7), values.slice(7, 8), values.slice(8)]
      const placed = await Promise.all(
        sends.map((each) =>
          producer.send({ topic: 't', compression: codec, messages: each.map((value) => ({ partition: 0, key: 'k', value })) }),
        ),
      )
      assert.deepEqual(stored[0], ['warm', ...values])
      assert.deepEqual(
        placed.map(([entry]) => entry!.baseOffset),
        ['1', '2', '8', '9'],
      )
      const taken = batches.filter(({ recordCount }) => recordCount <= 3)
      let next = 0
      for (const batch of taken) {
        assert.ok(batch.crcIsValid())
        assert.equal(batch.codec, batch === taken[0] ? 0 : codec)
        assert.deepEqual([batch.producerId, batch.baseSequence], [4000, next])
        next += batch.recordCount
      }
      const seen = batches.length
      await Promise.all(values.map((value) => producer.send({ topic: 't', messages: [{ partition: 0, key: 'k', value }] })))
      assert.ok(
        batches.slice(seen).every(({ recordCount }) => recordCount <= 4),
        'what was too large once is not made again',
      )
    })

  it('refuses the one message that is too large, and sends what shared its batch', async () => {
    broker.answers.Produce = (request) => {
      const records = request.topicData[0]!.partitionData[0]!.records!
      return store(request, () => (records.length > 400 ? MESSAGE_TOO_LARGE : 0))
    }
    const producer = await producerOf()
    const results = await Promise.allSettled(
      ['a', 'b', 'x'.repeat(500), 'c'].map((value) => producer.send({ topic: 't', messages: [{ partition: 0, value }] })),
    )
    assert.deepEqual(
      results.map((each) => (each.status === 'rejected' ? each.reason.type : each.value[0]!.baseOffset)),
      ['0', '1', 'MESSAGE_TOO_LARGE', '2'],
    )
  })

  it('sends header values that are no text as their text, as it does keys and values, and goes on', async () => {
    const seen: unknown[] = []
    broker.answers.Produce = (request) => {
      const batch = new RecordBatch(request.topicData[0]!.partitionData[0]!.records!)
      for (const { key, value, headers } of batch.records())
        seen.push([String(key), String(value), headers.map((header) => [header.key, header.value && String(header.value)])])
      return store(request)
    }
    const producer = await producerOf()
    const headers = { number: 5, truth: true, nothing: null, list: [1, 'two'] }
    await producer.send({ topic: 't', messages: [{ partition: 0, key: 7, value: 8, headers }] as never })
    await producer.send({ topic: 't', messages: [{ partition: 0, key: 'k', value: 'after' }] })
    const sent = [
      ['number', '5'],
      ['truth', 'true'],
      ['nothing', null],
      ['list', '1'],
      ['list', 'two'],
    ]
    assert.deepEqual(seen, [
      ['7', '8', sent],
      ['k', 'after', []],
    ])
  })

  it('asks for the metadata again when it is old, and then sends to partitions that were added', async () => {
    let partitions = 1
    broker.answers.Metadata = ({ topics }) => ({
      brokers: [{ nodeId: 1, host: '127.0.0.1', port: broker.port }],
      controllerId: 1,
      clusterId: 'fake',
      topics: (topics ?? []).map(({ name }) => topicMetadata(name!, partitions, 1)),
    })
    const time = new ManualTime()
    const producer = await producerOf({ metadataMaxAge: 60_000 }, time)
    const send = () => producer.send({ topic: 't', messages: Array.from({ length: 8 }, () => ({ value: 'v' })) })
    await send()
    partitions = 4
    time.advance(59_999)
    await send()
    assert.deepEqual(Object.keys(stored), ['0'])
    time.advance(1)
    await send()
    assert.deepEqual(Object.keys(stored), ['0', '1', '2', '3'])
  })

  it('waits for the leader of a partition by the policy’s tries, however busy other partitions are', async () => {
    let refused = 0
    let busy = true
    broker.answers.Metadata = ({ topics }) => {
      const known = (topics ?? []).map(({ name }) => topicMetadata(name!, 3, 1))
      // Three tries are allowed; each of them asks once.
      for (const { partitions } of known)
        if (partitions[1] !== undefined && refused++ < 3)
          partitions[1] = { ...partitions[1], leaderId: -1, errorCode: LEADER_NOT_AVAILABLE }
      return { brokers: [{ nodeId: 1, host: '127.0.0.1', port: broker.port }], controllerId: 1, clusterId: 'fake', topics: known }
    }
    const producer = await producerOf()
    const keepBusy = async () => {
      while (busy) await producer.send({ topic: 't', messages: [{ partition: 0, value: 'busy' }] })
    }
    const others = keepBusy()
    try {
      await producer.send({ topic: 't', messages: [{ partition: 1, value: 'patient' }] })
    } finally {
      busy = false
      await others
    }
    assert.deepEqual(stored[1], ['patient'])
    assert.ok(broker.count('Metadata') <= 6, `${broker.count('Metadata')} questions for the metadata`)
  })

  it('names a partition that does not exist', async () => {
    const producer = await producerOf()
    await assert.rejects(producer.send({ topic: 't', messages: [{ partition: 7, value: 'x' }] }), (error: Error) => {
      assert.equal((error.cause as { type: string }).type, 'UNKNOWN_TOPIC_OR_PARTITION')
      assert.match(error.message, /t has 3 partitions, and none with the number 7/)
      return true
    })
  })

  it('refuses to be idempotent without retries', () => {
    const kafka = new Kafka({ brokers: [broker.address], logLevel: logLevel.NOTHING })
    assert.throws(() => kafka.producer({ idempotent: true, retry: { retries: 0 } }), {
      name: 'KafkaJSNonRetriableError',
      message: 'Idempotent producer must allow retries to protect against transient errors',
    })
  })
})
