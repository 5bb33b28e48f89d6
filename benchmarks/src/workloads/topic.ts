/** What the workloads share: topics with a leader, and batches of records of a given size. */

import { setTimeout as wait } from 'node:timers/promises'
import { BatchBuilder } from '@mq/protocol'
import type { RawClient } from '../raw-client.js'

const CREATE_TIMEOUT_MS = 60_000

/** INVALID_REPLICATION_FACTOR: a broker that has just started does not know yet that it is there. */
const NO_BROKER_YET = 38

export async function createTopic(client: RawClient, name: string, partitions: number): Promise<void> {
  const topics = [{ name, numPartitions: partitions, replicationFactor: 1 }]
  for (;;) {
    const answer = await client.call('CreateTopics', 5, { topics, timeoutMs: CREATE_TIMEOUT_MS })
    const { errorCode } = answer.topics[0]!
    if (errorCode === 0) break
    if (errorCode !== NO_BROKER_YET) throw new Error(`CreateTopics answered ${errorCode}`)
    await wait(100)
  }
  for (;;) {
    const metadata = await client.call('Metadata', 9, { topics: [{ name }], allowAutoTopicCreation: false })
    const [topic] = metadata.topics
    if (
      topic!.errorCode === 0 &&
      topic!.partitions.length === partitions &&
      topic!.partitions.every(({ leaderId, errorCode }) => leaderId >= 0 && errorCode === 0)
    )
      return
    await wait(20)
  }
}

/** One uncompressed batch of `count` records of `valueBytes` each. */
export function batchOf(count: number, valueBytes: number): Buffer {
  const builder = new BatchBuilder({})
  const value = Buffer.alloc(valueBytes, 'x')
  for (let at = 0; at < count; at++) builder.tryAppend({ timestamp: Date.now(), key: null, value })
  return builder.build()
}
