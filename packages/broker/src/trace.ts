/**
 * Tracing by a flag: channels that cost nothing until somebody listens, and the printer that MQ_DEBUG subscribes.
 * A user's process may subscribe as well: `diagnostics_channel.subscribe('mq.broker.request', (trace) => …)`.
 */
import { channel, subscribe } from 'node:diagnostics_channel'

/** One request, when its answer is known. */
export interface RequestTrace {
  readonly api: string
  readonly version: number
  readonly correlationId: number
  readonly clientId: string | null
  readonly connectionId: string
  /** From its decoding to its answer, monotonic. */
  readonly ms: number
  readonly requestBytes: number
  /** Bytes of the answer, or that there is none. */
  readonly answer: number | 'none' | 'closed'
}

export const requestServed = channel('mq.broker.request')

/** The names that MQ_DEBUG takes, separated by commas. */
const CHANNELS: Readonly<Record<string, string>> = { request: 'mq.broker.request' }

/** Prints what the named channels say, one JSON line each. Returns the names that are unknown. */
export function printTraces(names: string, write: (line: string) => void): string[] {
  const unknown: string[] = []
  for (const name of names.split(',').map((one) => one.trim())) {
    if (name === '') continue
    const from = CHANNELS[name]
    if (from === undefined) unknown.push(name)
    else subscribe(from, (trace) => write(`${name} ${JSON.stringify(trace)}\n`))
  }
  return unknown
}
