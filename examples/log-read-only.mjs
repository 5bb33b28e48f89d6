// Looks into a Kafka data directory without touching it, while a broker may be running on it, and verifies it.
// node examples/log-read-only.mjs [DIRECTORY]    without one: the directory of a broker in this process
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startBroker } from '@mq/broker'
import { Kafka, logLevel } from '@mq/client'
import { openDirectoryReadOnly, verifyLogs } from '@mq/log'

const own = process.argv[2] === undefined ? mkdtempSync(join(tmpdir(), 'log-example-')) : null
const broker = own === null ? null : await startBroker({ directory: own })
if (broker !== null) {
  const producer = new Kafka({ brokers: [broker.bootstrap], logLevel: logLevel.NOTHING }).producer()
  await producer.connect()
  await producer.send({ topic: 'orders', messages: [{ key: 'a', value: 'a book' }, { value: 'a chair' }] })
  await producer.disconnect()
}

const directory = await openDirectoryReadOnly(process.argv[2] ?? own)
console.log(`in use: ${directory.inUseBy !== null}`)
for (const log of directory.logs) {
  const { topic, partition } = log.topicPartition
  console.log(`${topic}-${partition}: offsets ${log.logStartOffset} to ${log.logEndOffset}, ${log.damage.length} damaged`)
  for await (const { offset, key, value } of log.records()) console.log(`  ${offset} ${key}: ${value}`)
}
await directory.close()

const { problems } = await verifyLogs(directory.path, {
  report: ({ level, file, problem }) => level === 'problem' && console.log(file, problem),
})
console.log(`${problems} problems`)
await broker?.close()
if (own !== null) rmSync(own, { recursive: true })
