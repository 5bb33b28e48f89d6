/** Consumers that have nothing to read: each waits in a fetch, again and again. The broker's CPU and memory meanwhile. */

import { setTimeout as wait } from 'node:timers/promises'
import type { Peer } from '../peers.js'
import { cpuMsOf, residentBytesOf } from '../process-usage.js'
import { RawClient, requestBytes } from '../raw-client.js'
import { createTopic } from './topic.js'

export interface IdleConsumersFigures {
  readonly cpuPercent: number
  readonly residentMb: number
  /** Fetches answered a second: what the consumers' own wait makes of it, unless the broker or the machine is behind. */
  readonly fetchesPerSecond: number
}

const PARTITIONS = 100
/** Kafka's default of `fetch.max.wait.ms`. */
const MAX_WAIT_MS = 500
const CONNECTED_AT_ONCE = 50
const SETTLE_MS = 5_000

export async function idleConsumersOnce(
  peer: Peer,
  { count, seconds }: { count: number; seconds: number },
): Promise<IdleConsumersFigures> {
  const broker = await peer.start()
  const clients: RawClient[] = []
  let isOver = false
  let fetches = 0
  try {
    const maker = await RawClient.to(broker.port)
    clients.push(maker)
    await createTopic(maker, 'idle', PARTITIONS)
    const consume = async (client: RawClient, partition: number): Promise<void> => {
      const request = requestBytes('Fetch', 11, {
        replicaId: -1,
        maxWaitMs: MAX_WAIT_MS,
        minBytes: 1,
        maxBytes: 50_000_000,
        sessionEpoch: -1,
        topics: [{ topic: 'idle', partitions: [{ partition, fetchOffset: 0, partitionMaxBytes: 1_000_000 }] }],
      })
      for (; !isOver; fetches++) await client.exchange(request)
    }
    for (let at = 0; at < count; at += CONNECTED_AT_ONCE) {
      const some = Array.from({ length: Math.min(CONNECTED_AT_ONCE, count - at) }, () => RawClient.to(broker.port))
      for (const client of await Promise.all(some)) {
        clients.push(client)
        void consume(client, clients.length % PARTITIONS)
      }
    }
    await wait(SETTLE_MS)
    const [cpuBefore, fetchesBefore, began] = [cpuMsOf(broker.pid), fetches, performance.now()]
    await wait(seconds * 1000)
    const ms = performance.now() - began
    return {
      cpuPercent: ((cpuMsOf(broker.pid) - cpuBefore) / ms) * 100,
      residentMb: residentBytesOf(broker.pid) / 1e6,
      fetchesPerSecond: ((fetches - fetchesBefore) / ms) * 1000,
    }
  } finally {
    isOver = true
    for (const client of clients) client.close()
    await broker.stop()
  }
}
