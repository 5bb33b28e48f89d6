/** Public face of @mq/broker: a broker inside a Node process. The binary is `mq-broker`. */

export { ManualTime } from './manual-time.js'
export type { ImportResult } from './metadata/import.js'
export { exportMetadata, importMetadata, type OfflineOptions } from './metadata/offline.js'
export { TreeFileError } from './metadata/tree-file.js'
export type {
  Clock,
  Environment,
  ListenOptions,
  Logger,
  Network,
  NetworkListener,
  NetworkStream,
  Random,
  Timers,
  Turn,
} from './ports.js'
export { type RunningBroker, type StartBrokerOptions, startBroker } from './start-broker.js'
export { StartError } from './start-error.js'
export type { BrokerFailure } from './storage.js'
