import assert from 'node:assert/strict'
import { logLevel } from '../enums.js'
import { Kafka } from '../kafka.js'
import { nodeEnvironment } from '../node-environment.js'
import { FakeBroker } from '../testing/fake-broker.js'
import { FakeGroup, until } from '../testing/fake-group.js'

describe('fetching', () => {
  let group: FakeGroup
  const closers: (() => Promise<void>)[] = []
  const consumerOf = async (rackId = '') => {
    const kafka = new Kafka(
      { brokers: [group.broker.address], logLevel: logLevel.NOTHING, retry: { initialRetryTime: 1, retries: 3 } },
      { ...nodeEnvironment, variables: {} },
    )
    const consumer = kafka.consumer({ groupId: 'g', maxWaitTimeInMs: 2_000, rackId })
    closers.push(() => consumer.disconnect())
    await consumer.connect()
    await consumer.subscribe({ topics: ['t'], fromBeginning: true })
    return consumer
  }

  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close()
  })

  it('goes to the nearer replica that the leader names, and back to the leader when that fails', async () => {
    group = await new FakeGroup().listen()
    closers.push(() => group.close())
    const nearer = await new FakeBroker({ nodeId: 2 }).listen()
    closers.push(() => nearer.close())
    const { Metadata, Fetch } = group.broker.answers
    const { port } = nearer
    group.broker.answers.Metadata = async (...args) => {
      const answer = (await Metadata!(...args)) as { brokers: object[] }
      return { ...answer, brokers: [...answer.brokers, { nodeId: 2, host: '127.0.0.1', port }] }
    }
    let sendsAway = true
    const racks = new Set<string>()
    group.broker.answers.Fetch = (request, call) => {
      racks.add(request.rackId)
      return sendsAway
        ? { responses: [{ topic: 't', partitions: [{ partitionIndex: 0, preferredReadReplica: 2, highWatermark: 2 }] }] }
        : Fetch!(request, call)
    }
    nearer.answers.Fetch = (request, call) => Fetch!(request, call)
    group.append(0, 'a')
    const consumer = await consumerOf('here')
    const seen: string[] = []
    await consumer.run({ eachMessage: async ({ message }) => void seen.push(String(message.value)) })
    await until(() => seen.length === 1, 'it is read from the nearer replica')
    assert.deepEqual([...racks], ['here'])
    assert.ok(nearer.count('Fetch') >= 1)
    sendsAway = false
    await nearer.close()
    closers.splice(1, 1)
    group.append(0, 'b')
    await until(() => seen.length === 2, 'it is read from the leader')
    assert.deepEqual(seen, ['a', 'b'])
  })

  it('does not let a busy partition wait for the silence of an idle one', async () => {
    group = await new FakeGroup({ partitions: 2 }).listen()
    closers.push(() => group.close())
    for (let at = 0; at < 20; at++) group.append(0, `${at}`, undefined)
    group.append(0, 'last')
    const consumer = await consumerOf()
    const seen: string[] = []
    const began = performance.now()
    await consumer.run({
      eachMessage: async ({ message }) => {
        seen.push(String(message.value))
        // The handler takes its time, so that the next chunk waits while the idle partition is asked for alone.
        await new Promise((resolve) => setTimeout(resolve, 3))
      },
    })
    await until(() => seen.length === 21, 'all are read')
    // One long poll for the idle partition alone would take 2 s, and there are twenty chunks.
    assert.ok(performance.now() - began < 4_000, `${performance.now() - began} ms`)
    const waits = group.broker.requests
      .filter(({ api }) => api === 'Fetch')
      .map(({ body }) => body as { maxWaitMs: number; topics: { partitions: { partition: number }[] }[] })
      .filter(({ topics }) => topics[0]!.partitions.every(({ partition }) => partition === 1))
      .map(({ maxWaitMs }) => maxWaitMs)
    assert.ok(
      waits.every((wait) => wait <= 50),
      waits.join(),
    )
  })
})
