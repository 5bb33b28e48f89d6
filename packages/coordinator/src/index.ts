/** Public face of @mq/coordinator. */
export { COORDINATOR_CONFIG, type CoordinatorConfig } from './config.js'
export type {
  Clock,
  Logger,
  PartitionAppended,
  PartitionCommitted,
  PartitionPort,
  PartitionRefused,
  Random,
  Timers,
} from './runtime/ports.js'
export { SILENT } from './runtime/ports.js'
