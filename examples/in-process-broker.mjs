// A test with a broker inside its own process: no port to choose, nothing to install, emptied between tests. Run it with `node --test`.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { startBroker } from '@mq/broker'
import { Kafka, logLevel } from '@mq/client'

/** What is tested: it answers each order with a receipt. */
async function answerOrders(kafka) {
  const consumer = kafka.consumer({ groupId: 'answers', maxWaitTimeInMs: 100 })
  const producer = kafka.producer()
  await Promise.all([consumer.connect(), producer.connect()])
  await consumer.subscribe({ topics: ['orders'], fromBeginning: true })
  await consumer.run({
    eachMessage: async ({ message }) => {
      await producer.send({ topic: 'receipts', messages: [{ key: message.key, value: `thanks for ${message.value}` }] })
    },
  })
  return async () => {
    await consumer.disconnect()
    await producer.disconnect()
  }
}

let broker
let kafka
before(async () => {
  broker = await startBroker()
  kafka = new Kafka({ brokers: [broker.bootstrap], logLevel: logLevel.NOTHING })
})
afterEach(() => broker.reset())
after(() => broker.close())

for (const thing of ['a book', 'a chair'])
  test(`an order of ${thing} gets a receipt, and only that`, async () => {
    const admin = kafka.admin()
    await admin.connect()
    await admin.createTopics({ topics: [{ topic: 'orders' }, { topic: 'receipts' }] })
    const producer = kafka.producer()
    await producer.connect()
    await producer.send({ topic: 'orders', messages: [{ key: 'alice', value: thing }] })
    const stop = await answerOrders(kafka)

    const consumer = kafka.consumer({ groupId: 'test', maxWaitTimeInMs: 100 })
    await consumer.connect()
    await consumer.subscribe({ topics: ['receipts'], fromBeginning: true })
    const receipt = await new Promise((done) => consumer.run({ eachMessage: async ({ message }) => done(message) }))
    assert.equal(String(receipt.value), `thanks for ${thing}`)
    assert.equal(receipt.offset, '0')

    await stop()
    for (const client of [consumer, producer, admin]) await client.disconnect()
  })
