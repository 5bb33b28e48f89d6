/** A broker inside a Node process, for tests and tools: any free port, in memory unless a directory is given, time under control. */
import type { Disk } from '@mq/log'
import { Broker } from './broker.js'
import { SILENT_LOGGER } from './logging.js'
import { nodeEnvironment } from './node-environment.js'
import type { Environment, Logger } from './ports.js'
import { standaloneProfile } from './profile.js'
import type { BrokerFailure } from './storage.js'

export interface StartBrokerOptions {
  /** Default 0: any free port, on 127.0.0.1 and, where the machine has it, on ::1. */
  readonly port?: number
  /** Where the data is kept. Default: nowhere, everything is gone with `close` and `reset`. */
  readonly directory?: string
  /** The disk that `directory` is on. Default: the real one; the one in memory of @mq/log loses writes, fails and runs full on demand. */
  readonly disk?: Disk
  /** Broker configs by Kafka's names, over those of the standalone profile: `{ 'num.partitions': 3 }`. */
  readonly configs?: Readonly<Record<string, string | number | boolean>>
  /**
   * Wall and monotonic time in ms, timers, random numbers, network. Default: the real ones. Who gives a clock gives timers that
   * follow it.
   */
  readonly environment?: Partial<Environment>
  /** Where log lines go; a pino logger fits. Default: nowhere. */
  readonly log?: Logger
}

export interface RunningBroker {
  /** `localhost:PORT`, for a client's list of brokers. */
  readonly bootstrap: string
  readonly port: number
  readonly brokerId: number
  readonly clusterId: string
  /** Absolute paths of the data directories; none in memory. */
  readonly directories: readonly string[]
  /** Resolves when it has stopped: null after `close`, else why it stopped by itself. It never ends the process. */
  readonly closed: Promise<BrokerFailure | null>
  /** Empties a broker in memory: no topics, groups or producers are left, connections stay. */
  reset(): Promise<void>
  /** Stops in order. Afterwards no socket, timer or file of it is left open. */
  close(): Promise<void>
}

/** Resolves when clients are served. Rejects with a StartError whose message says what to change. */
export async function startBroker(options: StartBrokerOptions = {}): Promise<RunningBroker> {
  const given = standaloneProfile({ directory: options.directory ?? '.', port: options.port ?? 0 })
  for (const [name, value] of Object.entries(options.configs ?? {})) given.set(name, String(value))
  return Broker.start({
    given,
    storage: options.directory === undefined ? 'memory' : 'disk',
    ...(options.disk === undefined ? {} : { disk: options.disk }),
    environment: { ...nodeEnvironment(), ...options.environment },
    log: options.log ?? SILENT_LOGGER,
  })
}
