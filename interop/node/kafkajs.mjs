// Drives kafkajs for the interop table, with the codec plug-ins that its users add.
import { createRequire } from 'node:module'
import { join as joinPath } from 'node:path'
import { collected, serve } from './answer.mjs'

const [clients, bootstrap] = process.argv.slice(2)
const require = createRequire(joinPath(clients, 'package.json'))
const { Kafka, CompressionCodecs, CompressionTypes, ConfigResourceTypes, logLevel } = require('kafkajs')
CompressionCodecs[CompressionTypes.Snappy] = require('kafkajs-snappy')
CompressionCodecs[CompressionTypes.LZ4] = new (require('@2l/kafkajs-lz4').default ?? require('@2l/kafkajs-lz4'))().codec
const zstd = require('@mongodb-js/zstd')
CompressionCodecs[CompressionTypes.ZSTD] = () => ({
  compress: ({ buffer }) => zstd.compress(buffer),
  decompress: (buffer) => zstd.decompress(buffer),
})
const CODECS = { none: 'None', gzip: 'GZIP', snappy: 'Snappy', lz4: 'LZ4', zstd: 'ZSTD' }

const kafka = new Kafka({ clientId: 'kafkajs', brokers: [bootstrap], logLevel: logLevel.NOTHING, retry: { retries: 3 } })
const members = new Map()

serve(
  {
    hello: () => ({
      version: require('kafkajs/package.json').version,
      codecs: Object.keys(CODECS),
      can: [
        'timestamps',
        'headers',
        'offsets',
        'idempotent',
        'transactions',
        'admin',
        'configs',
        'committed',
        'deleteRecords',
        'seek',
      ],
    }),
    admin: (ask) => withAdmin((admin) => changeTopic(admin, ask)),
    produce,
    consume,
    committed: ({ topic, group }) =>
      withAdmin(async (admin) => {
        const [{ partitions }] = await admin.fetchOffsets({ groupId: group, topics: [topic] })
        return {
          offsets: Object.fromEntries(
            partitions.filter((one) => one.offset !== '-1').map((one) => [one.partition, Number(one.offset)]),
          ),
        }
      }),
    seek,
    join,
    assignment: ({ member }) => members.get(member).look(),
    leave: async ({ member }) => {
      await members.get(member).consumer.disconnect()
      members.delete(member)
    },
    delete: (ask) => withAdmin((admin) => deleteAll(admin, ask)),
    transaction: async ({ id }) => {
      const producer = kafka.producer({ transactionalId: id, maxInFlightRequests: 1, idempotent: true })
      try {
        await producer.connect()
        await producer.transaction()
      } finally {
        await producer.disconnect()
      }
    },
  },
  (error) => error?.code ?? error?.cause?.code,
)

async function withAdmin(work) {
  const admin = kafka.admin()
  await admin.connect()
  try {
    return await work(admin)
  } finally {
    await admin.disconnect()
  }
}

async function changeTopic(admin, { topic, partitions, config, alter, total }) {
  const configEntries = Object.entries(config).map(([name, value]) => ({ name, value }))
  await admin.createTopics({ topics: [{ topic, numPartitions: partitions, configEntries }], waitForLeaders: true })
  const describe = async () => {
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] })
    const { resources } = await admin.describeConfigs({
      resources: [{ type: ConfigResourceTypes.TOPIC, name: topic, configNames: Object.keys(config) }],
    })
    return {
      partitions: topics[0].partitions.length,
      config: Object.fromEntries(resources[0].configEntries.map((one) => [one.configName, one.configValue])),
    }
  }
  const described = await describe()
  // kafkajs has the old AlterConfigs only: what is not named goes back to its default.
  const all = Object.entries({ ...config, ...alter }).map(([name, value]) => ({ name, value }))
  await admin.alterConfigs({ resources: [{ type: ConfigResourceTypes.TOPIC, name: topic, configEntries: all }] })
  await admin.createPartitions({ topicPartitions: [{ topic, count: total }] })
  return { described, altered: await describe(), topics: await admin.listTopics() }
}

async function produce({ topic, codec, idempotent, records }) {
  const producer = kafka.producer({ idempotent })
  await producer.connect()
  const at = []
  try {
    // A send tells one base offset a partition; keys that follow each other by partition tell the rest.
    const messages = records.map(({ key, value, headers, timestamp }) => ({
      key,
      value,
      headers: Object.fromEntries(headers),
      timestamp: String(timestamp),
    }))
    const partitioner = require('kafkajs').Partitioners.DefaultPartitioner()
    const { topics } = await withAdmin((admin) => admin.fetchTopicMetadata({ topics: [topic] }))
    const partitionMetadata = topics[0].partitions
    const placed = messages.map((message) => ({ ...message, partition: partitioner({ topic, partitionMetadata, message }) }))
    const answers = await producer.send({ topic, acks: -1, compression: CompressionTypes[CODECS[codec]], messages: placed })
    const next = new Map(answers.map((one) => [one.partition, Number(one.baseOffset)]))
    for (const { partition } of placed) {
      at.push({ partition, offset: next.get(partition) })
      next.set(partition, next.get(partition) + 1)
    }
    return { at }
  } finally {
    await producer.disconnect()
  }
}

function reader(consumer, count) {
  const records = []
  let wake = () => {}
  const run = consumer.run({
    autoCommit: false,
    eachMessage: async ({ partition, message }) => {
      if (records.length < count) records.push(plain(partition, message))
      wake()
    },
  })
  const all = collected(records, count, (check) => {
    wake = check
  })
  return { run, all }
}

function plain(partition, { offset, timestamp, key, value, headers }) {
  return {
    partition,
    offset: Number(offset),
    timestamp: Number(timestamp),
    key: key?.toString() ?? null,
    value: value?.toString() ?? null,
    headers: Object.entries(headers).map(([name, bytes]) => [name, bytes.toString()]),
  }
}

async function consume({ topic, group, count }) {
  const consumer = kafka.consumer({ groupId: group, sessionTimeout: 10_000, heartbeatInterval: 500, maxWaitTimeInMs: 200 })
  await consumer.connect()
  try {
    await consumer.subscribe({ topic, fromBeginning: true })
    const { run, all } = reader(consumer, count)
    await run
    const records = await all
    const next = new Map()
    for (const one of records) next.set(one.partition, Math.max(next.get(one.partition) ?? 0, one.offset + 1))
    await consumer.commitOffsets([...next].map(([partition, offset]) => ({ topic, partition, offset: String(offset) })))
    return { records }
  } finally {
    await consumer.disconnect()
  }
}

async function seek({ topic, timestamp, count }) {
  const found = await withAdmin((admin) => admin.fetchTopicOffsetsByTimestamp(topic, timestamp))
  const ends = await withAdmin((admin) => admin.fetchTopicOffsets(topic))
  const isBeyond = (one) => Number(one.offset) >= Number(ends.find((end) => end.partition === one.partition).high)
  const consumer = kafka.consumer({ groupId: `${topic}-seek`, sessionTimeout: 10_000, maxWaitTimeInMs: 200 })
  await consumer.connect()
  try {
    await consumer.subscribe({ topic })
    const { run, all } = reader(consumer, count)
    await run
    for (const { partition, offset } of found) consumer.seek({ topic, partition, offset })
    return {
      offsets: Object.fromEntries(found.filter((one) => !isBeyond(one)).map((one) => [one.partition, Number(one.offset)])),
      records: await all,
    }
  } finally {
    await consumer.disconnect()
  }
}

async function join({ member, topic, group }) {
  const consumer = kafka.consumer({
    groupId: group,
    sessionTimeout: 10_000,
    heartbeatInterval: 300,
    rebalanceTimeout: 10_000,
    maxWaitTimeInMs: 200,
  })
  const state = { partitions: [], rebalances: 0 }
  consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
    state.partitions = payload.memberAssignment[topic] ?? []
    state.rebalances += 1
  })
  consumer.on(consumer.events.REBALANCING, () => {
    state.partitions = []
  })
  members.set(member, { consumer, look: () => state })
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  await consumer.run({ eachMessage: async () => {} })
}

async function deleteAll(admin, { topic, group, before }) {
  // Deleting records wants the topic's metadata loaded; asking for offsets loads it.
  await admin.fetchTopicOffsets(topic)
  await admin.deleteTopicRecords({
    topic,
    partitions: Object.entries(before).map(([partition, offset]) => ({ partition: Number(partition), offset: String(offset) })),
  })
  const earliest = Object.fromEntries(
    (await admin.fetchTopicOffsets(topic))
      .filter((one) => one.partition in before)
      .map((one) => [one.partition, Number(one.low)]),
  )
  await admin.deleteGroups([group])
  await admin.deleteTopics({ topics: [topic] })
  const { groups } = await admin.listGroups()
  return { earliest, groups: groups.map((one) => one.groupId), topics: await admin.listTopics() }
}
