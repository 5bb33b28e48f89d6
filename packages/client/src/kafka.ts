/** The entry: one configuration, from which producers, consumers and admins are made. */

import type { ConnectionOptions } from 'node:tls'
import { Admin } from './admin/admin.js'
import { type BrokersSource, checkedBrokers } from './broker-connections.js'
import { Cluster } from './cluster.js'
import { type PartitionAssigner, roundRobin } from './consumer/assign-round-robin.js'
import { Consumer } from './consumer/consumer.js'
import { Membership } from './consumer/membership.js'
import type { logLevel } from './enums.js'
import { KafkaJSNonRetriableError } from './errors.js'
import { ADMIN_EVENTS, CONSUMER_EVENTS, Instrumentation, PRODUCER_EVENTS } from './events.js'
import { createLogger, type LogCreator, type Logger } from './logger.js'
import { nodeEnvironment } from './node-environment.js'
import type { Environment, SocketFactory } from './ports.js'
import { defaultPartitioner, type ICustomPartitioner } from './producer/partitioner.js'
import { Producer } from './producer/producer.js'
import { type RetryOptions, retryPolicy } from './retry.js'

export interface KafkaConfig {
  /** Addresses as host:port, or a function that answers them (asked again whenever no known broker can be reached). */
  brokers: BrokersSource
  ssl?: ConnectionOptions | boolean
  clientId?: string
  /** ms; default 1000. */
  connectionTimeout?: number
  /** ms; default 30000. */
  requestTimeout?: number
  enforceRequestTimeout?: boolean
  retry?: RetryOptions
  socketFactory?: SocketFactory
  logLevel?: logLevel
  logCreator?: LogCreator
}

export interface ProducerConfig {
  createPartitioner?: ICustomPartitioner
  retry?: RetryOptions
  /** ms; default 300000. */
  metadataMaxAge?: number
  allowAutoTopicCreation?: boolean
  idempotent?: boolean
  transactionalId?: string
  transactionTimeout?: number
  maxInFlightRequests?: number | null
}

export interface ConsumerConfig {
  groupId: string
  partitionAssigners?: PartitionAssigner<Cluster>[]
  /** ms; default 300000. */
  metadataMaxAge?: number
  /** ms; defaults 30000, 60000, 3000. */
  sessionTimeout?: number
  rebalanceTimeout?: number
  heartbeatInterval?: number
  /** Bytes; default 1 MiB. */
  maxBytesPerPartition?: number
  minBytes?: number
  /** Bytes; default 10 MiB. */
  maxBytes?: number
  /** ms; default 5000. */
  maxWaitTimeInMs?: number
  retry?: RetryOptions
  allowAutoTopicCreation?: boolean
  maxInFlightRequests?: number | null
  /** Default false: aborted and open transactions are hidden. */
  readUncommitted?: boolean
  rackId?: string
  /** KIP-345: a member that keeps its partitions over a restart. Beyond kafkajs. */
  groupInstanceId?: string
}

export interface AdminConfig {
  retry?: RetryOptions
}

const DEFAULT_METADATA_MAX_AGE_MS = 300_000
const DEFAULT_CLIENT_ID = 'kafkajs'

export class Kafka {
  readonly #config: KafkaConfig
  readonly #environment: Environment
  readonly #logger: Logger

  constructor(config: KafkaConfig, environment: Environment = nodeEnvironment) {
    if (typeof config?.brokers !== 'function') checkedBrokers(config?.brokers)
    if (config['sasl' as never])
      throw new KafkaJSNonRetriableError('SASL authentication is not implemented in this version of @mq/client')
    this.#config = config
    this.#environment = config.socketFactory === undefined ? environment : { ...environment, socketFactory: config.socketFactory }
    this.#logger = createLogger({
      level: config.logLevel,
      logCreator: config.logCreator,
      clock: environment.clock,
      levelName: environment.variables.KAFKAJS_LOG_LEVEL,
    })
  }

  logger(): Logger {
    return this.#logger
  }

  producer(config: ProducerConfig = {}): Producer {
    const logger = this.#logger.namespace('Producer')
    const instrumentation = this.#instrumentation(logger)
    const { random } = this.#environment
    const createPartitioner = config.createPartitioner ?? defaultPartitioner(() => Math.floor(random.next() * 2 ** 32))
    const idempotent = config.idempotent ?? config.transactionalId !== undefined
    const retry = this.#retry(config.retry)
    if (idempotent && retry.retries < 1)
      throw new KafkaJSNonRetriableError('Idempotent producer must allow retries to protect against transient errors')
    return new Producer({
      cluster: this.#cluster(config, instrumentation, PRODUCER_EVENTS, logger),
      environment: this.#environment,
      instrumentation,
      logger,
      partitioner: createPartitioner(),
      retry,
      idempotent,
      transactionalId: config.transactionalId,
      transactionTimeoutMs: config.transactionTimeout ?? 60_000,
    })
  }

  consumer(config: ConsumerConfig): Consumer {
    if (!config?.groupId) throw new KafkaJSNonRetriableError('Consumer groupId must be a non-empty string.')
    const {
      groupId,
      sessionTimeout = 30_000,
      rebalanceTimeout = 60_000,
      heartbeatInterval = 3_000,
      partitionAssigners = [roundRobin],
    } = config
    if (heartbeatInterval >= sessionTimeout)
      throw new KafkaJSNonRetriableError(
        `Consumer heartbeatInterval (${heartbeatInterval}) must be lower than sessionTimeout (${sessionTimeout}). It is recommended to set heartbeatInterval to approximately a third of the sessionTimeout.`,
      )
    const logger = this.#logger.namespace('Consumer')
    const instrumentation = this.#instrumentation(logger)
    const cluster = this.#cluster(config, instrumentation, CONSUMER_EVENTS, logger)
    return new Consumer({
      groupId,
      cluster,
      membership: new Membership({
        cluster,
        groupId,
        groupInstanceId: config.groupInstanceId,
        assigners: partitionAssigners.map((assigner) => assigner({ cluster, groupId, logger })),
        sessionTimeoutMs: sessionTimeout,
        rebalanceTimeoutMs: rebalanceTimeout,
        logger,
      }),
      environment: this.#environment,
      instrumentation,
      logger,
      retry: this.#retry(config.retry),
      restartOnFailure: config.retry?.restartOnFailure,
      limits: {
        maxBytesPerPartition: config.maxBytesPerPartition ?? 1_048_576,
        minBytes: config.minBytes ?? 1,
        maxBytes: config.maxBytes ?? 10_485_760,
        maxWaitMs: config.maxWaitTimeInMs ?? 5_000,
      },
      requestTimeoutMs: this.#config.requestTimeout ?? 30_000,
      heartbeatIntervalMs: heartbeatInterval,
      metadataMaxAgeMs: config.metadataMaxAge ?? DEFAULT_METADATA_MAX_AGE_MS,
      readUncommitted: config.readUncommitted ?? false,
      rackId: config.rackId ?? '',
    })
  }

  admin(config: AdminConfig = {}): Admin {
    const logger = this.#logger.namespace('Admin')
    const instrumentation = this.#instrumentation(logger)
    const cluster = this.#cluster({ ...config, allowAutoTopicCreation: false }, instrumentation, ADMIN_EVENTS, logger)
    return new Admin({ cluster, instrumentation, logger })
  }

  #retry(own: RetryOptions | undefined) {
    return retryPolicy({ ...this.#config.retry, ...own }, this.#environment.variables.NODE_ENV)
  }

  #instrumentation(logger: Logger): Instrumentation {
    return new Instrumentation(this.#environment.clock, (error, type) =>
      logger.error(`A listener of ${type} failed: ${(error as Error)?.message ?? error}`),
    )
  }

  #cluster(
    config: {
      metadataMaxAge?: number
      allowAutoTopicCreation?: boolean
      maxInFlightRequests?: number | null
      retry?: RetryOptions
    },
    instrumentation: Instrumentation,
    events: { REQUEST: string; REQUEST_TIMEOUT: string; REQUEST_QUEUE_SIZE: string },
    logger: Logger,
  ): Cluster {
    const { ssl } = this.#config
    return new Cluster({
      brokers: this.#config.brokers,
      clientId: this.#config.clientId ?? DEFAULT_CLIENT_ID,
      ssl: ssl === true ? {} : ssl || undefined,
      environment: this.#environment,
      logger,
      connectionTimeoutMs: this.#config.connectionTimeout ?? 1_000,
      requestTimeoutMs: this.#config.requestTimeout ?? 30_000,
      enforceRequestTimeout: this.#config.enforceRequestTimeout ?? true,
      maxInFlightRequests: config.maxInFlightRequests ?? Number.POSITIVE_INFINITY,
      metadataMaxAgeMs: config.metadataMaxAge ?? DEFAULT_METADATA_MAX_AGE_MS,
      allowAutoTopicCreation: config.allowAutoTopicCreation ?? true,
      retry: this.#retry(config.retry),
      listener: {
        request: (payload) => instrumentation.emit(events.REQUEST, () => payload),
        requestTimeout: (payload) => instrumentation.emit(events.REQUEST_TIMEOUT, () => payload),
        requestQueueSize: (payload) => instrumentation.emit(events.REQUEST_QUEUE_SIZE, () => payload),
      },
    })
  }
}
