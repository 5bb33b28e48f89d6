/**
 * From a frame to its answer: header, the handler of that API and version, decode, serve, encode. What 3.9.1 answers by closing the
 * connection (unknown key or version, bytes that do not decode) is closed here; an exception of a handler is logged and answered.
 */
import {
  APIS,
  type Api,
  apiByKey,
  DecodeError,
  decodeBody,
  encodeBody,
  encodeResponse,
  errorCode,
  Framing,
  InvariantError,
} from '@mq/protocol'
import { CLOSE_CONNECTION, type Handler, NO_RESPONSE } from '../handlers/handler.js'
import type { Logger } from '../ports.js'
import type { BrokerServices, RequestContext } from '../services.js'
import { type RequestTrace, requestServed } from '../trace.js'
import type { Connection, Reply } from './connection.js'

export interface RequestRouterOptions {
  readonly handlers: readonly Handler[]
  /** Undefined while the broker starts or stops: connections are closed. */
  readonly services: () => BrokerServices | undefined
  readonly log: Logger
  /** A broken invariant: the broker closes itself with this reason. */
  readonly onFatal: (error: Error) => void
}

const API_VERSIONS_KEY = 18
const PRODUCE_KEY = 0
const FETCH_KEY = 1

const isProduce = (frame: Buffer): boolean => frame.length >= 2 && frame.readInt16BE(0) === PRODUCE_KEY

/** Appends reach a partition's log in the order in which they are begun, so one Produce need not wait for the answer to the other. */
export const mayOverlap = isProduce

/** Only records are so many bytes that a copy costs something, and whoever keeps them (the log) holds them. */
export const isLent = isProduce

/** Only fetches are answered with megabytes. */
export const answerMayBeLarge = (frame: Buffer): boolean => frame.length >= 2 && frame.readInt16BE(0) === FETCH_KEY

/** A handler, and what is known of the frames of its API: one entry for each version, up to the highest served. */
interface Route {
  readonly handler: Handler
  readonly framings: readonly Framing[]
}

/** A request that is being served. */
interface Request {
  readonly handler: Handler
  readonly framing: Framing
  readonly body: unknown
  readonly context: RequestContext
}

export class RequestRouter {
  /** By API key. */
  readonly #routes: (Route | undefined)[] = []
  readonly #options: RequestRouterOptions

  constructor(options: RequestRouterOptions) {
    this.#options = options
    const byName = new Map(options.handlers.map((handler) => [handler.api, handler]))
    for (let key = 0; key < 128 && byName.size > 0; key++) {
      const api = apiByKey(key)
      const handler = api && byName.get(api.name)
      if (api === undefined || handler === undefined) continue
      this.#routes[key] = {
        handler,
        framings: Array.from({ length: handler.maxVersion + 1 }, (_, version) => new Framing(api, version)),
      }
      byName.delete(api.name)
    }
    const unknown = byName.keys().next().value
    if (unknown !== undefined) throw new InvariantError(`a handler for ${unknown}, which is no API`)
  }

  /** As ServeFrame says. */
  serve(frame: Buffer, connection: Connection, answered: (reply: Reply) => void): Reply | 'later' {
    const services = this.#options.services()
    if (services === undefined) return { close: 'the broker is not running' }
    let name = 'a request'
    try {
      if (frame.length < 8) return { close: 'a frame too short for a request header' }
      const apiKey = frame.readInt16BE(0)
      const apiVersion = frame.readInt16BE(2)
      const route = this.#routes[apiKey]
      if (route === undefined) return this.#closed(connection, `unknown or unserved API key ${apiKey}`)
      const { handler } = route
      name = handler.api
      if (apiVersion < handler.minVersion || apiVersion > handler.maxVersion) {
        if (apiKey === API_VERSIONS_KEY) return unsupportedApiVersions(frame, handler)
        return this.#closed(connection, `${name} version ${apiVersion} is not served`)
      }
      const framing = route.framings[apiVersion]!
      const { correlationId, clientId, body } = framing.readRequest(frame)
      const context: RequestContext = {
        apiVersion,
        correlationId,
        clientId,
        listenerName: connection.listenerName,
        clientAddress: connection.clientAddress,
        connectionId: connection.id,
        onGone: (gone) => connection.onGone(gone),
        broker: services,
      }
      const request: Request = { handler, framing, body, context }
      return requestServed.hasSubscribers ? this.#traced(request, frame, answered) : this.#run(request, answered)
    } catch (error) {
      if (error instanceof DecodeError) return this.#closed(connection, `${name}: ${error.message}`)
      this.#report(name, connection.id, error)
      return { close: `${name} failed` }
    }
  }

  #traced(request: Request, frame: Buffer, answered: (reply: Reply) => void): Reply | 'later' {
    const { handler, context } = request
    const { clock } = context.broker
    const began = clock.monotonic()
    const publish = (reply: Reply): Reply => {
      const { apiVersion: version, correlationId, clientId, connectionId } = context
      const answer = reply === 'none' ? 'none' : 'close' in reply ? 'closed' : reply.reduce((sum, { length }) => sum + length, 0)
      const trace: RequestTrace = {
        api: handler.api,
        version,
        correlationId,
        clientId,
        connectionId,
        ms: clock.monotonic() - began,
        requestBytes: frame.length,
        answer,
      }
      requestServed.publish(trace)
      return reply
    }
    const reply = this.#run(request, (later) => answered(publish(later)))
    return reply === 'later' ? reply : publish(reply)
  }

  #run(request: Request, answered: (reply: Reply) => void): Reply | 'later' {
    let answer: ReturnType<Handler['serve']>
    try {
      answer = request.handler.serve(request.body, request.context)
    } catch (error) {
      return this.#failed(request, error)
    }
    if (!(answer instanceof Promise)) return this.#encodeSafely(request, answer)
    void answer.then(
      (later) => answered(this.#encodeSafely(request, later)),
      (error: unknown) => answered(this.#failed(request, error)),
    )
    return 'later'
  }

  #encodeSafely(request: Request, answer: unknown): Reply {
    try {
      return encode(request, answer)
    } catch (error) {
      return this.#failed(request, error)
    }
  }

  /** A bug in a handler: UNKNOWN_SERVER_ERROR where the answer has a place for it, else the connection closes; never silence. */
  #failed(request: Request, error: unknown): Reply {
    const { handler, context } = request
    this.#report(handler.api, context.connectionId, error)
    const { response }: Api = APIS[handler.api]
    const body = { errorCode: errorCode('UNKNOWN_SERVER_ERROR') }
    try {
      // Not every answer has a place for an error of the whole request.
      const read = decodeBody(response, context.apiVersion, encodeBody(response, context.apiVersion, body))
      if ('errorCode' in read && read.errorCode === body.errorCode) return encode(request, body)
    } catch {
      // Closed instead, below.
    }
    return { close: `${handler.api} failed` }
  }

  #report(api: string, connection: string, error: unknown): void {
    const reason = error instanceof Error ? error : new Error(String(error))
    this.#options.log.error({ api, connection, err: reason }, `${api} failed: ${reason.message}`)
    if (reason instanceof InvariantError) this.#options.onFatal(reason)
  }

  #closed(connection: Connection, reason: string): Reply {
    this.#options.log.debug({ connection: connection.id, client: connection.clientAddress }, `closing: ${reason}`)
    return { close: reason }
  }
}

function encode({ handler, framing, context }: Request, answer: unknown): Reply {
  if (answer === NO_RESPONSE) return 'none'
  if (answer === CLOSE_CONNECTION) return { close: `${handler.api} asked to close` }
  return framing.writeResponse(context.correlationId, answer as Parameters<Framing['writeResponse']>[1])
}

/** KIP-511: a version that we do not know is answered in version 0, so that the client learns which ones we do. */
function unsupportedApiVersions(frame: Buffer, handler: Handler): Reply {
  return encodeResponse({
    api: 'ApiVersions',
    version: 0,
    correlationId: frame.readInt32BE(4),
    body: {
      errorCode: errorCode('UNSUPPORTED_VERSION'),
      apiKeys: [{ apiKey: API_VERSIONS_KEY, minVersion: handler.minVersion, maxVersion: handler.maxVersion }],
    },
  })
}
