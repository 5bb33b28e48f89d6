/**
 * Brings a shard's state back from its log: every record is applied in order, transactions included. What is damaged or unknown is
 * skipped with a line in the log, so that one bad record does not take all groups of a partition with it.
 */
import { batchAt, LegacyBatch, RecordBatch, readControlRecord } from '@mq/protocol'
import type { Logger, PartitionPort } from './ports.js'
import type { Shard, ShardTypes, Unreadable } from './shard.js'

export interface Loaded {
  readonly records: number
  readonly skipped: number
  readonly bytes: number
}

/** Others get their turn after this many records: ten milliseconds or so. */
const RECORDS_AT_A_TIME = 2000

/** Lines about skipped records that one load writes; the rest is only counted. */
const MAX_LINES = 20

/** @throws what reading the partition throws */
export async function load<T extends ShardTypes>(
  rules: Shard<T>,
  state: T['State'],
  port: PartitionPort,
  logger: Logger,
  isWanted: () => boolean,
  letOthersRun: () => Promise<void>,
): Promise<Loaded> {
  let pauseAt = RECORDS_AT_A_TIME
  let records = 0
  let skipped = 0
  let bytes = 0
  const skip = (offset: number, reason: string) => {
    skipped++
    if (skipped > MAX_LINES) return
    const more = skipped === MAX_LINES ? ' (further ones are only counted)' : ''
    logger.warn({ topic: port.topic, partition: port.partition, offset, reason }, `a record was skipped while loading${more}`)
  }
  const apply = (offset: number, key: Buffer | null, value: Buffer | null, transactionOf: number | null) => {
    const record = rules.decode(key, value)
    if (isUnreadable(record)) return skip(offset, record.reason)
    rules.apply(state, record as T['LogRecord'], { offset, committed: true, transactionOf })
    records++
  }
  const applyBatch = (batch: RecordBatch | LegacyBatch) => {
    if (!batch.crcIsValid()) return skip(batch.lastOffset, 'the checksum of the batch is wrong')
    // Logs of before 0.11 know neither transactions nor control records.
    const isOld = batch instanceof LegacyBatch
    if (!isOld && batch.isControl) {
      for (const record of batch.records()) {
        const { type } = readControlRecord(record)
        if (type === 'COMMIT' || type === 'ABORT') {
          rules.endTransaction(state, batch.producerId, type === 'COMMIT' ? 'commit' : 'abort')
        }
      }
      return
    }
    const transactionOf = !isOld && batch.isTransactional ? batch.producerId : null
    for (const { offset, key, value } of batch.records()) apply(offset, key, value, transactionOf)
  }
  for await (const chunk of port.read()) {
    if (!isWanted()) break
    bytes += chunk.length
    for (const batch of batchesOf(chunk, skip)) {
      try {
        applyBatch(batch)
      } catch (error) {
        skip(batch.lastOffset, error instanceof Error ? error.message : String(error))
      }
      if (records < pauseAt) continue
      pauseAt = records + RECORDS_AT_A_TIME
      await letOthersRun()
      if (!isWanted()) break
    }
  }
  return { records, skipped, bytes }
}

function* batchesOf(chunk: Buffer, skip: (offset: number, reason: string) => void): Generator<RecordBatch | LegacyBatch> {
  let at = 0
  try {
    for (;;) {
      const extent = batchAt(chunk, at)
      if (extent === null || extent.sizeInBytes > chunk.length - at) return
      yield extent.magic === 2 ? new RecordBatch(chunk, at) : new LegacyBatch(chunk, at)
      at += extent.sizeInBytes
    }
  } catch (error) {
    // Where one batch ends is no longer known, so the rest of these bytes cannot be walked.
    skip(-1, error instanceof Error ? error.message : String(error))
  }
}

function isUnreadable(record: unknown): record is Unreadable {
  return (record as Unreadable).kind === 'unreadable'
}
