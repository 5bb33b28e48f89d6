/** The clients that are measured, each behind the same few verbs: ours, kafkajs, @platformatic/kafka. */

import { Kafka, logLevel } from '@mq/client'
import * as kafkajs from 'kafkajs'

export interface Client {
  readonly name: string
  createTopics(names: string[]): Promise<void>
  /** One awaited send() of so many records to partition 0. */
  produce(topic: string, count: number): Promise<void>
  /** Makes a consumer that reads the topic's first `stored` records over and over while `consume` runs. */
  startConsuming(topic: string, stored: number): Promise<void>
  /** Resolves when so many records have been handed over, values looked at. */
  consume(count: number): Promise<void>
  close(): Promise<void>
}

/** Records that the consumers read again and again, by record size. */
export const STORED = { 100: 300_000, 1024: 60_000 } as Record<number, number>

/** `Array.from` with a length takes several times as long, which would count as the clients' work. */
function listOf<Item>(count: number, make: (at: number) => Item): Item[] {
  const items: Item[] = []
  for (let at = 0; at < count; at++) items.push(make(at))
  return items
}

type KafkajsLike = Pick<Kafka, 'admin' | 'producer' | 'consumer'>

/** Ours first. */
export async function clients(bootstrap: string, recordBytes: number): Promise<Client[]> {
  const value = 'x'.repeat(recordBytes)
  const ours = new Kafka({ brokers: [bootstrap], logLevel: logLevel.NOTHING })
  const theirs = new kafkajs.Kafka({ brokers: [bootstrap], logLevel: kafkajs.logLevel.NOTHING })
  return [
    await kafkajsLike('mq', ours, value),
    await kafkajsLike('kafkajs 2.2.4', theirs as unknown as KafkajsLike, value),
    await platformatic(bootstrap, value),
  ]
}

async function kafkajsLike(name: string, kafka: KafkajsLike, value: string): Promise<Client> {
  const producer = kafka.producer({ createPartitioner: () => () => 0 })
  await producer.connect()
  const group = `bench-${name}-${process.pid}-${value.length}`
  const consumer = kafka.consumer({ groupId: group, maxWaitTimeInMs: 100, maxBytesPerPartition: 1_048_576 })
  let isConsuming = false
  let target = 0
  let read = 0
  let bytes = 0
  let reached: () => void = () => {}
  let place: { topic: string; partitions: number[] }[] = []
  return {
    name,
    async createTopics(names) {
      const admin = kafka.admin()
      await admin.connect()
      await admin.createTopics({ topics: names.map((topic) => ({ topic, numPartitions: 1 })) })
      await admin.disconnect()
    },
    async produce(topic, count) {
      const messages = listOf(count, (at) => ({ key: `key-${at}`, value }))
      await producer.send({ topic, messages })
    },
    async startConsuming(topic, stored) {
      isConsuming = true
      place = [{ topic, partitions: [0] }]
      await consumer.connect()
      await consumer.subscribe({ topics: [topic], fromBeginning: true })
      let isReady: () => void = () => {}
      const ready = new Promise<void>((resolve) => {
        isReady = resolve
      })
      await consumer.run({
        autoCommit: false,
        eachBatch: async ({ batch }) => {
          isReady()
          for (const message of batch.messages) bytes += message.value!.length
          read += batch.messages.length
          if (Number(batch.lastOffset()) >= stored - 1) consumer.seek({ topic, partition: 0, offset: '0' })
          if (read >= target) {
            consumer.pause(place)
            reached()
          }
        },
      })
      await ready
    },
    async consume(count) {
      read = 0
      target = count
      const done = new Promise<void>((resolve) => {
        reached = resolve
      })
      consumer.resume(place)
      await done
      if (bytes === 0) throw new Error('no values were read')
    },
    async close() {
      if (isConsuming) await consumer.disconnect()
      await producer.disconnect()
    },
  }
}

async function platformatic(bootstrap: string, value: string): Promise<Client> {
  const { Consumer, Producer, stringSerializers, ProduceAcks } = await import('@platformatic/kafka')
  const producer = new Producer({
    clientId: 'bench',
    bootstrapBrokers: [bootstrap],
    serializers: stringSerializers,
    partitioner: () => 0,
  })
  const consumer = new Consumer({
    clientId: 'bench',
    groupId: `bench-platformatic-${process.pid}-${value.length}`,
    bootstrapBrokers: [bootstrap],
    maxWaitTime: 100,
    maxBytes: 1_048_576,
  })
  let next: AsyncGenerator<Buffer, never> | undefined
  let bytes = 0
  return {
    name: '@platformatic/kafka 1.35',
    createTopics: async () => {},
    async produce(topic, count) {
      const messages = listOf(count, (at) => ({ topic, key: `key-${at}`, value }))
      await producer.send({ messages, acks: ProduceAcks.ALL })
    },
    async startConsuming(topic, stored) {
      const open = async () =>
        consumer.consume({
          topics: [topic],
          mode: 'manual',
          offsets: [{ topic, partition: 0, offset: 0n }],
          autocommit: false,
        })
      // One stream is read on from call to call: it waits while nobody asks. At its end it begins again.
      next = async function* () {
        for (;;) {
          let left = stored
          for await (const message of await open()) {
            yield message.value as Buffer
            if (--left === 0) break
          }
        }
      }.call(undefined)
      bytes += (await next.next()).value!.length
    },
    async consume(count) {
      for (let read = 0; read < count; read++) bytes += (await next!.next()).value!.length
      if (bytes === 0) throw new Error('no values were read')
    },
    async close() {
      await producer.close()
      await consumer.close(true)
    },
  }
}
