/**
 * A log's batches and records one after another, from an offset on. One read is in memory at a time, whatever the log holds; the
 * iterator ends where the log ended when it began, or follows.
 */
import { AbortedTransactions, type AnyBatch, iterateAnyBatches, type Record, RecordBatch, RecordsError } from '@mq/protocol'
import type { Read, ReadLimit, Refused } from './outcomes.js'
import { orThrow, RefusedError } from './refused-error.js'
import { whenReady } from './watch.js'

/** What the iterators need of a log. */
export interface IterableLog {
  readonly logStartOffset: number
  readonly logEndOffset: number
  readonly lastStableOffset: number
  /** Closed, or its directory failed: reads are refused. */
  readonly isClosed: boolean
  read(
    offset: number,
    options: { readonly maxBytes: number; readonly minOneMessage: boolean; readonly upTo: ReadLimit },
  ): Read | Refused | Promise<Read | Refused>
  watch(listener: () => void): () => void
}

/** As a consumer's `isolation.level`. */
export type Isolation = 'read_uncommitted' | 'read_committed'

export interface IterateOptions {
  /**
   * `read_uncommitted` (the default) gives all that is in the log, markers of transactions too. `read_committed` gives what a
   * consumer with that level gets: nothing of aborted transactions, no markers, nothing behind the oldest open transaction.
   */
  readonly isolation?: Isolation
  /** Ends before this offset. Default: where the log ended (for that isolation) when the iterator began; without end when it follows. */
  readonly to?: number
  /** At the log's end, waits for more instead of ending. */
  readonly follow?: boolean
  /** Aborted, the iterator throws the signal's reason; the only way to end one that waits. */
  readonly signal?: AbortSignal
  /** Bytes of one read, at least one batch; default 1 MiB. */
  readonly maxBytes?: number
}

/** Where to begin: an offset, or one of the log's ends. */
export type StartOffset = number | 'earliest' | 'latest'

const READ_BYTES = 1024 * 1024

/**
 * Whole batches, from the one that holds `from` on (the first one may begin before it). They are views into the bytes of one read
 * and keep these in memory as long as they are held.
 * @throws RefusedError when the offset is not in the log (or no longer), or a batch is damaged
 */
export async function* batchesOf(
  log: IterableLog,
  from: StartOffset,
  options: IterateOptions = {},
): AsyncGenerator<AnyBatch, void, undefined> {
  const { isolation = 'read_uncommitted', follow = false, signal, maxBytes = READ_BYTES } = options
  const isCommitted = isolation === 'read_committed'
  const limit = (): number => (isCommitted ? log.lastStableOffset : log.logEndOffset)
  const end = options.to ?? (follow ? Number.POSITIVE_INFINITY : limit())
  let offset = startOf(log, from, isolation)
  while (offset < end) {
    signal?.throwIfAborted()
    const upTo = isCommitted ? 'lastStable' : 'logEnd'
    const read = orThrow(await log.read(offset, { maxBytes, minOneMessage: true, upTo }))
    const aborted = new AbortedTransactions(isCommitted ? read.abortedTransactions : null)
    for (const batch of soundBatches(read.slices.length === 1 ? read.slices[0]! : Buffer.concat(read.slices))) {
      if (batch.nextOffset > end && firstOffsetOf(batch) >= end) return
      offset = Math.max(offset, batch.nextOffset)
      signal?.throwIfAborted()
      if (isCommitted && batch instanceof RecordBatch && (aborted.hidesBatch(batch) || batch.isControl)) continue
      yield batch
    }
    if (read.sizeInBytes > 0) continue
    if (!follow) return
    await whenReady(
      (listener) => log.watch(listener),
      () => log.isClosed || limit() > offset,
      signal,
    )
  }
}

/**
 * Records from the offset on. Key, value and headers are views into the bytes of one read: copy what is to be kept for long.
 * @throws RefusedError as `batchesOf`
 */
export async function* recordsOf(
  log: IterableLog,
  from: StartOffset,
  options: IterateOptions = {},
): AsyncGenerator<Record, void, undefined> {
  const { to = Number.POSITIVE_INFINITY, isolation = 'read_uncommitted' } = options
  const start = startOf(log, from, isolation)
  for await (const batch of batchesOf(log, start, options)) {
    try {
      for (const record of batch.records()) {
        if (record.offset >= to) return
        if (record.offset >= start) yield record
      }
    } catch (error) {
      throw asRefused(error)
    }
  }
}

function startOf(log: IterableLog, from: StartOffset, isolation: Isolation): number {
  if (from === 'earliest') return log.logStartOffset
  if (from === 'latest') return isolation === 'read_committed' ? log.lastStableOffset : log.logEndOffset
  return from
}

const firstOffsetOf = (batch: AnyBatch): number => (batch instanceof RecordBatch ? batch.baseOffset : batch.baseOffset())

/** The batches of what was read; one whose checksum is wrong ends it. */
function* soundBatches(bytes: Buffer): Generator<AnyBatch, void, undefined> {
  try {
    for (const batch of iterateAnyBatches(bytes)) {
      if (!batch.crcIsValid())
        throw new RecordsError('CORRUPT_MESSAGE', `the CRC of the batch up to ${batch.lastOffset} does not match`)
      yield batch
    }
  } catch (error) {
    throw asRefused(error)
  }
}

const asRefused = (error: unknown): unknown =>
  error instanceof RecordsError ? new RefusedError({ error: error.error, message: error.message }) : error
