/** The same small programs with kafkajs and with @mq/client, each on a broker of its own: they return, throw and tell the same. */

import assert from 'node:assert/strict'
import { type RunningBroker, startBroker } from '@mq/broker'
import * as ours from '@mq/client'
import * as kafkajs from 'kafkajs'

const LIMIT_MS = 15_000

interface Program {
  readonly kafka: kafkajs.Kafka
  readonly admin: kafkajs.Admin
  readonly producer: kafkajs.Producer
  readonly consumer: kafkajs.Consumer
  readonly brokerId: number
  /** What the consumer was handed and told, as it came. */
  readonly seen: { messages: unknown[]; events: { type: string; payload: unknown }[] }
}

const TOPIC = ours.ConfigResourceTypes.TOPIC
const BROKER = ours.ConfigResourceTypes.BROKER

/** In this order. What MQ does better on purpose (packages/client/README.md) is not in the list. */
const STEPS: [what: string, step: (program: Program) => unknown][] = [
  ['make topics', ({ admin }) => admin.createTopics({ topics: [{ topic: 't', numPartitions: 2 }, { topic: 'u' }] })],
  ['make a topic that exists', ({ admin }) => admin.createTopics({ topics: [{ topic: 't' }] })],
  ['make one that exists and one that does not', ({ admin }) => admin.createTopics({ topics: [{ topic: 't' }, { topic: 'w' }] })],
  ['make a topic with a bad name', ({ admin }) => admin.createTopics({ topics: [{ topic: 'bad name' }] })],
  [
    'make topics that the broker refuses',
    ({ admin }) =>
      admin.createTopics({
        topics: [
          { topic: 'x', configEntries: [{ name: 'retention.ms', value: 'never' }] },
          { topic: 'y', replicationFactor: 9 },
        ],
      }),
  ],
  [
    'make a topic with an assignment',
    ({ admin, brokerId }) =>
      admin.createTopics({ topics: [{ topic: 'as', replicaAssignment: [{ partition: 0, replicas: [brokerId] }] }] }),
  ],
  ['make nothing', ({ admin }) => admin.createTopics({ topics: [] })],
  ['only validate', ({ admin }) => admin.createTopics({ validateOnly: true, waitForLeaders: false, topics: [{ topic: 'v' }] })],
  ['list topics', async ({ admin }) => (await admin.listTopics()).sort()],
  ['metadata', ({ admin }) => admin.fetchTopicMetadata({ topics: ['t'] })],
  ['metadata of what is not there', ({ admin }) => admin.fetchTopicMetadata({ topics: ['nowhere'] })],
  ['metadata of what cannot be', ({ admin }) => admin.fetchTopicMetadata({ topics: ['bad name'] })],
  ['the cluster', ({ admin }) => admin.describeCluster()],
  ['fewer partitions', ({ admin }) => admin.createPartitions({ topicPartitions: [{ topic: 't', count: 1 }] })],
  [
    'partitions of what is not there',
    ({ admin }) => admin.createPartitions({ topicPartitions: [{ topic: 'nowhere', count: 1 }] }),
  ],
  ['delete a topic', ({ admin }) => admin.deleteTopics({ topics: ['as'] })],
  ['delete what is not there', ({ admin }) => admin.deleteTopics({ topics: ['nowhere'] })],
  ['offsets of what is not there', ({ admin }) => admin.fetchTopicOffsets('nowhere')],
  ['send before connect', ({ producer }) => producer.send({ topic: 't', messages: [{ value: 'x' }] })],
  ['connect', ({ producer }) => producer.connect()],
  ['connect again', ({ producer }) => producer.connect()],
  [
    'send',
    ({ producer }) =>
      producer.send({
        topic: 't',
        messages: [
          {
            partition: 0,
            key: 'a',
            value: '1',
            headers: { h: 'x', list: ['1', Buffer.from('2')] },
          },
          { partition: 0, key: Buffer.from('b'), value: null },
          { partition: 1, value: Buffer.from('3'), timestamp: '1700000000000' },
        ],
      }),
  ],
  ['send nothing', ({ producer }) => producer.send({ topic: 't', messages: [] })],
  ['send no value', ({ producer }) => producer.send({ topic: 't', messages: [{ key: 'k' } as never] })],
  ['send no messages', ({ producer }) => producer.send({ topic: 't', messages: null as never })],
  ['send nowhere', ({ producer }) => producer.send({ topic: '', messages: [{ value: '' }] })],
  ['send without an answer', ({ producer }) => producer.send({ topic: 't', acks: 0, messages: [{ partition: 0, value: 'x' }] })],
  ['send to the leader', ({ producer }) => producer.send({ topic: 't', acks: 1, messages: [{ partition: 0, value: 'x' }] })],
  [
    'send compressed',
    ({ producer }) =>
      producer.send({ topic: 't', compression: kafkajs.CompressionTypes.GZIP, messages: [{ partition: 0, value: 'gz' }] }),
  ],
  [
    'send what is too large',
    ({ producer }) => producer.send({ topic: 't', messages: [{ partition: 1, value: Buffer.alloc(2_000_000) }] }),
  ],
  [
    'send to several topics',
    ({ producer }) =>
      producer.sendBatch({
        topicMessages: [
          { topic: 't', messages: [{ partition: 1, value: 'x' }] },
          { topic: 't', messages: [{ partition: 1, value: 'y' }] },
          { topic: 'u', messages: [{ partition: 0, value: 'z' }] },
        ],
      }),
  ],
  ['send an empty batch', ({ producer }) => producer.sendBatch({ topicMessages: [] })],
  ['begin a transaction without an id', ({ producer }) => producer.transaction()],
  ['be idempotent without retries', ({ kafka }) => void kafka.producer({ idempotent: true, retry: { retries: 0 } })],
  ['disconnect', ({ producer }) => producer.disconnect()],
  ['disconnect again', ({ producer }) => producer.disconnect()],
  ['send after disconnect', ({ producer }) => producer.send({ topic: 't', messages: [{ value: 'x' }] })],
  ['offsets', ({ admin }) => admin.fetchTopicOffsets('t')],
  ['offsets by time', ({ admin }) => admin.fetchTopicOffsetsByTimestamp('t', 1_700_000_000_000)],
  ['offsets after the last', ({ admin }) => admin.fetchTopicOffsetsByTimestamp('t', 4_000_000_000_000)],
  ['a consumer without a group', ({ kafka }) => void kafka.consumer({} as never)],
  ['a consumer that hardly beats', ({ kafka }) => void kafka.consumer({ groupId: 'g', heartbeatInterval: 9, sessionTimeout: 9 })],
  ['seek before run', ({ consumer }) => consumer.seek({ topic: 't', partition: 0, offset: '1' })],
  ['pause before run', ({ consumer }) => consumer.pause([{ topic: 't' }])],
  ['paused before run', ({ consumer }) => consumer.paused()],
  ['commit before run', ({ consumer }) => consumer.commitOffsets([{ topic: 't', partition: 0, offset: '1' }])],
  ['connect the consumer', ({ consumer }) => consumer.connect()],
  ['subscribe to nothing', ({ consumer }) => consumer.subscribe({} as never)],
  ['subscribe to a text', ({ consumer }) => consumer.subscribe({ topics: 't' as never })],
  ['subscribe to a bad name', ({ consumer }) => consumer.subscribe({ topics: ['bad name'] })],
  ['subscribe', ({ consumer }) => consumer.subscribe({ topics: ['t', /^u$/], fromBeginning: true })],
  ['describe the group before run', ({ consumer }) => consumer.describeGroup()],
  ['run', run],
  ['what was read', ({ seen }) => seen.messages],
  ['subscribe while it runs', ({ consumer }) => consumer.subscribe({ topic: 'w' })],
  ['run again', ({ consumer }) => consumer.run({ eachMessage: async () => {} })],
  ['commit a bad partition', ({ consumer }) => consumer.commitOffsets([{ topic: 't', partition: 'x' as never, offset: '1' }])],
  ['commit below zero', ({ consumer }) => consumer.commitOffsets([{ topic: 't', partition: 0, offset: '-1' }])],
  ['commit', ({ consumer }) => consumer.commitOffsets([{ topic: 't', partition: 0, offset: '3', metadata: 'm' }])],
  ['commit nothing', ({ consumer }) => consumer.commitOffsets([])],
  ['seek nowhere', ({ consumer }) => consumer.seek({ topic: '', partition: 0, offset: '1' })],
  ['seek too low', ({ consumer }) => consumer.seek({ topic: 't', partition: 0, offset: '-5' })],
  ['pause', ({ consumer }) => consumer.pause([{ topic: 't', partitions: [0] }, { topic: 'u' }])],
  ['paused', ({ consumer }) => byTopic(consumer.paused())],
  ['resume', ({ consumer }) => consumer.resume([{ topic: 'u' }])],
  ['paused still', ({ consumer }) => consumer.paused()],
  ['pause badly', ({ consumer }) => consumer.pause([{ topic: 't', partitions: ['a' as never] }])],
  ['stop', ({ consumer }) => consumer.stop()],
  ['disconnect the consumer', ({ consumer }) => consumer.disconnect()],
  ['what it told', ({ seen }) => seen.events],
  ['committed in a topic', ({ admin }) => admin.fetchOffsets({ groupId: 'g', topics: ['t'] })],
  ['committed in all topics', ({ admin }) => byTopic(admin.fetchOffsets({ groupId: 'g' }))],
  ['committed in no topic named', ({ admin }) => byTopic(admin.fetchOffsets({ groupId: 'g', topics: [] }))],
  ['committed in a text', ({ admin }) => admin.fetchOffsets({ groupId: 'g', topics: 't' as never })],
  ['committed in what is not there', ({ admin }) => admin.fetchOffsets({ groupId: 'g', topics: ['nowhere'] })],
  ['list groups', ({ admin }) => admin.listGroups()],
  ['describe groups', ({ admin }) => admin.describeGroups(['g', 'nobody'])],
  ['delete a group', ({ admin }) => admin.deleteGroups(['g'])],
  ['delete no group', ({ admin }) => admin.deleteGroups(['nobody'])],
  [
    'configs of a topic',
    async ({ admin }) => {
      const configNames = ['retention.ms', 'cleanup.policy']
      return (await admin.describeConfigs({ includeSynonyms: true, resources: [{ type: TOPIC, name: 't', configNames }] }))
        .resources
    },
  ],
  [
    'configs without a value',
    async ({ admin, brokerId }) => {
      const configNames = ['log.retention.ms', 'ssl.keystore.password']
      return (
        await admin.describeConfigs({ includeSynonyms: false, resources: [{ type: BROKER, name: `${brokerId}`, configNames }] })
      ).resources
    },
  ],
  [
    'configs of what is not there',
    ({ admin }) => admin.describeConfigs({ includeSynonyms: false, resources: [{ type: TOPIC, name: 'nowhere' }] }),
  ],
  [
    'alter configs',
    async ({ admin }) =>
      (
        await admin.alterConfigs({
          validateOnly: false,
          resources: [{ type: TOPIC, name: 't', configEntries: [{ name: 'retention.ms', value: '-1' }] }],
        })
      ).resources,
  ],
  [
    'alter configs badly',
    ({ admin }) =>
      admin.alterConfigs({
        validateOnly: true,
        resources: [{ type: TOPIC, name: 't', configEntries: [{ name: 'retention.ms', value: 'x' }] }],
      }),
  ],
  ['delete records', ({ admin }) => admin.deleteTopicRecords({ topic: 't', partitions: [{ partition: 1, offset: '-1' }] })],
  ['offsets after that', ({ admin }) => admin.fetchTopicOffsets('t')],
  [
    'delete what is not there yet',
    ({ admin }) => admin.deleteTopicRecords({ topic: 't', partitions: [{ partition: 0, offset: '99' }] }),
  ],
  [
    'delete records of no partition',
    ({ admin }) => admin.deleteTopicRecords({ topic: 't', partitions: [{ partition: 9, offset: '1' }] }),
  ],
]

/** Brokers name topics and partitions in the order in which they came to know them. */
async function byTopic<Entry extends { topic: string; partitions: (number | { partition: number })[] }>(
  found: Entry[] | Promise<Entry[]>,
): Promise<Entry[]> {
  const numberOf = (each: number | { partition: number }): number => (typeof each === 'number' ? each : each.partition)
  const sorted = [...(await found)].sort((one, other) => (one.topic < other.topic ? -1 : 1))
  for (const { partitions } of sorted) partitions.sort((one, other) => numberOf(one) - numberOf(other))
  return sorted
}

const MESSAGES_IN_ALL = 9

/** Reads everything there is, one partition's messages in order; resolves once all of it is committed. */
async function run({ consumer, admin, seen }: Program): Promise<void> {
  const byPartition: { [place: string]: unknown[] } = {}
  const { HEARTBEAT, FETCH_START, FETCH, COMMIT_OFFSETS, REQUEST, REQUEST_TIMEOUT, REQUEST_QUEUE_SIZE, CONNECT, ...named } =
    consumer.events
  const batches: { [type: string]: unknown } = {}
  for (const name of Object.values(named))
    consumer.on(name, ({ type, payload }) => {
      if (type.includes('batch')) batches[type] ??= Object.keys(payload as object).sort()
      else seen.events.push({ type, payload: payload ?? null })
    })
  await consumer.run({
    eachMessage: async ({ topic, partition, message: { key, value, offset, headers, attributes }, heartbeat }) => {
      await heartbeat()
      byPartition[`${topic}-${partition}`] ??= []
      byPartition[`${topic}-${partition}`]!.push({ key, value, offset, headers: headers ?? {}, attributes })
    },
  })
  const end = performance.now() + LIMIT_MS
  for (;;) {
    const committed = await admin.fetchOffsets({ groupId: 'g' })
    const count = committed
      .flatMap(({ partitions }) => partitions)
      .reduce((sum, { offset }) => sum + Math.max(0, Number(offset)), 0)
    if (count === MESSAGES_IN_ALL) break
    if (performance.now() > end) throw new Error(`${count} of ${MESSAGES_IN_ALL} messages are committed`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  seen.messages.push(...Object.entries(byPartition).sort())
  seen.events.push({ type: 'batches', payload: batches })
}

/** What a program can see, without what differs from run to run. */
function plain(value: unknown): unknown {
  if (value instanceof Error) return plainError(value)
  if (Buffer.isBuffer(value)) return `bytes ${value.toString('latin1')}`
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, VARYING.has(name) ? typeof each : plain(each)]))
  return typeof value === 'string' ? value.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'UUID') : value
}
const VARYING = new Set(['port', 'duration', 'clusterId', 'host'])

/** Texts of what a broker answered are each client's own; programs match on the type. */
function plainError(error: Error): unknown {
  const { name, message, type, code, retriable, errors, groups, partitions, topic, cause } = error as Error & {
    [key: string]: unknown
  }
  const isAnswer = (each: unknown): boolean => (each as { type?: unknown } | undefined)?.type !== undefined
  return {
    name,
    ...(isAnswer(error) ? { type, code } : isAnswer(cause) ? { cause: plain(cause) } : { message }),
    retriable,
    ...(errors === undefined ? {} : { errors: plain(errors), topic }),
    ...(groups === undefined ? {} : { groups: plain(groups) }),
    ...(partitions === undefined ? {} : { partitions: plain(partitions) }),
  }
}

async function outcomes(client: typeof kafkajs): Promise<Map<string, unknown>> {
  const broker: RunningBroker = await startBroker()
  const kafka = new client.Kafka({
    brokers: [broker.bootstrap],
    clientId: 'program',
    logLevel: client.logLevel.NOTHING,
    retry: { retries: 2, initialRetryTime: 10 },
  })
  const admin = kafka.admin()
  const program: Program = {
    kafka,
    admin,
    producer: kafka.producer({ createPartitioner: client.Partitioners.DefaultPartitioner }),
    consumer: kafka.consumer({ groupId: 'g', maxWaitTimeInMs: 50 }),
    brokerId: broker.brokerId,
    seen: { messages: [], events: [] },
  }
  await admin.connect()
  const seen = new Map<string, unknown>()
  try {
    for (const [what, step] of STEPS)
      seen.set(
        what,
        await Promise.resolve()
          .then(() => step(program))
          .then(
            (value) => ({ returns: plain(value) }),
            (error: Error) => ({ throws: plain(error) }),
          ),
      )
  } finally {
    await program.consumer.disconnect()
    await program.producer.disconnect()
    await admin.disconnect()
    await broker.close()
  }
  return seen
}

describe('a program written for kafkajs sees the same with this client', () => {
  let theirs: Map<string, unknown>
  let mine: Map<string, unknown>
  before(async () => {
    const clients = [kafkajs, ours as unknown as typeof kafkajs]
    ;[theirs, mine] = (await Promise.all(clients.map(outcomes))) as [Map<string, unknown>, Map<string, unknown>]
  })

  for (const [what] of STEPS) it(what, () => assert.deepEqual(mine.get(what), theirs.get(what)))
})
