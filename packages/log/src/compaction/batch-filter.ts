/**
 * What is left of one batch when a log is cleaned: all of it, fewer records, its header, or nothing. Pure.
 *
 * A record stays when it is the last with its key and no tombstone whose time is up; one behind the end of the map always stays, one
 * without a key never does. Records of aborted transactions go. The batch that holds the last sequence number of a producer that
 * may still write stays as a header, so that its next batch is not out of order. The first cleaning that finds a tombstone with
 * nothing before it, or a marker that ends nothing, writes down when it may go (KIP-534): readers in the middle of the log must
 * have a chance to see it.
 */
import { emptied, LegacyBatch, RecordBatch, type RecordView, readControlRecord, rewritten, rewrittenMessages } from '@mq/protocol'
import type { StoredBatch } from '../stored-batch.js'
import type { CleanedTransactions, TransactionEnd } from './cleaned-transactions.js'
import type { OffsetMap } from './offset-map.js'

/** Where a producer that may still write stands. */
export interface ActiveProducer {
  readonly producerId: number
  readonly producerEpoch: number
  /** Of its last batch of records; -1 when only a marker is known of its epoch. */
  readonly lastDataOffset: number
}

export interface FilterRules {
  readonly map: OffsetMap
  readonly transactions: CleanedTransactions
  readonly activeProducers: ReadonlyMap<number, ActiveProducer>
  /** By the wall clock, when the cleaning began. */
  readonly now: number
  /** `delete.retention.ms` */
  readonly deleteRetentionMs: number
  /** Whether tombstones of magic 0 and 1 stay: these formats have no place for a horizon, the age of their segment decides. */
  readonly keepsOldTombstones: boolean
}

/** Null when nothing is left. @throws RecordsError where the records are not sound */
export function leftOf({ bytes, at, magic }: StoredBatch, rules: FilterRules): Buffer | null {
  return magic === 2 ? leftOfBatch(new RecordBatch(bytes, at), rules) : leftOfMessage(new LegacyBatch(bytes, at), rules)
}

function leftOfBatch(batch: RecordBatch, rules: FilterRules): Buffer | null {
  const { now, deleteRetentionMs } = rules
  const { isControl, deleteHorizonMs } = batch
  const endsNothing = isControl && markerEndsNothing(batch, rules.transactions)
  const isAborted = !isControl && batch.isTransactional && rules.transactions.isAborted(batch)
  const isDropped = isControl ? endsNothing && deleteHorizonMs !== null && deleteHorizonMs <= now : isAborted
  if (isDropped) return holdsLastSequence(batch, rules) ? emptied(batch) : null

  const kept: RecordView[] = []
  let hasTombstone = false
  for (const record of batch.records() as Iterable<RecordView>) {
    const stays = isControl || recordStays(record, deleteHorizonMs === null || now < deleteHorizonMs, rules.map)
    if (!stays) continue
    kept.push(record)
    hasTombstone ||= record.value === null
  }
  if (kept.length === 0) return holdsLastSequence(batch, rules) ? emptied(batch) : null

  // A time beyond what a date can say means that tombstones never go.
  const horizon = now + deleteRetentionMs
  const needsHorizon = (hasTombstone || endsNothing) && deleteHorizonMs === null && Number.isSafeInteger(horizon)
  if (kept.length === batch.recordCount && !needsHorizon) return batch.slice()
  return rewritten(batch, kept, needsHorizon ? horizon : deleteHorizonMs)
}

function leftOfMessage(message: LegacyBatch, rules: FilterRules): Buffer | null {
  const kept: RecordView[] = []
  let count = 0
  for (const record of message.records()) {
    count++
    if (recordStays(record, rules.keepsOldTombstones, rules.map)) kept.push(record)
  }
  if (kept.length === 0) return null
  return kept.length === count ? message.slice() : rewrittenMessages(message, kept)
}

function recordStays(record: RecordView, tombstonesStay: boolean, map: OffsetMap): boolean {
  if (record.offset > map.latestOffset) return true
  const { key } = record
  if (key === null) return false
  return record.offset >= map.get(key) && (record.value !== null || tombstonesStay)
}

/** One without a record was cleaned before: nothing of its transaction is left. */
export function endOf(batch: RecordBatch): TransactionEnd | 'other' | 'empty' {
  for (const record of batch.records()) {
    const { type } = readControlRecord(record)
    return type === 'COMMIT' ? 'commit' : type === 'ABORT' ? 'abort' : 'other'
  }
  return 'empty'
}

function markerEndsNothing(batch: RecordBatch, transactions: CleanedTransactions): boolean {
  const end = endOf(batch)
  return end === 'empty' || (end !== 'other' && transactions.endsNothing(batch, end))
}

function holdsLastSequence(batch: RecordBatch, { activeProducers }: FilterRules): boolean {
  const producer = batch.hasProducerId ? activeProducers.get(batch.producerId) : undefined
  if (producer === undefined) return false
  // Without a batch of its epoch the marker is what knows the epoch, which fences older ones.
  if (producer.lastDataOffset < 0) return batch.isControl && batch.producerEpoch === producer.producerEpoch
  return batch.lastOffset === producer.lastDataOffset
}
