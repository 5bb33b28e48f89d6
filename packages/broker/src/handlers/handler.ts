/** How one API is served: a name, the versions that are whole, and a function from the decoded request to the response body. */
import type { ApiName, Body, Input, RequestOf, ResponseOf } from '@mq/protocol'
import type { RequestContext } from '../services.js'

/** The request wants no answer (Produce with acks=0 that went well). */
export const NO_RESPONSE = Symbol('no response')
/** The connection is to be closed without an answer (Produce with acks=0 that failed). */
export const CLOSE_CONNECTION = Symbol('close connection')

export type Answer<Response> = Response | typeof NO_RESPONSE | typeof CLOSE_CONNECTION
export type Serve<Request, Response> = (request: Request, context: RequestContext) => Answer<Response> | Promise<Answer<Response>>

export interface Handler {
  /** Kafka's name of the API, `Produce`. */
  readonly api: ApiName
  /** Lowest and highest version served, both whole; ApiVersions is answered from them. */
  readonly minVersion: number
  readonly maxVersion: number
  serve(request: unknown, context: RequestContext): Answer<unknown> | Promise<Answer<unknown>>
}

/** Declares a handler. Versions in Kafka's notation: `'0-11'` or `'0'`. An exception means a bug: it is logged and answered. */
export function handler<Name extends ApiName>(
  api: Name,
  { versions }: { versions: string },
  serve: Serve<Body<RequestOf<Name>>, Input<ResponseOf<Name>>>,
): Handler {
  const [min = '0', max = min] = versions.split('-')
  return { api, minVersion: Number(min), maxVersion: Number(max), serve: serve as Serve<unknown, unknown> }
}
