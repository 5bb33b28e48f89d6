/** @mq/client against a broker in the same process: what users of other clients complained of, each with its right value. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { connect as connectSocket } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ManualTime, type RunningBroker, startBroker } from '@mq/broker'
import { type Consumer, Kafka, KafkaJSAggregateError, KafkaJSCreateTopicError, logLevel } from '@mq/client'
import * as kafkajs from 'kafkajs'

const LIMIT_MS = 15_000
const EXAMPLES = join(__dirname, '..', '..', 'examples')

async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const end = performance.now() + LIMIT_MS
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`waited too long until ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

async function hasIpv6(port: number): Promise<boolean> {
  const socket = connectSocket({ host: '::1', port })
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

describe('the client on a broker in the process', () => {
  let broker: RunningBroker
  const closers: (() => Promise<void>)[] = []

  const kafkaOf = (bootstrap = broker.bootstrap): Kafka => new Kafka({ brokers: [bootstrap], logLevel: logLevel.NOTHING })
  const using = async <Client extends { connect(): Promise<void>; disconnect(): Promise<void> }>(
    client: Client,
  ): Promise<Client> => {
    await client.connect()
    closers.push(() => client.disconnect())
    return client
  }
  const createTopic = async (topic: string, numPartitions = 1): Promise<void> => {
    const admin = await using(kafkaOf().admin())
    assert.equal(await admin.createTopics({ topics: [{ topic, numPartitions }] }), true)
  }

  before(async () => {
    broker = await startBroker()
  })
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close()
    await broker.reset()
  })
  after(() => broker.close())

  it('sends and reads through an IPv6 bootstrap address', async () => {
    const address = (await hasIpv6(broker.port)) ? `[::1]:${broker.port}` : broker.bootstrap
    const kafka = kafkaOf(address)
    const producer = await using(kafka.producer())
    await producer.send({ topic: 't', messages: [{ value: 'over six' }] })
    const consumer = await using(kafka.consumer({ groupId: 'g', maxWaitTimeInMs: 50 }))
    await consumer.subscribe({ topics: ['t'], fromBeginning: true })
    const value = await new Promise((resolve) =>
      consumer.run({ eachMessage: async ({ message }) => resolve(String(message.value)) }),
    )
    assert.equal(value, 'over six')
  })

  it('acknowledges a thousand awaited sends, each at its own offset', async () => {
    await createTopic('t')
    const producer = await using(kafkaOf().producer())
    const offsets: string[] = []
    for (let at = 0; at < 1_000; at++) {
      const [placed] = await producer.send({ topic: 't', messages: [{ value: String(at) }] })
      offsets.push(placed!.baseOffset!)
    }
    assert.deepEqual(
      offsets,
      Array.from({ length: 1_000 }, (_, at) => String(at)),
    )
  })

  it('shares a group with kafkajs', async () => {
    await createTopic('t', 2)
    const producer = await using(kafkaOf().producer())
    const ours: number[] = []
    const theirs: number[] = []
    const consumer = await using(kafkaOf().consumer({ groupId: 'g', heartbeatInterval: 50, maxWaitTimeInMs: 50 }))
    await consumer.subscribe({ topics: ['t'], fromBeginning: true })
    await consumer.run({ eachMessage: async ({ partition }) => void ours.push(partition) })
    const other = await using(
      new kafkajs.Kafka({ brokers: [broker.bootstrap], logLevel: kafkajs.logLevel.NOTHING }).consumer({
        groupId: 'g',
        heartbeatInterval: 50,
        maxWaitTimeInMs: 50,
      }),
    )
    await other.subscribe({ topics: ['t'], fromBeginning: true })
    await other.run({ eachMessage: async ({ partition }) => void theirs.push(partition) })
    const sendBoth = () => producer.send({ topic: 't', messages: [0, 1].map((partition) => ({ partition, value: 'x' })) })
    await until(async () => {
      await sendBoth()
      return theirs.length > 0
    }, 'kafkajs has a partition')
    const before = ours.length
    await sendBoth()
    await until(() => ours.length > before, 'ours has the other')
    assert.notEqual(theirs.at(-1), ours.at(-1))
  })

  it('makes topics that can be used at once; false when they exist; an error that names the bad one', async () => {
    const admin = await using(kafkaOf().admin())
    const producer = await using(kafkaOf().producer({ allowAutoTopicCreation: false, retry: { retries: 0 } }))
    assert.equal(await admin.createTopics({ topics: [{ topic: 'new', numPartitions: 4 }] }), true)
    const placed = await producer.send({ topic: 'new', messages: [0, 1, 2, 3].map((partition) => ({ partition, value: 'x' })) })
    assert.deepEqual(
      placed.map(({ partition, baseOffset }) => [partition, baseOffset]).sort(),
      [0, 1, 2, 3].map((partition) => [partition, '0']),
    )
    assert.equal(await admin.createTopics({ topics: [{ topic: 'new' }] }), false)
    await assert.rejects(
      admin.createTopics({
        topics: [{ topic: 'bad', configEntries: [{ name: 'retention.ms', value: 'never' }] }, { topic: 'good' }],
      }),
      (error: KafkaJSAggregateError) => {
        assert.ok(error instanceof KafkaJSAggregateError)
        assert.deepEqual(
          error.errors.map((each) => [(each as KafkaJSCreateTopicError).topic, (each as KafkaJSCreateTopicError).type]),
          [['bad', 'INVALID_CONFIG']],
        )
        return error.errors[0] instanceof KafkaJSCreateTopicError
      },
    )
  })

  it('answers the high watermark for a time after the last record', async () => {
    await createTopic('t')
    const producer = await using(kafkaOf().producer())
    await producer.send({
      topic: 't',
      messages: [
        { value: 'a', timestamp: '1000' },
        { value: 'b', timestamp: '2000' },
      ],
    })
    const admin = await using(kafkaOf().admin())
    const at = async (time?: number) => (await admin.fetchTopicOffsetsByTimestamp('t', time))[0]!.offset
    assert.deepEqual([await at(0), await at(1_500), await at(2_001), await at()], ['0', '1', '2', '2'])
  })

  it('finds by time what has a time beyond 2^53, as kafkajs does', async () => {
    await createTopic('t')
    const producer = await using(kafkaOf().producer())
    const timestamp = '1152921504606846976'
    await producer.send({
      topic: 't',
      messages: [
        { value: 'now', timestamp: '1700000000000' },
        { value: 'far', timestamp },
      ],
    })
    const admin = await using(kafkaOf().admin())
    const theirs = await using(new kafkajs.Kafka({ brokers: [broker.bootstrap], logLevel: kafkajs.logLevel.NOTHING }).admin())
    const expected = [{ partition: 0, offset: '1' }]
    assert.deepEqual(await theirs.fetchTopicOffsetsByTimestamp('t', 1_700_000_000_001), expected)
    assert.deepEqual(await admin.fetchTopicOffsetsByTimestamp('t', 1_700_000_000_001), expected)
  })

  it('resets a group’s offsets, and reads on from there', async () => {
    await createTopic('t')
    const producer = await using(kafkaOf().producer())
    await producer.send({ topic: 't', messages: ['a', 'b', 'c'].map((value) => ({ value })) })
    const admin = await using(kafkaOf().admin())
    await admin.setOffsets({ groupId: 'g', topic: 't', partitions: [{ partition: 0, offset: '1' }] })
    const consumer = await using(kafkaOf().consumer({ groupId: 'g', maxWaitTimeInMs: 50 }))
    await consumer.subscribe({ topics: ['t'] })
    const seen: string[] = []
    await consumer.run({ eachMessage: async ({ message }) => void seen.push(String(message.value)) })
    await until(() => seen.length === 2, 'it has read on')
    assert.deepEqual(seen, ['b', 'c'])
    await assert.rejects(admin.resetOffsets({ groupId: 'g', topic: 't', earliest: true }), {
      message: /must have no running instances/,
    })
    await consumer.disconnect()
    await admin.resetOffsets({ groupId: 'g', topic: 't', earliest: true })
    const [stored] = await admin.fetchOffsets({ groupId: 'g', topics: ['t'] })
    assert.deepEqual(stored, { topic: 't', partitions: [{ partition: 0, offset: '0', metadata: null }] })
  })

  it('prints no warning in a whole run under --throw-deprecation', async () => {
    const { stderr, stdout } = await promisify(execFile)(
      process.execPath,
      ['--throw-deprecation', '--trace-warnings', join(EXAMPLES, 'quick-start.mjs')],
      { timeout: LIMIT_MS, env: { ...process.env, MQ_BROKER: broker.bootstrap } },
    )
    assert.equal(stderr, '')
    assert.match(stdout, /alice: second/)
  })
})

describe('the client on a broker that closes idle connections', () => {
  it('sends again without anybody’s help', async () => {
    const broker = await startBroker({ configs: { 'connections.max.idle.ms': 300 } })
    const kafka = new Kafka({ brokers: [broker.bootstrap], logLevel: logLevel.NOTHING })
    const producer = kafka.producer()
    try {
      await producer.connect()
      await producer.send({ topic: 't', messages: [{ value: 'a' }] })
      await new Promise((resolve) => setTimeout(resolve, 900))
      const [placed] = await producer.send({ topic: 't', messages: [{ value: 'b' }] })
      assert.equal(placed!.partition, 0)
    } finally {
      await producer.disconnect()
      await broker.close()
    }
  })
})

describe('a group with more members than partitions', () => {
  it('stays in one generation while sessions pass, and its idle member takes over when another leaves', async () => {
    // The broker's time moves only after every member has beaten: a slow machine ends no session.
    const time = new ManualTime()
    const broker = await startBroker({ environment: { clock: time, timers: time } })
    const kafka = new Kafka({ brokers: [broker.bootstrap], logLevel: logLevel.NOTHING })
    const sessionTimeout = 6_000
    const joins: { member: number; partitions: number }[] = []
    const beats = [0, 0, 0]
    const members: Consumer[] = []
    try {
      const admin = kafka.admin()
      await admin.connect()
      await admin.createTopics({ topics: [{ topic: 't', numPartitions: 2 }] })
      await admin.disconnect()
      for (const member of beats.keys()) {
        const consumer = kafka.consumer({ groupId: 'g', sessionTimeout, heartbeatInterval: 10, maxWaitTimeInMs: 500 })
        members.push(consumer)
        consumer.on(consumer.events.GROUP_JOIN, ({ payload: { memberAssignment } }) => {
          joins.push({ member, partitions: memberAssignment.t?.length ?? 0 })
        })
        consumer.on(consumer.events.HEARTBEAT, () => void beats[member]!++)
        await consumer.connect()
        await consumer.subscribe({ topics: ['t'], fromBeginning: true })
      }
      await Promise.all(members.map((each) => each.run({ eachMessage: async () => {} })))
      const latest = () => new Map(joins.map(({ member, partitions }) => [member, partitions]))
      const isShared = () => latest().size === 3 && [...latest().values()].sort().join() === '0,1,1'
      await until(isShared, 'the partitions are shared')
      const settled = joins.length
      for (let passed = 0; passed < 3 * sessionTimeout; passed += 2_000) {
        const before = [...beats]
        await until(() => beats.every((count, member) => count > before[member]!), 'every member has beaten')
        await time.advance(2_000)
      }
      assert.equal(joins.length, settled, 'nobody joined again')
      const owner = [...latest()].find(([, partitions]) => partitions === 1)![0]
      await members[owner]!.disconnect()
      await until(() => joins.length === settled + 2, 'the two that are left have joined again')
      assert.deepEqual(
        joins.slice(settled).map(({ partitions }) => partitions),
        [1, 1],
      )
    } finally {
      for (const each of members) await each.disconnect()
      await broker.close()
    }
  })
})
