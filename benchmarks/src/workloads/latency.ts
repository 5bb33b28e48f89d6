/** Records at a fixed rate with acks=all, each read back by a waiting fetch: time from send to read, and the broker's CPU time per record. */

import { BatchBuilder, decodeResponse, iterateBatches } from '@mq/protocol'
import { build, type Histogram } from 'hdr-histogram-js'
import type { RunningBroker } from '../peers.js'
import { cpuMsOf } from '../process-usage.js'
import { RawClient, requestBytes } from '../raw-client.js'
import { createTopic } from './topic.js'

export interface LatencyFigures {
  readonly p50Ms: number
  readonly p99Ms: number
  readonly cpuMsPerRecord: number
}

const MICROSECONDS = 1000

export async function latencyOf(
  broker: RunningBroker,
  { topic, perSecond, seconds }: { topic: string; perSecond: number; seconds: number },
): Promise<LatencyFigures> {
  const producer = await RawClient.to(broker.port)
  const consumer = await RawClient.to(broker.port)
  await createTopic(producer, topic, 1)
  const histogram = build({ lowestDiscernibleValue: 1, highestTrackableValue: 60_000_000, numberOfSignificantValueDigits: 3 })
  const total = perSecond * seconds
  const warmUp = perSecond * 2
  const sentAt: number[] = []
  const reading = read(consumer, topic, total + warmUp, sentAt, warmUp, histogram)
  let cpuBefore = 0
  const began = performance.now()
  for (let at = 0; at < total + warmUp; at++) {
    const due = began + (at * 1000) / perSecond
    while (performance.now() < due) await new Promise((resolve) => setImmediate(resolve))
    if (at === warmUp) cpuBefore = cpuMsOf(broker.pid)
    sentAt.push(performance.now())
    const builder = new BatchBuilder({})
    builder.tryAppend({ timestamp: Date.now(), key: null, value: Buffer.alloc(100, 'x') })
    void producer.exchange(
      requestBytes('Produce', 9, {
        acks: -1,
        timeoutMs: 30_000,
        topicData: [{ name: topic, partitionData: [{ index: 0, records: builder.build() }] }],
      }),
    )
  }
  await reading
  const cpuMsPerRecord = (cpuMsOf(broker.pid) - cpuBefore) / total
  producer.close()
  consumer.close()
  return {
    p50Ms: histogram.getValueAtPercentile(50) / MICROSECONDS,
    p99Ms: histogram.getValueAtPercentile(99) / MICROSECONDS,
    cpuMsPerRecord,
  }
}

async function read(
  client: RawClient,
  topic: string,
  total: number,
  sentAt: readonly number[],
  skip: number,
  histogram: Histogram,
): Promise<void> {
  for (let offset = 0; offset < total; ) {
    const frame = await client.exchange(
      requestBytes('Fetch', 11, {
        replicaId: -1,
        maxWaitMs: 500,
        minBytes: 1,
        maxBytes: 1_000_000,
        sessionEpoch: -1,
        topics: [{ topic, partitions: [{ partition: 0, fetchOffset: offset, partitionMaxBytes: 1_000_000 }] }],
      }),
    )
    const readAt = performance.now()
    const { records } = decodeResponse({ api: 'Fetch', version: 11, frame }).body.responses[0]!.partitions[0]!
    if (records === null) continue
    for (const batch of iterateBatches(records))
      for (; offset <= batch.lastOffset; offset++)
        if (offset >= skip) histogram.recordValue(Math.max(1, Math.round((readAt - sentAt[offset]!) * MICROSECONDS)))
  }
}
