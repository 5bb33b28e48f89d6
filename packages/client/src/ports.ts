/** What the client asks of the outside. The Node implementations live in node-environment.ts; tests bring their own. */

import type { Socket } from 'node:net'
import type { ConnectionOptions } from 'node:tls'

export interface Clock {
  /** Wall clock, in milliseconds since 1970. Only for timestamps that people see. */
  now(): number
  /** Milliseconds that only ever rise. Everything that measures a duration uses this. */
  monotonic(): number
}

export interface Timers {
  /** Calls `fire` once after `delayMs` (any size, also above 2^31 ms). Returns a function that cancels. */
  after(delayMs: number, fire: () => void): () => void
}

export interface Random {
  /** A number in [0, 1). */
  next(): number
}

/** Where to connect and with what; the shape is kafkajs' `socketFactory` argument. */
export interface SocketFactoryArgs {
  host: string
  port: number
  ssl?: ConnectionOptions | undefined
  onConnect: () => void
  /**
   * Where the socket may put what it reads, as `net.connect` takes it: spares a copy and an event for each chunk. A factory that leaves it
   * alone makes sockets that emit `data`, which works as well.
   */
  onread?: { buffer: () => Uint8Array; callback: (count: number) => boolean } | undefined
}

export type SocketFactory = (args: SocketFactoryArgs) => Socket

export interface Environment {
  readonly clock: Clock
  readonly timers: Timers
  readonly random: Random
  readonly socketFactory: SocketFactory
  /** Environment variables that change behaviour (KAFKAJS_LOG_LEVEL, NODE_ENV). */
  readonly variables: Readonly<Record<string, string | undefined>>
}
