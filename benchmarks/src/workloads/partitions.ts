/** A topic of many partitions, created and written to once each: the broker's CPU time, and its memory afterwards. */

import { setTimeout as wait } from 'node:timers/promises'
import { decodeResponse } from '@mq/protocol'
import type { Peer } from '../peers.js'
import { cpuMsOf, residentBytesOf } from '../process-usage.js'
import { RawClient, requestBytes } from '../raw-client.js'
import { batchOf, createTopic } from './topic.js'

export async function partitionsOnce(peer: Peer, count: number): Promise<{ cpuMs: number; residentMb: number; seconds: number }> {
  const broker = await peer.start()
  try {
    const client = await RawClient.to(broker.port)
    const records = batchOf(1, 100)
    const cpuBefore = cpuMsOf(broker.pid)
    const began = performance.now()
    await createTopic(client, 'many', count)
    for (let at = 0; at < count; at++) {
      const frame = await client.exchange(
        requestBytes('Produce', 9, {
          acks: 1,
          timeoutMs: 30_000,
          topicData: [{ name: 'many', partitionData: [{ index: at, records }] }],
        }),
      )
      const { errorCode } = decodeResponse({ api: 'Produce', version: 9, frame }).body.responses[0]!.partitionResponses[0]!
      if (errorCode !== 0) throw new Error(`Produce to partition ${at} answered ${errorCode}`)
    }
    const seconds = (performance.now() - began) / 1000
    const cpuMs = cpuMsOf(broker.pid) - cpuBefore
    client.close()
    await wait(1_000)
    return { cpuMs, residentMb: residentBytesOf(broker.pid) / 1e6, seconds }
  } finally {
    await broker.stop()
  }
}
