/** The sockets of a client: one per broker and purpose, opened when they are needed, with pauses for brokers that cannot be reached. */

import type { ConnectionOptions } from 'node:tls'
import { parseAddress } from './cluster-image.js'
import { Connection, type ConnectionListener } from './connection.js'
import { KafkaJSConnectionError, KafkaJSNoBrokerAvailableError, KafkaJSNonRetriableError } from './errors.js'
import type { Logger } from './logger.js'
import type { Environment } from './ports.js'
import { ReconnectPauses } from './reconnect.js'

export type BrokersFunction = () => string[] | Promise<string[]>
export type BrokersSource = readonly string[] | BrokersFunction

/** A fetch may hold its connection for seconds, so it has one of its own beside the one for everything else. */
export type Purpose = 'main' | 'fetch'

export interface BrokerConnectionsOptions {
  readonly brokers: BrokersSource
  readonly clientId: string
  readonly ssl?: ConnectionOptions | undefined
  readonly environment: Environment
  readonly logger: Logger
  readonly connectionTimeoutMs: number
  readonly requestTimeoutMs: number
  readonly enforceRequestTimeout: boolean
  readonly maxInFlightRequests: number
  readonly listener: ConnectionListener
}

/** Refuses what is no list of addresses, with kafkajs' texts. */
export function checkedBrokers(list: unknown): readonly string[] {
  if (!list) throw new KafkaJSNonRetriableError('Failed to connect: brokers should not be null')
  if (!Array.isArray(list))
    throw new KafkaJSNonRetriableError(`Failed to connect: brokers should be an array, not ${typeof list}`)
  if (list.length === 0) throw new KafkaJSNonRetriableError('Failed to connect: brokers array is empty')
  list.forEach((broker, index) => {
    if (typeof broker !== 'string' || broker === '')
      throw new KafkaJSNonRetriableError(`Failed to connect: broker at index ${index} is invalid "${typeof broker}"`)
  })
  return list
}

const keyOf = ({ host, port }: { host: string; port: number }): string => `${host}:${port}`

export class BrokerConnections {
  readonly #options: BrokerConnectionsOptions
  readonly #connections = new Map<string, { readonly purpose: Purpose; readonly connection: Connection }>()
  readonly #pauses = new ReconnectPauses()
  readonly #opening = new Map<string, Promise<Connection>>()
  readonly #cancelPauses = new Set<() => void>()
  #isOpen = false
  #nextBroker = 0

  constructor(options: BrokerConnectionsOptions) {
    this.#options = options
  }

  open(): void {
    this.#isOpen = true
  }

  /** Closes all; what is on its way rejects. */
  close(): void {
    this.#isOpen = false
    for (const cancel of this.#cancelPauses) cancel()
    for (const { connection } of this.#connections.values()) connection.close()
    this.#connections.clear()
  }

  /** A connection to some broker that answers: an open one, else known ones and the bootstrap list in turn, rested ones first. */
  async any(known: readonly { host: string; port: number }[]): Promise<Connection> {
    // What waits behind a fetch waits as long as the fetch does.
    for (const { purpose, connection } of this.#connections.values())
      if (purpose === 'main' && connection.isOpen) return connection
    const addresses = new Map([...known, ...(await this.#seeds())].map(({ host, port }) => [`${host}:${port}`, { host, port }]))
    const all = [...addresses.values()]
    const first = this.#nextBroker++ % Math.max(1, all.length)
    const candidates = [...all.slice(first), ...all.slice(0, first)].sort(
      (one, other) => this.#pauses.notBefore(keyOf(one)) - this.#pauses.notBefore(keyOf(other)),
    )
    let failure: Error = new KafkaJSNoBrokerAvailableError()
    for (const { host, port } of candidates) {
      try {
        return await this.to(host, port, 'main')
      } catch (error) {
        failure = error as Error
        this.#options.logger.warn(`Cannot reach the broker ${host}:${port}: ${failure.message}`)
      }
    }
    throw failure
  }

  async #seeds(): Promise<{ host: string; port: number }[]> {
    const list = checkedBrokers(await this.#listOfBrokers())
    try {
      return list.map(parseAddress)
    } catch (error) {
      throw new KafkaJSNonRetriableError(`Failed to connect: ${(error as Error).message}`)
    }
  }

  async #listOfBrokers(): Promise<readonly string[]> {
    const { brokers } = this.#options
    if (typeof brokers !== 'function') return brokers
    try {
      return await brokers()
    } catch (error) {
      throw new KafkaJSConnectionError(`Failed to connect: "config.brokers" threw: ${(error as Error)?.message ?? error}`)
    }
  }

  /** The connection to an address; callers at the same time share one attempt. */
  async to(host: string, port: number, purpose: Purpose): Promise<Connection> {
    if (!this.#isOpen) throw new KafkaJSNonRetriableError('The client is disconnected')
    const key = `${purpose} ${host}:${port}`
    const known = this.#connections.get(key)?.connection
    if (known?.isOpen) return known
    let opening = this.#opening.get(key)
    if (opening === undefined) {
      opening = this.#openNew(host, port, purpose, key).finally(() => this.#opening.delete(key))
      this.#opening.set(key, opening)
    }
    return opening
  }

  /** A broker that could not be reached is left alone for a while before it is tried again. */
  async #openNew(host: string, port: number, purpose: Purpose, key: string): Promise<Connection> {
    const { environment } = this.#options
    const address = keyOf({ host, port })
    const wait = this.#pauses.notBefore(address) - environment.clock.monotonic()
    if (wait > 0) await this.#pause(wait)
    if (!this.#isOpen) throw new KafkaJSNonRetriableError('The client is disconnected')
    const connection = this.#newConnection(host, port)
    this.#connections.set(key, { purpose, connection })
    try {
      await connection.open()
      this.#pauses.succeeded(address)
      return connection
    } catch (error) {
      this.#pauses.failed(address, environment.clock.monotonic(), environment.random)
      if (this.#connections.get(key)?.connection === connection) this.#connections.delete(key)
      throw error
    }
  }

  #pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        cancel()
        this.#cancelPauses.delete(end)
        resolve()
      }
      const cancel = this.#options.environment.timers.after(delayMs, end)
      this.#cancelPauses.add(end)
    })
  }

  #newConnection(host: string, port: number): Connection {
    const { clientId, ssl, environment, logger, connectionTimeoutMs, requestTimeoutMs } = this.#options
    return new Connection({
      host,
      port,
      clientId,
      ssl,
      socketFactory: environment.socketFactory,
      clock: environment.clock,
      timers: environment.timers,
      logger,
      connectionTimeoutMs,
      requestTimeoutMs,
      enforceRequestTimeout: this.#options.enforceRequestTimeout,
      maxInFlightRequests: this.#options.maxInFlightRequests,
      listener: this.#options.listener,
    })
  }
}
