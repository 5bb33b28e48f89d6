// Drives @platformatic/kafka for the interop table.
import { readFileSync } from 'node:fs'
import { join as joinPath } from 'node:path'
import { pathToFileURL } from 'node:url'
import zlib from 'node:zlib'
import { Program } from '../program.mjs'
import { collected, serve } from './answer.mjs'

const [clients, bootstrap] = process.argv.slice(2)
const home = joinPath(clients, 'node_modules/@platformatic/kafka')
const { Admin, Consumer, Producer, stringDeserializers, stringSerializers } = await import(
  pathToFileURL(joinPath(home, 'dist/index.js'))
)
const TOPIC_RESOURCE = 2
const SET = 0

const base = { clientId: 'platformatic', bootstrapBrokers: [bootstrap], retries: 3 }
const grouped = { ...base, deserializers: stringDeserializers, maxWaitTime: 200, minBytes: 1 }
const members = new Map()
const successors = new Map()

serve(
  {
    hello: () => ({
      version: JSON.parse(readFileSync(joinPath(home, 'package.json'), 'utf8')).version,
      codecs: ['none', 'gzip', 'snappy', 'lz4', ...(typeof zlib.zstdCompressSync === 'function' ? ['zstd'] : [])],
      can: [
        'timestamps',
        'headers',
        'idempotent',
        'static',
        'transactions',
        'admin',
        'configs',
        'committed',
        'deleteRecords',
        'seek',
        'codes',
      ],
    }),
    admin: (ask) => withAdmin((admin) => changeTopic(admin, ask)),
    produce,
    consume,
    committed: ({ topic, group }) =>
      withAdmin(async (admin) => {
        const [{ topics }] = await admin.listConsumerGroupOffsets({ groups: [group] })
        const { partitions } = topics.find((one) => one.name === topic)
        return { offsets: Object.fromEntries(partitions.map((one) => [one.partitionIndex, Number(one.committedOffset)])) }
      }),
    seek,
    join: (ask) => (ask.instanceId === undefined || process.env.MQ_MEMBER === ask.member ? join(ask) : joinInProcess(ask)),
    assignment: ({ member }) => members.get(member).look(),
    leave: async ({ member }) => {
      await members.get(member).consumer.close(true)
      members.delete(member)
    },
    delete: (ask) => withAdmin((admin) => deleteAll(admin, ask)),
    transaction: async ({ id }) => {
      const producer = new Producer({ ...base, transactionalId: id, idempotent: true, serializers: stringSerializers })
      try {
        await producer.beginTransaction()
      } finally {
        await producer.close(true)
      }
    },
  },
  codeOf,
)

/** The client wraps errors of the protocol in errors of its own: the first code found inside counts. */
function codeOf(error) {
  if (typeof error?.apiCode === 'number') return error.apiCode
  for (const inner of [...(error?.errors ?? []), error?.cause].filter(Boolean)) {
    const code = codeOf(inner)
    if (code !== undefined) return code
  }
  return undefined
}

async function withAdmin(work) {
  const admin = new Admin(base)
  try {
    return await work(admin)
  } finally {
    await admin.close()
  }
}

async function changeTopic(admin, { topic, partitions, config, alter, total }) {
  const resource = { resourceType: TOPIC_RESOURCE, resourceName: topic }
  const describe = async () => {
    const [{ configs }] = await admin.describeConfigs({ resources: [{ ...resource, configurationKeys: Object.keys(config) }] })
    const metadata = await admin.metadata({ topics: [topic], forceUpdate: true })
    return {
      partitions: metadata.topics.get(topic).partitions.length,
      config: Object.fromEntries(configs.map(({ name, value }) => [name, value])),
    }
  }
  await admin.createTopics({
    topics: [topic],
    partitions,
    replicas: 1,
    configs: Object.entries(config).map(([name, value]) => ({ name, value })),
  })
  const described = await describe()
  const configs = Object.entries(alter).map(([name, value]) => ({ name, value, configOperation: SET }))
  await admin.incrementalAlterConfigs({ resources: [{ ...resource, configs }] })
  await admin.createPartitions({ topics: [{ name: topic, count: total, assignments: null }] })
  return { described, altered: await describe(), topics: await admin.listTopics() }
}

async function produce({ topic, codec, idempotent, records }) {
  const producer = new Producer({ ...base, serializers: stringSerializers, compression: codec, idempotent, acks: -1 })
  try {
    const messages = records.map(({ key, value, headers, timestamp }) => ({
      topic,
      key,
      value,
      headers: Object.fromEntries(headers),
      timestamp: BigInt(timestamp),
    }))
    await producer.send({ messages })
    return { at: [] }
  } finally {
    await producer.close()
  }
}

async function consume({ topic, group, count }) {
  const consumer = new Consumer({ ...grouped, groupId: group, autocommit: false })
  try {
    const stream = await consumer.consume({ topics: [topic], mode: 'committed', fallbackMode: 'earliest', autocommit: false })
    const { records, messages } = await read(stream, count)
    const last = new Map()
    for (const message of messages) last.set(message.partition, message)
    for (const message of last.values()) await message.commit()
    await stream.close()
    return { records }
  } finally {
    await consumer.close(true)
  }
}

async function read(stream, count) {
  const records = []
  const messages = []
  let wake = () => {}
  stream.on('error', () => {})
  stream.on('data', (message) => {
    if (records.length < count) {
      records.push(plain(message))
      messages.push(message)
    }
    wake()
  })
  await collected(records, count, (check) => {
    wake = check
  })
  return { records, messages }
}

function plain({ partition, offset, timestamp, key, value, headers }) {
  return { partition, offset: Number(offset), timestamp: Number(timestamp), key, value, headers: [...headers] }
}

async function seek({ topic, timestamp, count }) {
  const consumer = new Consumer({ ...grouped, groupId: `${topic}-seek`, autocommit: false })
  try {
    const found = await consumer.listOffsetsWithTimestamps({ topics: [topic], timestamp: BigInt(timestamp) })
    const ends = (await consumer.listOffsets({ topics: [topic] })).get(topic)
    const offsets = {}
    const starts = [...found.get(topic)].map(([partition, { offset }]) => {
      if (offset >= 0n) offsets[partition] = Number(offset)
      return { topic, partition, offset: offset >= 0n ? offset : ends[partition] }
    })
    const stream = await consumer.consume({ topics: [topic], mode: 'manual', offsets: starts, autocommit: false })
    const { records } = await read(stream, count)
    await stream.close()
    return { offsets, records }
  } finally {
    await consumer.close(true)
  }
}

async function join({ member, topic, group, instanceId }) {
  const consumer = new Consumer({
    ...grouped,
    groupId: group,
    groupInstanceId: instanceId,
    sessionTimeout: 10_000,
    rebalanceTimeout: 10_000,
    heartbeatInterval: 300,
    autocommit: false,
  })
  const state = { partitions: [], rebalances: 0 }
  consumer.on('consumer:group:join', ({ assignments }) => {
    state.partitions = assignments.find((one) => one.topic === topic)?.partitions ?? []
    state.rebalances += 1
  })
  consumer.on('consumer:group:rebalance', () => {
    state.partitions = []
  })
  members.set(member, { consumer, look: () => state })
  const stream = await consumer.consume({ topics: [topic], mode: 'committed', fallbackMode: 'earliest', autocommit: false })
  stream.on('error', () => {})
  stream.on('data', () => {})
}

/**
 * The client leaves the group on close, static or not: a static member that goes without a word is a process that is killed. The next
 * one of its name is there before it goes: a busy machine may need longer to start a process than the session lasts.
 */
async function joinInProcess(ask) {
  const { member } = ask
  const own = successors.get(member) ?? (await processFor(member))
  await own.ask(ask)
  const close = async () => {
    successors.set(member, await processFor(member))
    own.kill()
  }
  members.set(member, { consumer: { close }, look: () => own.ask({ do: 'assignment', member }) })
}

async function processFor(member) {
  const own = new Program(process.execPath, process.argv.slice(1), { MQ_MEMBER: member })
  await own.ask({ do: 'hello' })
  return own
}

async function deleteAll(admin, { topic, group, before }) {
  await admin.deleteRecords({
    topics: [
      {
        name: topic,
        partitions: Object.entries(before).map(([partition, offset]) => ({
          partition: Number(partition),
          offset: BigInt(offset),
        })),
      },
    ],
  })
  const partitions = Object.keys(before).map((partition) => ({ partitionIndex: Number(partition), timestamp: -2n }))
  const [listed] = await admin.listOffsets({ topics: [{ name: topic, partitions }] })
  await admin.deleteGroups({ groups: [group] })
  await admin.deleteTopics({ topics: [topic] })
  return {
    earliest: Object.fromEntries(listed.partitions.map((one) => [one.partitionIndex, Number(one.offset)])),
    groups: [...(await admin.listGroups()).keys()],
    topics: await admin.listTopics(),
  }
}
