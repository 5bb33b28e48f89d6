/** What the workloads share: topics with a leader, and batches of records of a given size. */

import { BatchBuilder } from '@mq/protocol'
import type { RawClient } from '../raw-client.js'

const CREATE_TIMEOUT_MS = 60_000

export async function createTopic(client: RawClient, name: string, partitions: number): Promise<void> {
  const { topics } = await client.call('CreateTopics', 5, {
    topics: [{ name, numPartitions: partitions, replicationFactor: 1 }],
    timeoutMs: CREATE_TIMEOUT_MS,
  })
  if (topics[0]!.errorCode !== 0) throw new Error(`CreateTopics answered ${topics[0]!.errorCode}`)
  for (;;) {
    const metadata = await client.call('Metadata', 9, { topics: [{ name }], allowAutoTopicCreation: false })
    const [topic] = metadata.topics
    if (
      topic!.errorCode === 0 &&
      topic!.partitions.length === partitions &&
      topic!.partitions.every(({ leaderId, errorCode }) => leaderId >= 0 && errorCode === 0)
    )
      return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** One uncompressed batch of `count` records of `valueBytes` each. */
export function batchOf(count: number, valueBytes: number): Buffer {
  const builder = new BatchBuilder({})
  const value = Buffer.alloc(valueBytes, 'x')
  for (let at = 0; at < count; at++) builder.tryAppend({ timestamp: Date.now(), key: null, value })
  return builder.build()
}
