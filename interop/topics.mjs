// Makes the topics that a row expects to find, with the kafkajs of the workspace, and waits until every partition has a leader.
import { createRequire } from 'node:module'

const { Kafka, logLevel } = createRequire(import.meta.url)('kafkajs')

export async function createTopics(bootstrap, topics) {
  const admin = new Kafka({ clientId: 'interop', brokers: [bootstrap], logLevel: logLevel.NOTHING }).admin()
  await admin.connect()
  try {
    await admin.createTopics({ topics, waitForLeaders: true })
  } finally {
    await admin.disconnect()
  }
}
