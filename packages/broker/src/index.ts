/** Public face of @mq/broker: a broker inside a Node process. The binary is `mq-broker`. */
export type { Clock, Environment, Logger, Random, Timers, Turn } from './ports.js'
export { type RunningBroker, type StartBrokerOptions, startBroker } from './start-broker.js'
export { StartError } from './start-error.js'
export type { BrokerFailure } from './storage.js'
