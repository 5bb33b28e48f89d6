/** What the broker asks of the outside world. Node's implementations are in node-environment.ts, simulated ones in tests. */

import type { Processes } from '@mq/log'
import type { SlabPool } from '@mq/protocol'

/** Wall time is for record timestamps and retention; monotonic time for everything that waits. Both in milliseconds. */
export interface Clock {
  now(): number
  monotonic(): number
}

/** Runs `fire` once after `ms` (any length, also beyond 2^31 ms) unless the returned function is called before. */
export interface Timers {
  after(ms: number, fire: () => void): () => void
}

/** `next()` is in [0, 1); `bytes(n)` are unpredictable in a real environment and repeatable in a simulated one. */
export interface Random {
  next(): number
  bytes(count: number): Buffer
}

/** Runs a piece of work after what runs now has ended: what one turn gathered goes out in one write. */
export interface Turn {
  afterThisTurn(run: () => void): void
}

/** The few lines of pino that the broker uses. Fields first, then the sentence. */
export interface Logger {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** What a connection asks of its stream of bytes; a socket of Node is one. */
export interface NetworkStream {
  readonly localAddress?: string | undefined
  readonly localPort?: number | undefined
  readonly remoteAddress?: string | undefined
  readonly remotePort?: number | undefined
  /** Bytes written that the other side has not taken yet. */
  readonly writableLength: number
  /** Whether `drain` will come: nothing more should be written before. */
  readonly writableNeedDrain: boolean
  setNoDelay(): unknown
  on(event: 'data', listener: (chunk: Buffer) => void): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'end' | 'close' | 'drain', listener: () => void): unknown
  /** Stops `data`; at most one more chunk arrives. */
  pause(): unknown
  resume(): unknown
  cork(): void
  uncork(): void
  /** `done` is called once the bytes are no longer looked at, sent or not. */
  write(bytes: Buffer, done?: () => void): unknown
  /** No more is written; `sent` is called when what was written has left. */
  end(sent: () => void): unknown
  destroy(): unknown
}

export interface ListenOptions {
  readonly host: string
  /** 0: any free one. */
  readonly port: number
  readonly backlog: number
  /** The largest frame that a connection takes, for the stream's buffers. */
  readonly maxFrameBytes: number
  /** Frames that may be views into memory which is used again once they are released; of all others there is a copy. */
  readonly isLent: (frame: Buffer) => boolean
  /** Where such memory comes from. */
  readonly memory: SlabPool
  /** Called with a paused stream for each connection. */
  accepted(stream: NetworkStream): void
  /** A connection could not be accepted; the listener stays open. */
  failed(error: Error & { readonly code?: string }): void
}

export interface NetworkListener {
  readonly address: string
  readonly port: number
  /** Accepts nothing any more; resolves when its connections are gone too. */
  close(): Promise<void>
}

export interface Network {
  /** Rejects with an error that has the `code` of the system (EADDRINUSE, EACCES ...). */
  listen(options: ListenOptions): Promise<NetworkListener>
}

export interface Environment {
  readonly clock: Clock
  readonly timers: Timers
  readonly random: Random
  readonly turn: Turn
  readonly network: Network
  /** What connections read into, and what is read from the disk for readers. */
  readonly memory: SlabPool
  /** Who runs on this machine: for the lock of a data directory. */
  readonly processes: Processes
}
