/**
 * Batches of which records were taken away, as the cleaner stores them (KIP-58, KIP-98, KIP-534): what is left keeps its offsets, and the
 * header still says where the batch ends and which sequence numbers it has, so that readers and producers go on as if nothing were gone.
 */
import { codecName } from '../compression/index.js'
import { crc32c } from '../crc.js'
import type { RecordBatch } from './batch.js'
import { BatchBuilder } from './builder.js'
import { CONTROL_FLAG, LOG_APPEND_TIME_FLAG, LOG_OVERHEAD, NO_TIMESTAMP, RECORD_BATCH, TRANSACTIONAL_FLAG } from './layout.js'
import type { LegacyBatch } from './legacy.js'
import { MessageSetBuilder } from './legacy-builder.js'
import type { LegacyMagic } from './legacy-layout.js'
import type { RecordView } from './record.js'

/**
 * The batch with these of its records only; same codec, offsets, producer and leader epoch.
 * @param records at least one, in the order of their offsets
 * @param deleteHorizonMs when its tombstones or its marker may go; null if that is not decided
 */
export function rewritten(batch: RecordBatch, records: Iterable<RecordView>, deleteHorizonMs: number | null): Buffer {
  const { timestampType } = batch
  const builder = new BatchBuilder({
    codec: codecName(batch.codec)!,
    timestampType,
    ...(timestampType === 'LogAppendTime' ? { logAppendTime: batch.maxTimestamp } : {}),
    producerId: batch.producerId,
    producerEpoch: batch.producerEpoch,
    baseSequence: batch.baseSequence,
    transactional: batch.isTransactional,
    control: batch.isControl,
    ...(deleteHorizonMs === null ? {} : { deleteHorizonMs }),
    baseOffset: batch.baseOffset,
    lastOffset: batch.lastOffset,
    leaderEpoch: batch.partitionLeaderEpoch,
    expectedBytes: batch.sizeInBytes,
  })
  for (const { offset, exactTimestamp: timestamp, key, value, headers } of records) {
    builder.tryAppend({ offset, timestamp, key, value, headers })
  }
  return builder.build()
}

const KEPT_FLAGS = LOG_APPEND_TIME_FLAG | TRANSACTIONAL_FLAG | CONTROL_FLAG

/** The header alone: it stands for the producer's last sequence number when all records are gone. */
export function emptied(batch: RecordBatch): Buffer {
  const bytes = Buffer.from(batch.bytes.subarray(batch.at, batch.at + RECORD_BATCH.size))
  RECORD_BATCH.batchLength.set(bytes, 0, RECORD_BATCH.size - LOG_OVERHEAD)
  RECORD_BATCH.attributes.set(bytes, 0, batch.attributes & KEPT_FLAGS)
  RECORD_BATCH.baseTimestamp.set(bytes, 0, NO_TIMESTAMP)
  RECORD_BATCH.recordCount.set(bytes, 0, 0)
  RECORD_BATCH.crc.set(bytes, 0, crc32c(bytes, RECORD_BATCH.attributes.at))
  return bytes
}

/** The same for a message set of magic 0 or 1: the wrapper with these of its messages only. */
export function rewrittenMessages(message: LegacyBatch, records: Iterable<RecordView>): Buffer {
  const codec = codecName(message.codec)!
  const builder = new MessageSetBuilder({
    magic: message.magic as LegacyMagic,
    codec: codec === 'zstd' ? 'none' : codec,
    ...(message.timestampType === 'LogAppendTime'
      ? { timestampType: 'LogAppendTime', logAppendTime: message.exactMaxTimestamp }
      : {}),
  })
  for (const { offset, exactTimestamp: timestamp, key, value } of records) builder.append({ offset, timestamp, key, value })
  return builder.build()
}
