/** Fetched bytes turned into what handlers see: messages with offsets and times as strings, and a batch that knows its lag. */

import type { RecordHeader } from '@mq/protocol'
import type { Headers } from '../producer/messages.js'

export interface KafkaMessage {
  key: Buffer | null
  value: Buffer | null
  /** Milliseconds since 1970. */
  timestamp: string
  attributes: number
  offset: string
  headers: Headers
}

/** Makes plain objects without room in themselves for properties; `{}` has room for four, a fifth of what a message takes in all. */
function Bare(): void {}
Bare.prototype = Object.prototype

/** The headers of a message without any: a fresh `{}`, since programs may put in what they like. */
export function noHeaders(): Headers {
  return new (Bare as unknown as new () => Headers)()
}

/** A header key that repeats comes as an array, in order. */
export function headersOf(list: readonly RecordHeader[]): Headers {
  const headers: Headers = {}
  for (const { key, value } of list) {
    const next = value as Buffer
    if (!Object.hasOwn(headers, key)) setHeader(headers, key, next)
    else {
      const known = headers[key]
      if (Array.isArray(known)) known.push(next)
      else setHeader(headers, key, [known as Buffer, next])
    }
  }
  return headers
}

/** A header may be called `__proto__`, and is a header then. */
function setHeader(headers: Headers, key: string, value: Buffer | (Buffer | string)[]): void {
  if (key === '__proto__') Object.defineProperty(headers, key, { value, writable: true, enumerable: true, configurable: true })
  else headers[key] = value
}

/**
 * Messages of one partition as one fetch brought them. Keys and values are views into that fetch's own buffer, which nobody else writes:
 * they stay valid as long as you hold them, and hold that buffer (about `maxBytesPerPartition`) in memory.
 */
export class Batch {
  constructor(
    readonly topic: string,
    readonly partition: number,
    /** Offset after the last committed record of the partition. */
    readonly highWatermark: string,
    readonly messages: KafkaMessage[],
    /** Where the fetch began. */
    private readonly fetchedOffset: number,
    /** Last offset that the fetched bytes cover, control records and compacted gaps included. */
    private readonly coveredOffset: number,
  ) {}

  isEmpty(): boolean {
    return this.messages.length === 0
  }

  firstOffset(): string | null {
    return this.messages[0]?.offset ?? null
  }

  /** The last offset covered, also where nothing of it is visible, so that resolving it passes markers and gaps. */
  lastOffset(): string {
    return String(Math.max(this.coveredOffset, this.fetchedOffset - 1))
  }

  /** How far this batch's end is behind the last record. */
  offsetLag(): string {
    return String(Math.max(0, Number(this.highWatermark) - 1 - Number(this.lastOffset())))
  }

  /** How far this batch's beginning is behind the last record. */
  offsetLagLow(): string {
    const first = this.firstOffset()
    return first === null ? '0' : String(Math.max(0, Number(this.highWatermark) - 1 - Number(first)))
  }
}
