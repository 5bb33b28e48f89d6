/** Fetch of recently written records, in answers of a given size: the broker's CPU time per GB, and MB per second. */

import { decodeResponse, iterateBatches } from '@mq/protocol'
import type { RunningBroker } from '../peers.js'
import { cpuMsOf } from '../process-usage.js'
import { RawClient, requestBytes } from '../raw-client.js'
import { batchOf, createTopic } from './topic.js'

export interface FetchFigures {
  readonly cpuMsPerGb: number
  readonly mbPerSecond: number
}

const VERSION = 11
const BATCH_RECORDS = 16
const RECORD_BYTES = 1024

export async function prepareFetch(broker: RunningBroker, topic: string, mb: number): Promise<void> {
  const client = await RawClient.to(broker.port)
  await createTopic(client, topic, 1)
  const records = batchOf(BATCH_RECORDS, RECORD_BYTES)
  const request = requestBytes('Produce', 7, {
    acks: 1,
    timeoutMs: 30_000,
    topicData: [{ name: topic, partitionData: [{ index: 0, records }] }],
  })
  for (let sent = 0; sent < mb * 1e6; sent += records.length * 8)
    await Promise.all(Array.from({ length: 8 }, () => client.exchange(request)))
  client.close()
}

/** Reads the whole topic `rounds` times, one answer at a time. */
export async function fetchOnce(
  broker: RunningBroker,
  { topic, answerBytes, rounds }: { topic: string; answerBytes: number; rounds: number },
): Promise<FetchFigures> {
  const client = await RawClient.to(broker.port)
  try {
    let bytes = 0
    const cpuBefore = cpuMsOf(broker.pid)
    const began = performance.now()
    for (let round = 0; round < rounds; round++) {
      for (let offset = 0; ; ) {
        const frame = await client.exchange(
          requestBytes('Fetch', VERSION, {
            replicaId: -1,
            maxWaitMs: 0,
            minBytes: 0,
            maxBytes: answerBytes,
            sessionEpoch: -1,
            topics: [{ topic, partitions: [{ partition: 0, fetchOffset: offset, partitionMaxBytes: answerBytes }] }],
          }),
        )
        const answer = decodeResponse({ api: 'Fetch', version: VERSION, frame }).body.responses[0]!.partitions[0]!
        if (answer.errorCode !== 0) throw new Error(`Fetch answered ${answer.errorCode}`)
        if (answer.records === null || answer.records.length === 0) break
        bytes += answer.records.length
        for (const batch of iterateBatches(answer.records)) offset = batch.lastOffset + 1
      }
    }
    const seconds = (performance.now() - began) / 1000
    return { cpuMsPerGb: (cpuMsOf(broker.pid) - cpuBefore) / (bytes / 1e9), mbPerSecond: bytes / 1e6 / seconds }
  } finally {
    client.close()
  }
}
