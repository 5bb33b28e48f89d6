/** The process of `bench:delay` whose event loop is watched: one broker, and on demand a directory that is recovered beside it. */

import { monitorEventLoopDelay } from 'node:perf_hooks'
import { startBroker } from '@mq/broker'
import { DEFAULT_TOPIC_CONFIG, LogDirectories, nodeEnvironment } from '@mq/log'

/** What the bench asks, and what it is told when that is done. */
export type Order =
  | { readonly kind: 'start'; readonly directory: string; readonly configs: Readonly<Record<string, string>> }
  | { readonly kind: 'watch' | 'tell' | 'stop' }
  | { readonly kind: 'recover'; readonly directory: string }

/** Milliseconds by which the loop was late, since the last `watch`. */
export interface Delays {
  readonly p50: number
  readonly p99: number
  readonly max: number
}

export type Done = { readonly bootstrap: string } | Delays | Record<string, never>

const NS_PER_MS = 1e6
/** How often the histogram looks, in ms: delays are told beyond it. */
const RESOLUTION_MS = 1

const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
let broker: Awaited<ReturnType<typeof startBroker>> | undefined

process.on('message', (order: Order) => void obey(order).then((done) => process.send!(done)))

async function obey(order: Order): Promise<Done> {
  switch (order.kind) {
    case 'start':
      broker = await startBroker({ directory: order.directory, configs: order.configs })
      return { bootstrap: broker.bootstrap }
    case 'watch':
      delays.enable()
      delays.reset()
      return {}
    case 'tell': {
      const told = (nanoseconds: number) => Math.max(0, nanoseconds / NS_PER_MS - RESOLUTION_MS)
      return { p50: told(delays.percentile(50)), p99: told(delays.percentile(99)), max: told(delays.max) }
    }
    case 'recover': {
      const directories = await LogDirectories.open({
        ...nodeEnvironment,
        turn: { afterThisTurn: (run) => void setImmediate(run) },
        dirs: [order.directory],
        brokerId: 1,
        topicConfig: () => DEFAULT_TOPIC_CONFIG,
        config: { 'num.recovery.threads.per.data.dir': 2 },
      })
      await directories.abandon()
      return {}
    }
    case 'stop':
      delays.disable()
      await broker?.close()
      return {}
  }
}
