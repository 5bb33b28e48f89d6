/** What programs hand to send(), checked and turned into records. A bad message is refused before anything is sent. */

import { KafkaJSNonRetriableError } from '../errors.js'

export interface Headers {
  [key: string]: Buffer | string | (Buffer | string)[] | undefined
}

export interface Message {
  key?: Buffer | string | null
  /** null deletes the key in a compacted topic; undefined is a mistake and is refused. */
  value: Buffer | string | null
  partition?: number
  headers?: Headers
  /** Milliseconds since 1970 as decimal digits. Default: now. */
  timestamp?: string
}

export interface RecordInput {
  /** A bigint where a number would not be exact. */
  readonly timestamp: number | bigint
  readonly key: Buffer | string | null
  readonly value: Buffer | string | null
  readonly headers: readonly { readonly key: string; readonly value: Buffer | string | null }[]
}

const NO_HEADERS: RecordInput['headers'] = []

/** Repeated keys come as an array; a header without a value is sent as null. */
function headersOf(headers: Headers | undefined): RecordInput['headers'] {
  if (headers === undefined || headers === null) return NO_HEADERS
  return Object.keys(headers).flatMap((key) => {
    const value = headers[key]
    return Array.isArray(value) ? value.map((each) => ({ key, value: bytesOf(each) })) : [{ key, value: bytesOf(value) }]
  })
}

/** Numbers and other scalars were sent as their text by kafkajs; that stays so. */
function bytesOf(part: unknown): Buffer | string | null {
  if (part === null || part === undefined) return null
  if (typeof part === 'string' || Buffer.isBuffer(part)) return part
  if (part instanceof Uint8Array) return Buffer.from(part.buffer, part.byteOffset, part.byteLength)
  return String(part)
}

/** Throws KafkaJSNonRetriableError that names the topic and what is wrong. */
export function recordOf(topic: string, message: Message, nowMs: number): RecordInput {
  if (message === null || typeof message !== 'object')
    throw new KafkaJSNonRetriableError(
      `Invalid message for topic "${topic}": expected an object with a value, got ${message === null ? 'null' : typeof message}`,
    )
  if (message.value === undefined)
    throw new KafkaJSNonRetriableError(`Invalid message without value for topic "${topic}": ${JSON.stringify(message)}`)
  const timestamp = message.timestamp === undefined || message.timestamp === null ? nowMs : Number(message.timestamp)
  return {
    timestamp: Number.isSafeInteger(timestamp) ? timestamp : exactTimestamp(topic, message.timestamp!),
    key: bytesOf(message.key),
    value: bytesOf(message.value),
    headers: headersOf(message.headers),
  }
}

/** A record may have any int64 for its time. */
function exactTimestamp(topic: string, text: string): bigint {
  const exact = /^-?\d{1,19}$/.test(text) ? BigInt(text) : null
  if (exact === null || BigInt.asIntN(64, exact) !== exact)
    throw new KafkaJSNonRetriableError(`Invalid timestamp "${text}" for topic "${topic}": expected milliseconds since 1970`)
  return exact
}
