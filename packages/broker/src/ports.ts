/** What the broker asks of the outside world. Node's implementations are in node-environment.ts, simulated ones in tests. */

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

export interface Environment {
  readonly clock: Clock
  readonly timers: Timers
  readonly random: Random
  readonly turn: Turn
}
