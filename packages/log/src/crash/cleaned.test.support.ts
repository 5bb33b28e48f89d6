/** What a log holds, and whether a compaction of what it held before may have left that. */
import assert from 'node:assert/strict'
import { iterateBatches } from '@mq/protocol'
import type { PartitionLog } from '../log.js'
import { History, type HistoryBatch, type HistoryRecord } from './history.test.support.js'
import type { PartitionModel } from './model.test.support.js'

/** All batches from the log's start on, as a reader of everything finds them. */
export async function historyOf(log: PartitionLog): Promise<History> {
  const found = new History()
  for (let next = log.logStartOffset; next < log.logEndOffset; ) {
    const read = await log.read(next, { maxBytes: 1 << 20, minOneMessage: true, upTo: 'logEnd' })
    if (read.kind === 'refused') assert.fail(`${read.error}: ${read.message}`)
    if (read.sizeInBytes === 0) break
    for (const batch of iterateBatches(Buffer.concat(read.slices))) {
      assert.ok(batch.crcIsValid(), `bad checksum at ${batch.baseOffset}`)
      assert.ok(batch.lastOffset >= next, `the batch of ${batch.baseOffset} comes after ${next}`)
      found.add(Buffer.from(batch.slice()))
      next = batch.nextOffset
    }
  }
  return found
}

/** The model goes on from what a cleaning left, whether it came to its end or not. */
export async function continueFromCleaned(log: PartitionLog, { history, start }: PartitionModel): Promise<void> {
  const found = await historyOf(log)
  const activeBase = log.segmentViews().at(-1)!.baseOffset
  checkCleaned(history, found, { start: Math.max(start, log.logStartOffset), activeBase })
  history.cleanedTo(found, { start: log.logStartOffset, activeBase })
}

/**
 * Nothing is there that was not there before; what is gone lay before the active segment and counts no more. Old values may be there as
 * long as a newer one is. Of what lies before `start` nothing is known but that it was written.
 */
export function checkCleaned(before: History, found: History, at: { readonly start: number; readonly activeBase: number }): void {
  const possible = [...before.written.filter(({ baseOffset }) => baseOffset < at.start), ...before.batches]
  const known = new Map(possible.flatMap((batch) => batch.records.map((record) => [record.offset, textOf(batch, record)])))
  for (const batch of found.batches)
    for (const record of batch.records)
      assert.equal(textOf(batch, record), known.get(record.offset), `the record at ${record.offset}, cleaned`)
  const active = ({ batches }: History) =>
    batches.filter(({ baseOffset }) => baseOffset >= Math.max(at.activeBase, at.start)).map(({ bytes }) => bytes)
  assert.deepEqual(active(found), active(before), 'what cannot have been cleaned')
  const committed = before.committed()
  assert.deepEqual(lastValues(found, at.start, committed), lastValues(before, at.start, committed), 'last values, cleaned')
}

/** All that a record and its batch say, but where the batch begins. */
function textOf({ ofProducer, isControl, leaderEpoch }: HistoryBatch, { timestamp, key, value }: HistoryRecord): string {
  const producer = ofProducer === null ? '' : `p${ofProducer.producerId}e${ofProducer.producerEpoch}`
  return `${producer} ${isControl} ${leaderEpoch} ${timestamp} ${key}=${value}`
}

/** Of each key, where it has one; a tombstone may be there or not. */
function lastValues(history: History, start: number, committed: ReadonlySet<number>): [string | null, string][] {
  const last = new Map<string | null, string | null>()
  for (const { records, isControl } of history.batches)
    for (const { offset, key, value } of records) if (!isControl && offset >= start && committed.has(offset)) last.set(key, value)
  return [...last].filter((one): one is [string | null, string] => one[1] !== null).sort()
}
