// Whole frames: size, header, body. Which header goes with which version, and the exceptions to the rule, are known here alone.

import { APIS, type Api, type ApiName, apiByKey, isFlexible, type RequestOf, type ResponseOf } from '../apis.js'
import { RequestHeader, ResponseHeader } from '../messages/headers.js'
import { type Codec, codecOf } from '../schema/codec.js'
import type { Body, Input, Message } from '../schema/message.js'
import { DecodeError, InvariantError } from './failures.js'
import type { Int64Reading } from './primitives.js'
import { Reader } from './reader.js'
import { putInt32, Writer } from './writer.js'

/** 1 with a client id, 2 with tagged fields. ControlledShutdown v0 is older than the client id. */
export function requestHeaderVersion(api: Api, version: number): number {
  if (api.key === APIS.ControlledShutdown.key && version === 0) return 0
  return isFlexible(api.request, version) ? 2 : 1
}

/** ApiVersions never has tagged fields in its header, so that any client can read it (KIP-511). */
export function responseHeaderVersion(api: Api, version: number): number {
  if (api.key === APIS.ApiVersions.key) return 0
  return isFlexible(api.response, version) ? 1 : 0
}

export interface RequestFrame<Name extends ApiName> {
  readonly api: Name
  readonly version: number
  readonly correlationId: number
  readonly clientId: string | null
  readonly body: Input<RequestOf<Name>>
}

/** A whole frame as slices: size, header, body; record buffers are in it by reference. */
export function encodeRequest<Name extends ApiName>(request: RequestFrame<Name>): Buffer[] {
  const api: Api = APIS[request.api]
  const headerVersion = requestHeaderVersion(api, request.version)
  const writer = new Writer()
  writer.int32(0)
  codecOf(RequestHeader, headerVersion).write(writer, {
    requestApiKey: api.key,
    requestApiVersion: request.version,
    correlationId: request.correlationId,
    clientId: headerVersion === 0 ? undefined : request.clientId,
  })
  codecOf(api.request, request.version).write(writer, request.body as Input<Api['request']>)
  return framed(writer)
}

export interface ReadRequestHeader {
  readonly apiKey: number
  readonly apiVersion: number
  readonly correlationId: number
  readonly clientId: string | null
  /** Index in the frame where the body begins. */
  readonly bodyAt: number
}

/**
 * Reads the header of a request frame (without its size). A key that we do not know, or a version of ApiVersions that we do not
 * know, still gives the first fields, so that the caller can answer; the client id is read where the header allows it.
 */
export function readRequestHeader(frame: Buffer): ReadRequestHeader {
  const peek = new Reader(frame)
  const apiKey = headerField(() => peek.int16(), 'requestApiKey')
  const apiVersion = headerField(() => peek.int16(), 'requestApiVersion')
  const api = apiByKey(apiKey)
  const headerVersion = api === undefined ? 1 : requestHeaderVersion(api, apiVersion)
  const reader = new Reader(frame)
  const header = codecOf(RequestHeader, headerVersion).read(reader)
  const { correlationId, clientId } = header
  return { apiKey, apiVersion, correlationId, clientId: headerVersion === 0 ? null : clientId, bodyAt: reader.at }
}

function headerField(read: () => number, field: string): number {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    throw new DecodeError(error.reason, error.position, field, RequestHeader.name, 0)
  }
}

export interface ResponseFrame<Name extends ApiName> {
  readonly api: Name
  readonly version: number
  readonly correlationId: number
  readonly body: Input<ResponseOf<Name>>
}

/** A whole frame as slices: size, header, body; record buffers are in it by reference. */
export function encodeResponse<Name extends ApiName>(response: ResponseFrame<Name>): Buffer[] {
  return new Framing(APIS[response.api], response.version).writeResponse(response.correlationId, response.body as Input<Message>)
}

/**
 * Items of all lists of a request together, tagged fields that are not known among them. A name of one byte becomes a string, an entry of
 * the answer and more: some 400 bytes, so that a frame of 100 MB could take more memory than there is.
 */
export const MOST_REQUEST_ITEMS = 200_000

/** The frames of one API in one version, for whoever serves many: what to read and write them with is looked up once. */
export class Framing {
  readonly #api: Api
  readonly #version: number
  readonly #hasClientId: boolean
  #request: { readonly header: Codec<typeof RequestHeader>; readonly body: Codec } | undefined
  #response: { readonly header: Codec<typeof ResponseHeader>; readonly body: Codec } | undefined

  constructor(api: Api, version: number) {
    this.#api = api
    this.#version = version
    this.#hasClientId = requestHeaderVersion(api, version) > 0
  }

  /**
   * A whole request frame (without its size); bytes behind the body are ignored. Throws DecodeError, also for more items in its lists than
   * `MOST_REQUEST_ITEMS`.
   */
  readRequest(frame: Buffer): { readonly correlationId: number; readonly clientId: string | null; readonly body: unknown } {
    const version = this.#version
    this.#request ??= {
      header: codecOf(RequestHeader, requestHeaderVersion(this.#api, version)),
      body: codecOf<Message>(this.#api.request, version),
    }
    const reader = new Reader(frame, 0, frame.length, MOST_REQUEST_ITEMS)
    const { correlationId, clientId } = this.#request.header.read(reader)
    // Where the header has no client id, the reader gives what a missing string is.
    return { correlationId, clientId: this.#hasClientId ? clientId : null, body: this.#request.body.read(reader) }
  }

  /** A whole response frame as slices, as `encodeResponse`. Throws EncodeError. */
  writeResponse(correlationId: number, body: Input<Message>): Buffer[] {
    const version = this.#version
    this.#response ??= {
      header: codecOf(ResponseHeader, responseHeaderVersion(this.#api, version)),
      body: codecOf<Message>(this.#api.response, version),
    }
    const writer = new Writer()
    writer.int32(0)
    this.#response.header.write(writer, { correlationId })
    this.#response.body.write(writer, body)
    return framed(writer)
  }
}

interface ReceivedResponse<Name extends ApiName> {
  readonly api: Name
  readonly version: number
  readonly frame: Buffer
}

/** Reads a response frame (without its size) of a known API and version. int64 is a number unless `exact` is asked for. */
export function decodeResponse<Name extends ApiName>(
  response: ReceivedResponse<Name> & { readonly int64?: 'safe' },
): { correlationId: number; body: Body<ResponseOf<Name>> }
export function decodeResponse<Name extends ApiName>(
  response: ReceivedResponse<Name> & { readonly int64: Int64Reading },
): { correlationId: number; body: Body<ResponseOf<Name>, number | bigint> }
export function decodeResponse({
  api: name,
  version,
  frame,
  int64,
}: ReceivedResponse<ApiName> & { readonly int64?: Int64Reading }): {
  correlationId: number
  body: unknown
} {
  const api: Api = APIS[name]
  const reader = new Reader(frame)
  const { correlationId } = codecOf(ResponseHeader, responseHeaderVersion(api, version)).read(reader)
  const codec = codecOf(api.response, version)
  return { correlationId, body: int64 === 'exact' ? codec.read(reader, 'exact') : codec.read(reader) }
}

function framed(writer: Writer): Buffer[] {
  const size = writer.size - 4
  const slices = writer.slices()
  const head = slices[0]
  if (head === undefined || head.length < 4) throw new InvariantError('a frame begins with its size')
  putInt32(head, 0, size)
  return slices
}
