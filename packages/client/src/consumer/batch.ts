/** Fetched bytes turned into what handlers see: messages with offsets and times as strings, and a batch that knows its lag. */

import type { Record as LogRecord } from '@mq/protocol'
import type { Headers } from '../producer/messages'

export interface KafkaMessage {
  key: Buffer | null
  value: Buffer | null
  /** Milliseconds since 1970. */
  timestamp: string
  attributes: number
  offset: string
  headers: Headers
}

/** A header key that repeats comes as an array, in order. */
export function headersOf(record: LogRecord): Headers {
  const headers: Headers = {}
  for (const { key, value } of record.headers) {
    const known = headers[key]
    const next = value as Buffer
    if (known === undefined && !(key in headers)) headers[key] = next
    else if (Array.isArray(known)) known.push(next)
    else headers[key] = [known as Buffer, next]
  }
  return headers
}

export function messageOf(record: LogRecord): KafkaMessage {
  return {
    key: record.key,
    value: record.value,
    timestamp: String(record.timestamp),
    attributes: 0,
    offset: String(record.offset),
    headers: headersOf(record),
  }
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
