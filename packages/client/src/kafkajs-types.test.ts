/**
 * Programs typed against kafkajs compile against ours. The first part is checked by the compiler alone: whatever kafkajs' declarations
 * allow a program to hand over, ours accept, and what ours hand out fits where programs put kafkajs' types. Number tables (enums) are
 * nominal in TypeScript and left out of the comparison; a program uses only one of the two.
 */

import assert from 'node:assert/strict'
import type * as theirs from 'kafkajs'
import * as ours from './index.js'

type Accepts<Ours, _Theirs extends Ours> = true
type Gives<_Ours extends Theirs, Theirs> = true
type Parameter<Fn extends (...args: never[]) => unknown> = Parameters<Fn>[0]

const compiled: true[] = [
  // what programs hand over
  true satisfies Accepts<
    Omit<ours.KafkaConfig, 'logLevel' | 'logCreator' | 'sasl' | 'socketFactory'>,
    Omit<theirs.KafkaConfig, 'logLevel' | 'logCreator' | 'sasl' | 'socketFactory'>
  >,
  true satisfies Accepts<Omit<ours.ProducerConfig, 'createPartitioner'>, Omit<theirs.ProducerConfig, 'createPartitioner'>>,
  true satisfies Accepts<ours.ICustomPartitioner, theirs.ICustomPartitioner>,
  true satisfies Accepts<Omit<ours.ConsumerConfig, 'partitionAssigners'>, Omit<theirs.ConsumerConfig, 'partitionAssigners'>>,
  true satisfies Accepts<ours.Assigner, theirs.Assigner>,
  true satisfies Accepts<ours.RetryOptions, theirs.RetryOptions>,
  true satisfies Accepts<ours.Message, theirs.Message>,
  true satisfies Accepts<Omit<ours.ProducerRecord, 'compression'>, Omit<theirs.ProducerRecord, 'compression'>>,
  true satisfies Accepts<Omit<ours.ProducerBatch, 'compression'>, Omit<theirs.ProducerBatch, 'compression'>>,
  true satisfies Accepts<Parameter<ours.Consumer['subscribe']>, Parameter<theirs.Consumer['subscribe']>>,
  true satisfies Accepts<Parameter<ours.Consumer['run']>, Parameter<theirs.Consumer['run']>>,
  true satisfies Accepts<Parameter<ours.Consumer['commitOffsets']>, Parameter<theirs.Consumer['commitOffsets']>>,
  true satisfies Accepts<Parameter<ours.Consumer['seek']>, Parameter<theirs.Consumer['seek']>>,
  true satisfies Accepts<Parameter<ours.Consumer['pause']>, Parameter<theirs.Consumer['pause']>>,
  true satisfies Accepts<Parameter<ours.Admin['createTopics']>, Parameter<theirs.Admin['createTopics']>>,
  true satisfies Accepts<Parameter<ours.Admin['deleteTopics']>, Parameter<theirs.Admin['deleteTopics']>>,
  true satisfies Accepts<Parameter<ours.Admin['createPartitions']>, Parameter<theirs.Admin['createPartitions']>>,
  true satisfies Accepts<Parameter<ours.Admin['fetchTopicMetadata']>, Parameter<theirs.Admin['fetchTopicMetadata']>>,
  true satisfies Accepts<Parameter<ours.Admin['fetchOffsets']>, Parameter<theirs.Admin['fetchOffsets']>>,
  true satisfies Accepts<Parameter<ours.Admin['setOffsets']>, Parameter<theirs.Admin['setOffsets']>>,
  true satisfies Accepts<Parameter<ours.Admin['resetOffsets']>, Parameter<theirs.Admin['resetOffsets']>>,
  true satisfies Accepts<Parameter<ours.Admin['deleteTopicRecords']>, Parameter<theirs.Admin['deleteTopicRecords']>>,
  // what ours hand out
  true satisfies Gives<ours.RecordMetadata, theirs.RecordMetadata>,
  true satisfies Gives<ours.KafkaMessage, theirs.KafkaMessage>,
  true satisfies Gives<ours.Batch, theirs.Batch>,
  true satisfies Gives<ours.EachMessagePayload, theirs.EachMessagePayload>,
  true satisfies Gives<ours.EachBatchPayload, theirs.EachBatchPayload>,
  true satisfies Gives<ours.GroupDescription, theirs.GroupDescription>,
  true satisfies Gives<ours.PartitionMetadata, theirs.PartitionMetadata>,
  true satisfies Gives<ours.ConsumerEvents, theirs.ConsumerEvents>,
  true satisfies Gives<ours.ProducerEvents, theirs.ProducerEvents>,
  true satisfies Gives<ours.AdminEvents, theirs.AdminEvents>,
  true satisfies Gives<ours.RequestEvent, theirs.RequestEvent>,
  true satisfies Gives<ours.ConsumerGroupJoinEvent, theirs.ConsumerGroupJoinEvent>,
  true satisfies Gives<ours.ConsumerCommitOffsetsEvent, theirs.ConsumerCommitOffsetsEvent>,
  true satisfies Gives<ours.ConsumerCrashEvent, theirs.ConsumerCrashEvent>,
  true satisfies Gives<ours.ConsumerEndBatchProcessEvent, theirs.ConsumerEndBatchProcessEvent>,
  true satisfies Gives<Awaited<ReturnType<ours.Admin['describeGroups']>>, theirs.GroupDescriptions>,
  true satisfies Gives<Awaited<ReturnType<ours.Admin['fetchTopicMetadata']>>, { topics: theirs.ITopicMetadata[] }>,
  true satisfies Gives<Awaited<ReturnType<ours.Admin['fetchOffsets']>>, Awaited<ReturnType<theirs.Admin['fetchOffsets']>>>,
  true satisfies Gives<Awaited<ReturnType<ours.Admin['describeCluster']>>, Awaited<ReturnType<theirs.Admin['describeCluster']>>>,
]

/** A program as kafkajs' users write them; it is compiled, and run up to where it would need a broker. */
function program() {
  const {
    Kafka,
    CompressionTypes,
    CompressionCodecs,
    ConfigResourceTypes,
    logLevel: levels,
    PartitionAssigners,
    AssignerProtocol,
    KafkaJSNumberOfRetriesExceeded,
  } = ours
  const creator: ours.logCreator = () => (entry: ours.LogEntry) => void entry.log.message.length
  const config: ours.KafkaConfig = {
    clientId: 'shop',
    brokers: async () => ['localhost:9092'],
    logLevel: levels.NOTHING,
    logCreator: creator,
    ssl: false,
    retry: { initialRetryTime: 100, retries: 8 },
  }
  const kafka = new Kafka(config)
  const partitioner: ours.ICustomPartitioner =
    () =>
    ({ partitionMetadata, message }: ours.PartitionerArgs) =>
      message.partition ?? partitionMetadata.length - 1
  const everything: ours.PartitionAssigner = ({ cluster, groupId, logger }) => ({
    name: `everything-${groupId}`,
    version: 1,
    async assign({ members, topics }) {
      logger.info('assigning', { members: members.length })
      const assignment: ours.Assignment = {}
      for (const topic of topics)
        assignment[topic] = cluster.findTopicPartitionMetadata(topic).map(({ partitionId }) => partitionId)
      return members.map(({ memberId }) => ({
        memberId,
        memberAssignment: AssignerProtocol.MemberAssignment.encode({ version: 1, assignment, userData: Buffer.alloc(0) }),
      }))
    },
    protocol: ({ topics }) => ({
      name: 'everything',
      metadata: AssignerProtocol.MemberMetadata.encode({ version: 1, topics, userData: Buffer.alloc(0) }),
    }),
  })
  const producer: ours.Producer = kafka.producer({ createPartitioner: partitioner, idempotent: true, maxInFlightRequests: 1 })
  const consumer: ours.Consumer = kafka.consumer({
    groupId: 'shop',
    partitionAssigners: [everything, PartitionAssigners.roundRobin],
  })
  const admin: ours.Admin = kafka.admin({ retry: { retries: 2 } })
  CompressionCodecs[CompressionTypes.Snappy] = CompressionCodecs[CompressionTypes.Snappy]
  const { REQUEST, CRASH, GROUP_JOIN } = consumer.events
  const removers = [
    consumer.on(REQUEST, ({ payload }) => void payload.duration.toFixed(1)),
    consumer.on(CRASH, ({ payload: { error, restart } }) => void [error.message, restart]),
    consumer.on(GROUP_JOIN, (event: ours.ConsumerGroupJoinEvent) => void event.payload.memberAssignment),
    producer.on(producer.events.CONNECT, (event: ours.ConnectEvent) => void event.timestamp),
    admin.on('admin.network.request', ({ payload: { apiName } }) => void apiName.length),
    ...Object.values(consumer.events).map((name) => consumer.on(name, (event: ours.InstrumentationEvent<object>) => void event)),
  ]
  const handler: ours.EachMessageHandler = async ({ topic, partition, message, heartbeat, pause }) => {
    const prefix = `${topic}[${partition} | ${message.offset}] / ${message.timestamp}`
    const header: Buffer | string | (Buffer | string)[] | undefined = message.headers?.trace
    if (prefix === header) pause()()
    await heartbeat()
  }
  const work = async (): Promise<void> => {
    const record: ours.ProducerRecord = {
      topic: 'orders',
      compression: CompressionTypes.GZIP,
      messages: [
        { key: 'one', value: JSON.stringify({}), headers: { trace: 'x', more: ['a', Buffer.from('b')] }, timestamp: '1' },
      ],
    }
    const sent: ours.RecordMetadata[] = await producer.send(record)
    await producer.sendBatch({ topicMessages: [{ topic: sent[0]!.topicName, messages: [{ value: null }] }] })
    await consumer.subscribe({ topics: ['orders', /^audit-/], fromBeginning: true })
    await consumer.run({ autoCommitThreshold: 100, eachMessage: handler })
    await admin.describeConfigs({ includeSynonyms: false, resources: [{ type: ConfigResourceTypes.TOPIC, name: 'orders' }] })
    await admin.createTopics({
      topics: [{ topic: 'orders', configEntries: [{ name: 'retention.ms', value: '1' }] } as ours.ITopicConfig],
    })
  }
  const isFinal = (error: unknown): boolean => error instanceof KafkaJSNumberOfRetriesExceeded && error.retryCount > 3
  return { removers, work, isFinal }
}

describe('types of kafkajs', () => {
  it('are accepted, and programs typed by them compile', () => {
    assert.ok(compiled.every((each) => each))
    const { removers, isFinal } = program()
    for (const remove of removers) remove()
    assert.equal(isFinal(new Error('no')), false)
  })

  it('has every name that kafkajs exports, but those of what this version leaves out', () => {
    const kafkajs = require('kafkajs') as object
    const missing = Object.keys(kafkajs).filter((name) => !(name in ours))
    assert.deepEqual(missing, [])
  })
})
