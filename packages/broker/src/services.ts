/** What a handler may use of the broker that it runs in. Each room adds its line here; broker.ts fills them in. */
import type { Groups } from '@mq/coordinator'
import type { Offload } from '@mq/log'
import type { Partitions } from '@mq/replica'
import type { ReadConfig } from './config/read.js'
import type { BrokerConfig } from './config/tables.js'
import type { Controller } from './controller/api.js'
import type { FetchSessions } from './handlers/fetch-sessions.js'
import type { MetadataStore } from './metadata/store.js'
import type { Clock, Logger, Random, Timers, Turn } from './ports.js'
import type { ProducerIds } from './producer-ids.js'

export interface BrokerServices {
  readonly brokerId: number
  readonly clusterId: string
  /** Values by their documented names. */
  readonly config: BrokerConfig
  /** The same with what was written where: for DescribeConfigs. */
  readonly settings: ReadConfig
  readonly clock: Clock
  readonly timers: Timers
  readonly turn: Turn
  readonly random: Random
  /** Long work beside the event loop. */
  readonly offload: Pick<Offload, 'run'>
  readonly log: Logger
  /** The cluster's metadata, `controller.image()`, and what changes it. */
  readonly controller: Controller
  /** The partitions on this broker. */
  readonly partitions: Partitions
  /** Groups and their offsets, of the partitions of `__consumer_offsets` that this broker leads. */
  readonly groups: Groups
  /** The tree below the controller: for what clients of before 0.9 keep there. */
  readonly store: MetadataStore
  readonly fetchSessions: FetchSessions
  readonly producerIds: ProducerIds
}

/** One request's surroundings. */
export interface RequestContext {
  readonly apiVersion: number
  readonly correlationId: number
  readonly clientId: string | null
  readonly listenerName: string
  /** The client's IP address, without a port. */
  readonly clientAddress: string
  /** Unique among the connections of this broker's life. */
  readonly connectionId: string
  /** Calls `gone` once if the connection ends before the answer is sent; the returned function forgets it. */
  onGone(gone: () => void): () => void
  readonly broker: BrokerServices
}
