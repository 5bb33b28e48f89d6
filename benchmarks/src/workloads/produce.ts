/** Produce with acks=1 on several connections: the broker's CPU time per MB, and MB per second. */

import { decodeResponse } from '@mq/protocol'
import type { RunningBroker } from '../peers.js'
import { cpuMsOf } from '../process-usage.js'
import { pipelined, RawClient, requestBytes } from '../raw-client.js'
import { batchOf, createTopic } from './topic.js'

export interface ProduceFigures {
  readonly cpuMsPerMb: number
  readonly mbPerSecond: number
}

const CONNECTIONS = 4
const DEPTH = 4
const VERSION = 9

export async function produceOnce(
  broker: RunningBroker,
  { topic, recordCount, recordBytes, totalMb }: { topic: string; recordCount: number; recordBytes: number; totalMb: number },
): Promise<ProduceFigures> {
  const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => RawClient.to(broker.port)))
  try {
    const records = batchOf(recordCount, recordBytes)
    const total = Math.max(CONNECTIONS, Math.round((totalMb * 1e6) / records.length / CONNECTIONS))
    const cpuBefore = cpuMsOf(broker.pid)
    const began = performance.now()
    await Promise.all(
      clients.map((client, at) =>
        pipelined(
          client,
          requestBytes('Produce', VERSION, {
            acks: 1,
            timeoutMs: 30_000,
            topicData: [{ name: topic, partitionData: [{ index: at, records }] }],
          }),
          {
            depth: DEPTH,
            total,
            check: (frame) => {
              const { errorCode } = decodeResponse({ api: 'Produce', version: VERSION, frame }).body.responses[0]!
                .partitionResponses[0]!
              if (errorCode !== 0) throw new Error(`Produce answered ${errorCode}`)
            },
          },
        ),
      ),
    )
    const seconds = (performance.now() - began) / 1000
    const mb = (total * CONNECTIONS * records.length) / 1e6
    return { cpuMsPerMb: (cpuMsOf(broker.pid) - cpuBefore) / mb, mbPerSecond: mb / seconds }
  } finally {
    for (const client of clients) client.close()
  }
}

export async function prepareProduce(broker: RunningBroker, topic: string): Promise<void> {
  const client = await RawClient.to(broker.port)
  await createTopic(client, topic, CONNECTIONS)
  client.close()
}
