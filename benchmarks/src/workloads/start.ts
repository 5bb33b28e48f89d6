/** From the process's start to the first acknowledged record, on an empty directory. */

import { setTimeout as wait } from 'node:timers/promises'
import type { Peer } from '../peers.js'
import { cpuMsOf, residentBytesOf } from '../process-usage.js'
import { RawClient } from '../raw-client.js'
import { batchOf } from './topic.js'

export async function startOnce(peer: Peer): Promise<{ firstProduceMs: number; idleMb: number; idleCpuPercent: number }> {
  const began = performance.now()
  const broker = await peer.start()
  try {
    const client = await RawClient.to(broker.port)
    const records = batchOf(1, 100)
    for (;;) {
      // The first Metadata creates the topic; its leader may take a moment.
      await client.call('Metadata', 9, { topics: [{ name: 'first' }], allowAutoTopicCreation: true })
      const { responses } = await client.call('Produce', 9, {
        acks: -1,
        timeoutMs: 30_000,
        topicData: [{ name: 'first', partitionData: [{ index: 0, records }] }],
      })
      if (responses[0]!.partitionResponses[0]!.errorCode === 0) break
    }
    const firstProduceMs = performance.now() - began
    client.close()
    await wait(2_000)
    const cpu = cpuMsOf(broker.pid)
    await wait(5_000)
    return {
      firstProduceMs,
      idleMb: residentBytesOf(broker.pid) / 1e6,
      idleCpuPercent: ((cpuMsOf(broker.pid) - cpu) / 5_000) * 100,
    }
  } finally {
    await broker.stop()
  }
}
