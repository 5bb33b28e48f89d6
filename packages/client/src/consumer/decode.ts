/**
 * A fetched chunk as a batch of messages: records from the asked offset on, without control records and, if asked for, without those of
 * aborted transactions. The loop over plain records is the consumer's hottest: it makes the message, its two views, and nothing besides.
 */

import { AbortedTransactions, iterateAnyBatches, type Record as LogRecord, RecordBatch, viewOf } from '@mq/protocol'
import { protocolError } from '../errors.js'
import { Batch, headersOf, type KafkaMessage, noHeaders } from './batch.js'
import type { Chunk } from './fetcher.js'

const CORRUPT_MESSAGE = 2

export function decodeChunk(chunk: Chunk, readUncommitted: boolean): Batch {
  const messages: KafkaMessage[] = []
  const aborted = new AbortedTransactions(readUncommitted ? null : chunk.aborted)
  let covered = chunk.fetchOffset - 1
  for (const batch of iterateAnyBatches(chunk.records)) {
    covered = batch.lastOffset
    if (!batch.crcIsValid())
      throw Object.assign(protocolError(CORRUPT_MESSAGE), {
        topic: chunk.topic,
        partition: chunk.partition,
        offset: batch.lastOffset,
      })
    if (batch instanceof RecordBatch) {
      if (aborted.hidesBatch(batch) || batch.isControl) continue
      if (hasPlainTimes(batch)) {
        takePlain(batch, chunk.fetchOffset, messages)
        continue
      }
    }
    for (const record of batch.records()) if (record.offset >= chunk.fetchOffset) messages.push(messageOf(record))
  }
  return new Batch(chunk.topic, chunk.partition, String(chunk.highWatermark), messages, chunk.fetchOffset, covered)
}

/** Times and offsets of the batch are numbers, whatever its records' deltas say within their 53 bits. */
function hasPlainTimes(batch: RecordBatch): boolean {
  return batch.timestampType === 'CreateTime' && Number.isSafeInteger(batch.baseTimestamp)
}

function takePlain(batch: RecordBatch, fromOffset: number, messages: KafkaMessage[]): void {
  const { baseOffset, baseTimestamp } = batch
  const cursor = batch.cursor()
  const { buffer: memory, byteOffset } = cursor.bytes
  // Records of one batch mostly share their millisecond with the one before.
  let lastDelta = Number.NaN
  let timestamp = ''
  while (cursor.next()) {
    const offset = baseOffset + cursor.offsetDelta
    if (offset < fromOffset) continue
    const { keyAt, keyLength, valueAt, valueLength, timestampDelta } = cursor
    if (timestampDelta !== lastDelta) {
      lastDelta = timestampDelta
      timestamp = `${baseTimestamp + timestampDelta}`
    }
    messages.push({
      key: keyLength < 0 ? null : viewOf(memory, byteOffset + keyAt, keyLength),
      value: valueLength < 0 ? null : viewOf(memory, byteOffset + valueAt, valueLength),
      timestamp,
      attributes: 0,
      offset: `${offset}`,
      headers: cursor.headerCount === 0 ? noHeaders() : headersOf(cursor.headers()),
    })
  }
}

function messageOf(record: LogRecord): KafkaMessage {
  return {
    key: record.key,
    value: record.value,
    timestamp: String(record.timestamp),
    attributes: 0,
    offset: String(record.offset),
    headers: headersOf(record.headers),
  }
}
