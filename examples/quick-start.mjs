// Creates a topic, sends two messages, and reads them as a consumer group. Needs a broker: `npm start` in another terminal.
import { Kafka, logLevel } from '@mq/client'

const kafka = new Kafka({
  clientId: 'quick-start',
  brokers: [process.env.MQ_BROKER ?? 'localhost:9092'],
  logLevel: logLevel.ERROR,
})

const admin = kafka.admin()
await admin.connect()
const created = await admin.createTopics({ topics: [{ topic: 'quick-start', numPartitions: 2 }] })
console.log(created ? 'created the topic quick-start' : 'the topic quick-start is there already')
await admin.disconnect()

const producer = kafka.producer()
await producer.connect()
const sent = await producer.send({
  topic: 'quick-start',
  messages: [
    { key: 'alice', value: 'first' },
    { key: 'alice', value: 'second' },
  ],
})
console.log(`sent to partition ${sent[0].partition} from offset ${sent[0].baseOffset}`)
await producer.disconnect()

// A group of its own for each run, so that every run reads from the beginning.
const consumer = kafka.consumer({ groupId: `quick-start-${process.pid}` })
await consumer.connect()
await consumer.subscribe({ topics: ['quick-start'], fromBeginning: true })
const until = Number(sent[0].baseOffset) + 1
await new Promise((done) =>
  consumer.run({
    eachMessage: async ({ partition, message }) => {
      console.log(`${partition}/${message.offset} ${message.key}: ${message.value}`)
      if (partition === sent[0].partition && Number(message.offset) === until) done()
    },
  }),
)
await consumer.disconnect()
