/**
 * One socket to one broker: correlation ids, requests in flight, negotiated versions, time limits.
 * Answers come in the order of the requests (Kafka's promise), but are matched by correlation id all the same.
 */

import type { Socket } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import { APIS, type ApiName, decodeResponse, encodeRequest } from '@mq/protocol'
import { AnswerReader } from './answer-reader.js'
import {
  KafkaJSConnectionClosedError,
  KafkaJSConnectionError,
  KafkaJSNonRetriableError,
  KafkaJSRequestTimeoutError,
  KafkaJSServerDoesNotSupportApiKey,
  protocolError,
} from './errors.js'
import type { Logger } from './logger.js'
import type { Clock, SocketFactory, Timers } from './ports.js'
import { clientThrottles } from './throttle.js'
import { CLIENT_VERSIONS, EXACT_ANSWERS, negotiate, type OfferedVersions, type RequestOf, type ResponseOf } from './versions.js'
import { writeFrame } from './write-frame.js'

/** Largest answer that is accepted, in bytes: far above what a fetch asks for, far below what could exhaust the process. */
const LARGEST_ANSWER = 256 * 1024 * 1024
const LAST_CORRELATION_ID = 0x7fffffff
const UNSUPPORTED_VERSION = 35

export interface ConnectionListener {
  /** Payloads are those of kafkajs' `*.network.*` events. */
  request(payload: Record<string, unknown>): void
  requestTimeout(payload: Record<string, unknown>): void
  requestQueueSize(payload: Record<string, unknown>): void
}

export interface ConnectionOptionsOfOurs {
  readonly host: string
  readonly port: number
  readonly clientId: string
  readonly ssl?: ConnectionOptions | undefined
  readonly socketFactory: SocketFactory
  readonly clock: Clock
  readonly timers: Timers
  readonly logger: Logger
  readonly connectionTimeoutMs: number
  readonly requestTimeoutMs: number
  /** False: requests wait for ever (kafkajs' `enforceRequestTimeout`). */
  readonly enforceRequestTimeout: boolean
  /** Requests on the wire at the same time; more wait in a queue. Infinity: no limit. */
  readonly maxInFlightRequests: number
  readonly listener: ConnectionListener
}

interface PendingRequest {
  readonly api: ApiName
  readonly version: number
  readonly correlationId: number
  readonly createdAt: number
  readonly createdMonotonic: number
  readonly timeoutMs: number
  readonly frame: Buffer[]
  readonly expectsAnswer: boolean
  sentAt: number
  sentMonotonic: number
  cancelTimer: () => void
  resolve(body: unknown): void
  reject(error: Error): void
}

type State = 'new' | 'connecting' | 'open' | 'closed'

export interface SendOptions {
  /** Time limit of this request, in ms. Default: the client's `requestTimeout`. */
  timeoutMs?: number
  /** Produce with acks=0 has no answer: resolves with undefined once the system has the bytes, also if the client is closed then. Default true. */
  expectsAnswer?: boolean
  /** Speak this version instead of the highest that both sides know. */
  version?: number
}

export class Connection {
  readonly #options: ConnectionOptionsOfOurs
  readonly #inFlight = new Map<number, PendingRequest>()
  readonly #queue: PendingRequest[] = []
  readonly #answers = new AnswerReader(LARGEST_ANSWER)
  #state: State = 'new'
  #socket: Socket | undefined
  #offered: OfferedVersions | undefined
  #nextCorrelationId = 0
  #opening: Promise<void> | undefined
  /** The broker asked for a pause (KIP-219): nothing leaves before this monotonic time. */
  #throttledUntil = 0
  #cancelThrottle: () => void = () => {}

  constructor(options: ConnectionOptionsOfOurs) {
    this.#options = options
  }

  get broker(): string {
    const { host, port } = this.#options
    return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
  }

  get isOpen(): boolean {
    return this.#state === 'open'
  }

  get isClosed(): boolean {
    return this.#state === 'closed'
  }

  /** Connects and asks the broker which versions it speaks. Callers at the same time share one attempt. */
  open(): Promise<void> {
    this.#opening ??= this.#open()
    return this.#opening
  }

  async #open(): Promise<void> {
    if (this.#state === 'closed') throw this.#closedError()
    this.#state = 'connecting'
    await this.#connect()
    this.#state = 'open'
    try {
      this.#offered = await this.#askVersions()
    } catch (error) {
      this.close()
      throw error
    }
  }

  #connect(): Promise<void> {
    const { host, port, ssl, socketFactory, timers, connectionTimeoutMs } = this.#options
    return new Promise((resolve, reject) => {
      const cancelTimer = timers.after(connectionTimeoutMs, () =>
        fail(
          new KafkaJSConnectionError(`Connection timeout: ${this.broker} did not answer within ${connectionTimeoutMs} ms`, {
            broker: this.broker,
          }),
        ),
      )
      const fail = (error: KafkaJSConnectionError): void => {
        cancelTimer()
        this.#end(error)
        reject(error)
      }
      const socket = socketFactory({
        host,
        port,
        ssl,
        onConnect: () => {
          cancelTimer()
          resolve()
        },
        onread: {
          buffer: () => this.#answers.room(),
          callback: (count) => {
            this.#receive(() => this.#answers.filled(count))
            return true
          },
        },
      })
      this.#socket = socket
      socket.setNoDelay(true)
      socket.on('data', (chunk: Buffer) => this.#receive(() => this.#answers.push(chunk)))
      socket.on('error', (error: NodeJS.ErrnoException) =>
        fail(new KafkaJSConnectionError(`Connection error: ${error.message}`, { broker: this.broker, code: error.code })),
      )
      socket.on('close', () => fail(this.#closedError()))
    })
  }

  async #askVersions(): Promise<OfferedVersions> {
    const [min, max] = CLIENT_VERSIONS.ApiVersions
    let response = await this.#send('ApiVersions', max, { clientSoftwareName: 'mq', clientSoftwareVersion: '1.0.0' }, {})
    // A broker that does not know our version answers in version 0 and says which it knows (KIP-511).
    if (response.errorCode === UNSUPPORTED_VERSION) {
      const known = response.apiKeys.find(({ apiKey }) => apiKey === APIS.ApiVersions.key)
      response = await this.#send('ApiVersions', Math.max(min, Math.min(max - 1, known?.maxVersion ?? 0)), {}, {})
    }
    if (response.errorCode !== 0) throw protocolError(response.errorCode)
    return new Map(response.apiKeys.map(({ apiKey, minVersion, maxVersion }) => [apiKey, { minVersion, maxVersion }]))
  }

  /** The next correlation id (they wrap at 2^31−1). For tests of long-lived connections. */
  startCorrelationIdsAt(correlationId: number): void {
    this.#nextCorrelationId = correlationId
  }

  /** Does the broker serve this API in a version that we speak? */
  supports(api: ApiName): boolean {
    return this.#offered !== undefined && negotiate(api, this.#offered) !== undefined
  }

  /** The version that a request will have. Throws KafkaJSServerDoesNotSupportApiKey when there is none. */
  versionOf(api: ApiName): number {
    const version = this.#offered === undefined ? undefined : negotiate(api, this.#offered)
    if (version === undefined) {
      const { key } = APIS[api]
      throw new KafkaJSServerDoesNotSupportApiKey(
        `The broker ${this.broker} does not serve ${api} in a version that this client speaks`,
        {
          apiKey: key,
          apiName: api,
        },
      )
    }
    return version
  }

  /** Sends a request; resolves with the decoded body. Rejects when the connection ends or the time limit passes. */
  async send<Api extends ApiName>(api: Api, body: RequestOf<Api>, options: SendOptions = {}): Promise<ResponseOf<Api>> {
    await this.open()
    return this.#send(api, options.version ?? this.versionOf(api), body, options)
  }

  #send<Api extends ApiName>(api: Api, version: number, body: RequestOf<Api>, options: SendOptions): Promise<ResponseOf<Api>> {
    const { clock, requestTimeoutMs } = this.#options
    return new Promise((resolve, reject) => {
      if (this.#state !== 'open') return reject(this.#closedError())
      const correlationId = this.#nextCorrelationId
      this.#nextCorrelationId = correlationId === LAST_CORRELATION_ID ? 0 : correlationId + 1
      const request: PendingRequest = {
        api,
        version,
        correlationId,
        createdAt: clock.now(),
        createdMonotonic: clock.monotonic(),
        timeoutMs: options.timeoutMs ?? requestTimeoutMs,
        frame: encodeRequest({ api, version, correlationId, clientId: this.#options.clientId, body } as Parameters<
          typeof encodeRequest
        >[0]),
        expectsAnswer: options.expectsAnswer ?? true,
        sentAt: 0,
        sentMonotonic: 0,
        cancelTimer: () => {},
        resolve: resolve as (body: unknown) => void,
        reject,
      }
      if (this.#mayWrite()) this.#write(request)
      else {
        this.#queue.push(request)
        this.#options.listener.requestQueueSize({
          broker: this.broker,
          clientId: this.#options.clientId,
          queueSize: this.#queue.length,
        })
      }
    })
  }

  #mayWrite(): boolean {
    return this.#inFlight.size < this.#options.maxInFlightRequests && this.#options.clock.monotonic() >= this.#throttledUntil
  }

  #write(request: PendingRequest): void {
    const { clock, timers, enforceRequestTimeout } = this.#options
    request.sentAt = clock.now()
    request.sentMonotonic = clock.monotonic()
    this.#inFlight.set(request.correlationId, request)
    if (enforceRequestTimeout) request.cancelTimer = timers.after(request.timeoutMs, () => this.#timedOut(request))
    if (request.expectsAnswer) writeFrame(this.#socket!, request.frame)
    // A write that fails ends the connection, which rejects the request.
    else writeFrame(this.#socket!, request.frame, (error) => error || this.#written(request))
  }

  /** Nobody answers it: it is done, unless the connection ended meanwhile and has rejected it. */
  #written(request: PendingRequest): void {
    if (!this.#inFlight.delete(request.correlationId)) return
    request.cancelTimer()
    request.resolve(undefined)
    this.#drainQueue()
  }

  #drainQueue(): void {
    while (this.#queue.length > 0 && this.#state === 'open' && this.#mayWrite()) {
      this.#write(this.#queue.shift()!)
      this.#options.listener.requestQueueSize({
        broker: this.broker,
        clientId: this.#options.clientId,
        queueSize: this.#queue.length,
      })
    }
  }

  /** A request without an answer leaves the connection in an unknown state: it is closed, and whoever needs it opens a new one. */
  #timedOut(request: PendingRequest): void {
    this.#options.listener.requestTimeout(this.#eventPayload(request))
    const { api, version, correlationId, createdAt, sentAt } = request
    this.#end(
      new KafkaJSRequestTimeoutError(`Request ${api}(key: ${APIS[api].key}, version: ${version}) timed out`, {
        broker: this.broker,
        correlationId,
        createdAt,
        sentAt,
        pendingDuration: request.sentMonotonic - request.createdMonotonic,
      }),
    )
  }

  #receive(read: () => Buffer[]): void {
    if (this.#state === 'closed') return
    try {
      for (const frame of read()) this.#answered(frame)
    } catch (error) {
      const problem = new KafkaJSConnectionError(`Cannot read the answer of ${this.broker}: ${(error as Error).message}`, {
        broker: this.broker,
      })
      this.#options.logger.error(problem.message, { broker: this.broker })
      this.#end(problem)
      return
    }
    this.#drainQueue()
  }

  #answered(frame: Buffer): void {
    const correlationId = frame.readInt32BE(0)
    const request = this.#inFlight.get(correlationId)
    if (request === undefined) {
      this.#options.logger.warn('An answer came for no request', { broker: this.broker, correlationId })
      return
    }
    this.#inFlight.delete(correlationId)
    request.cancelTimer()
    let body: unknown
    try {
      const int64 = request.api in EXACT_ANSWERS ? 'exact' : 'safe'
      body = decodeResponse({ api: request.api, version: request.version, frame, int64 }).body
    } catch (error) {
      request.reject(new KafkaJSNonRetriableError(error as Error, { cause: error }))
      return
    }
    this.#throttle((body as { throttleTimeMs?: number }).throttleTimeMs ?? 0, request)
    const { clock, listener } = this.#options
    listener.request({ ...this.#eventPayload(request), duration: clock.monotonic() - request.sentMonotonic, size: frame.length })
    request.resolve(body)
  }

  /** Since KIP-219 the broker answers at once and the client keeps quiet for the time that it was told. */
  #throttle(throttleTimeMs: number, request: PendingRequest): void {
    if (throttleTimeMs <= 0 || !clientThrottles(request.api, request.version)) return
    const { clock, timers } = this.#options
    this.#throttledUntil = clock.monotonic() + throttleTimeMs
    this.#cancelThrottle()
    this.#cancelThrottle = timers.after(throttleTimeMs, () => this.#drainQueue())
  }

  #eventPayload(request: PendingRequest): Record<string, unknown> {
    return {
      apiKey: APIS[request.api].key,
      apiName: request.api,
      apiVersion: request.version,
      broker: this.broker,
      clientId: this.#options.clientId,
      correlationId: request.correlationId,
      createdAt: request.createdAt,
      sentAt: request.sentAt,
      pendingDuration: request.sentMonotonic - request.createdMonotonic,
    }
  }

  /** Ends the connection; what is in flight or waiting rejects. Safe to call more than once. */
  close(): void {
    this.#end(this.#closedError())
  }

  #end(reason: Error): void {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    this.#socket?.destroy()
    this.#cancelThrottle()
    const waiting = [...this.#inFlight.values(), ...this.#queue]
    this.#inFlight.clear()
    this.#queue.length = 0
    for (const request of waiting) {
      request.cancelTimer()
      request.reject(reason)
    }
  }

  #closedError(): KafkaJSConnectionClosedError {
    const { host, port } = this.#options
    return new KafkaJSConnectionClosedError(`The connection to ${this.broker} is closed`, { host, port })
  }
}
