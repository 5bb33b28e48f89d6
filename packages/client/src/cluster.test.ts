import assert from 'node:assert/strict'
import net from 'node:net'
import type { Cluster } from './cluster.js'
import { logLevel } from './enums.js'
import { PartitionAssigners } from './index.js'
import { Kafka, type KafkaConfig } from './kafka.js'
import type { PartitionAssigner } from './names.js'
import { nodeEnvironment } from './node-environment.js'
import { FakeBroker, topicMetadata } from './testing/fake-broker.js'

const LEADER_NOT_AVAILABLE = 5
const UNKNOWN_TOPIC_OR_PARTITION = 3

describe('the way to a cluster', () => {
  const brokers: FakeBroker[] = []
  const closers: (() => Promise<unknown> | unknown)[] = []

  const fake = async (nodeId: number): Promise<FakeBroker> => {
    const broker = await new FakeBroker({ nodeId }).listen()
    brokers.push(broker)
    return broker
  }
  /** A server that accepts connections and never says a word. */
  const silent = async (): Promise<string> => {
    const sockets: net.Socket[] = []
    const server = net.createServer((socket) => sockets.push(socket))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    closers.push(() => {
      for (const socket of sockets) socket.destroy()
      return new Promise((resolve) => server.close(resolve))
    })
    return `127.0.0.1:${(server.address() as net.AddressInfo).port}`
  }
  const kafkaOf = (config: Partial<KafkaConfig> & { brokers: KafkaConfig['brokers'] }): Kafka =>
    new Kafka(
      { logLevel: logLevel.NOTHING, retry: { initialRetryTime: 1, retries: 3 }, ...config },
      { ...nodeEnvironment, variables: {} },
    )

  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close()
    for (const broker of brokers.splice(0)) await broker.close()
  })

  it('goes round a bootstrap broker that accepts and never answers, and one that is not there', async () => {
    const good = await fake(1)
    good.answers.InitProducerId = () => ({ producerId: 1, producerEpoch: 0 })
    const producer = kafkaOf({ brokers: [await silent(), '127.0.0.1:1', good.address], requestTimeout: 200 }).producer({
      idempotent: true,
    })
    await producer.connect()
    await producer.disconnect()
    assert.equal(good.count('InitProducerId'), 1)
  })

  it('asks the function for brokers again when none can be reached', async () => {
    const good = await fake(1)
    let calls = 0
    const admin = kafkaOf({ brokers: async () => (calls++ === 0 ? ['127.0.0.1:1'] : [good.address]) }).admin()
    await admin.connect()
    await admin.disconnect()
    assert.equal(calls, 2)
  })

  it('waits for the leader of a topic that is just being created', async () => {
    const broker = await fake(1)
    const self = { nodeId: 1, host: '127.0.0.1', port: broker.port }
    let answers = 0
    broker.answers.Metadata = ({ topics }) => ({
      brokers: [self],
      controllerId: 1,
      clusterId: 'fake',
      topics: (topics ?? []).map(({ name }) =>
        answers++ < 2 ? { name, errorCode: LEADER_NOT_AVAILABLE, partitions: [] } : topicMetadata(name!, 1, 1),
      ),
    })
    broker.answers.Produce = ({ topicData }) => ({
      responses: topicData.map(({ name, partitionData }) => ({
        name,
        partitionResponses: partitionData.map(({ index }) => ({ index, baseOffset: 0 })),
      })),
    })
    const producer = kafkaOf({ brokers: [broker.address] }).producer()
    await producer.connect()
    closers.push(() => producer.disconnect())
    const [placed] = await producer.send({ topic: 'new', messages: [{ value: 'a' }] })
    assert.equal(placed!.baseOffset, '0')
  })

  it('sends to a good topic after one that does not exist was refused', async () => {
    const broker = await fake(1)
    const self = { nodeId: 1, host: '127.0.0.1', port: broker.port }
    broker.answers.Metadata = ({ topics }) => ({
      brokers: [self],
      controllerId: 1,
      clusterId: 'fake',
      topics: (topics ?? []).map(({ name }) =>
        name === 'none' ? { name, errorCode: UNKNOWN_TOPIC_OR_PARTITION, partitions: [] } : topicMetadata(name!, 1, 1),
      ),
    })
    broker.answers.Produce = ({ topicData }) => ({
      responses: topicData.map(({ name, partitionData }) => ({
        name,
        partitionResponses: partitionData.map(({ index }) => ({ index, baseOffset: 0 })),
      })),
    })
    const producer = kafkaOf({ brokers: [broker.address] }).producer()
    await producer.connect()
    closers.push(() => producer.disconnect())
    await assert.rejects(
      producer.send({ topic: 'none', messages: [{ value: 'a' }] }),
      (error: Error & { cause: { topic: string } }) => {
        assert.equal(error.cause.topic, 'none')
        return true
      },
    )
    const [placed] = await producer.send({ topic: 'good', messages: [{ value: 'a' }] })
    assert.equal(placed!.baseOffset, '0')
  })

  it('finds offsets by time where records have times that no number holds', async () => {
    const broker = await fake(1)
    const self = { nodeId: 1, host: '127.0.0.1', port: broker.port }
    broker.answers.Metadata = ({ topics }) => ({
      brokers: [self],
      controllerId: 1,
      clusterId: 'fake',
      topics: (topics ?? []).map(({ name }) => topicMetadata(name!, 3, 1)),
    })
    const times = [2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n + 1n]
    broker.answers.ListOffsets = ({ topics }) => ({
      topics: topics.map(({ name, partitions }) => ({
        name,
        partitions: partitions.map(({ partitionIndex, timestamp }) =>
          timestamp === -1
            ? { partitionIndex, timestamp: -1, offset: 9 }
            : { partitionIndex, timestamp: times[partitionIndex]!, offset: 4 + partitionIndex },
        ),
      })),
    })
    const admin = kafkaOf({ brokers: [broker.address] }).admin()
    await admin.connect()
    closers.push(() => admin.disconnect())
    assert.deepEqual(await admin.fetchTopicOffsetsByTimestamp('t', 1_700_000_000_000), [
      { partition: 0, offset: '4' },
      { partition: 1, offset: '5' },
      { partition: 2, offset: '6' },
    ])
  })

  it('refuses what is no list of brokers, with the texts of kafkajs', async () => {
    const refusals: [brokers: unknown, message: string][] = [
      [undefined, 'Failed to connect: brokers should not be null'],
      [null, 'Failed to connect: brokers should not be null'],
      [[], 'Failed to connect: brokers array is empty'],
      [['localhost:9092', 7], 'Failed to connect: broker at index 1 is invalid "number"'],
    ]
    for (const [brokers, message] of refusals) {
      assert.throws(() => kafkaOf({ brokers: brokers as never }), { name: 'KafkaJSNonRetriableError', message })
      const admin = kafkaOf({ brokers: async () => brokers as never }).admin()
      await assert.rejects(admin.connect(), { name: 'KafkaJSNonRetriableError', message })
    }
    const failing = kafkaOf({
      brokers: () => {
        throw new Error('no service')
      },
    }).admin()
    await assert.rejects(failing.connect(), { message: 'Failed to connect: "config.brokers" threw: no service' })
  })

  it('never asks behind a fetch, which may wait for seconds', async () => {
    const broker = await fake(1)
    let cluster!: Cluster
    const partitionAssigner: PartitionAssigner = (given) => {
      cluster = given.cluster
      return PartitionAssigners.roundRobin(given)
    }
    const consumer = kafkaOf({ brokers: [broker.address] }).consumer({ groupId: 'g', partitionAssigners: [partitionAssigner] })
    await consumer.connect()
    closers.push(() => consumer.disconnect())
    await cluster.findBroker({ nodeId: 1 }, 'fetch')
    const main = await cluster.anyBroker()
    main.close()
    const again = await cluster.anyBroker()
    assert.notEqual(again, await cluster.findBroker({ nodeId: 1 }, 'fetch'))
    assert.equal(again, await cluster.findBroker({ nodeId: 1 }))
  })

  it('speaks plain text where ssl and sasl are given as nothing', async () => {
    const broker = await fake(1)
    for (const nothing of [null, false, undefined]) {
      const admin = kafkaOf({ brokers: [broker.address], ssl: nothing as never, ...{ sasl: nothing } }).admin()
      await admin.connect()
      await admin.disconnect()
    }
    assert.throws(() => kafkaOf({ brokers: [broker.address], ...{ sasl: { mechanism: 'plain' } } }), /SASL .* not implemented/)
  })
})
