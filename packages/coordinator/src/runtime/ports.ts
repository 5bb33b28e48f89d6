/**
 * What the coordinator asks of the outside: one partition of an internal topic per shard, a clock, timers, random bytes and a place
 * for log lines. Structural, so that a replica's partition, a log in memory or a simulator fits without an adapter class.
 */

/** Wall time stamps records and decides retention; monotonic time is for everything that waits. Milliseconds. */
export interface Clock {
  now(): number
  monotonic(): number
}

/** Runs `fire` once after `delayMs` (any length, also beyond 2^31 ms) unless the returned function is called before. */
export interface Timers {
  after(delayMs: number, fire: () => void): () => void
}

export interface Random {
  /** A number in [0, 1). */
  next(): number
  bytes(count: number): Buffer
}

/** Fields first, then the sentence: a pino logger fits. */
export interface Logger {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** The records are in the log. They may still be lost with the leader until the high watermark has passed `lastOffset`. */
export interface PartitionAppended {
  readonly kind: 'appended'
  readonly firstOffset: number
  readonly lastOffset: number
}

/** Not done, and why: a name of Kafka's error table. */
export interface PartitionRefused {
  readonly kind: 'refused'
  readonly error: string
  readonly message?: string
}

/** The high watermark has passed the offset. */
export interface PartitionCommitted {
  readonly kind: 'committed'
}

/** One partition of an internal topic, as the leader sees it. */
export interface PartitionPort {
  readonly topic: string
  readonly partition: number
  /** Everything before it is committed: readers of committed state see no further. */
  readonly highWatermark: number
  /**
   * Appends one batch (magic 2, base offset 0) as the coordinator; all of it or nothing. Refusals are values; an exception, or a
   * refusal that leaves open what was written (KAFKA_STORAGE_ERROR), makes the shard load again.
   */
  append(records: Buffer): PartitionAppended | PartitionRefused | Promise<PartitionAppended | PartitionRefused>
  /** The log from its start to its end, in order, whole batches in each buffer; throws when it cannot be read. */
  read(): AsyncIterable<Buffer>
  /** Waits, without a limit, until the offset is committed; refused when leadership is lost before. */
  whenCommitted(offset: number): PartitionCommitted | PartitionRefused | Promise<PartitionCommitted | PartitionRefused>
}

/** Says nothing. */
export const SILENT: Logger = { info() {}, warn() {}, error() {} }
