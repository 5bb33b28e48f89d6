/** Between the formats: what an old client sends becomes a batch of magic 2, what an old client fetches becomes messages. */
import { type CodecName, codecName, MAX_DECOMPRESSED_BYTES } from '../compression/index.js'
import { iterateAnyBatches } from './any.js'
import { type ReadLimits, RecordBatch } from './batch.js'
import { BatchBuilder, type BatchOptions } from './builder.js'
import { invalid, RecordsError } from './errors.js'
import { readMessageSet } from './legacy.js'
import { MessageSetBuilder } from './legacy-builder.js'
import type { LegacyMagic } from './legacy-layout.js'

export type UpConvertOptions = Pick<
  BatchOptions,
  'codec' | 'level' | 'baseOffset' | 'leaderEpoch' | 'timestampType' | 'logAppendTime'
> &
  ReadLimits

/**
 * All records of a message set as one batch of magic 2, with new offsets one after the other from `baseOffset`.
 * The limit holds for all wrappers together. CRCs are checked: of wrappers and of what is in them.
 * @throws RecordsError CORRUPT_MESSAGE, INVALID_RECORD (also for a set without records), UNSUPPORTED_COMPRESSION_TYPE
 */
export function upConvert(bytes: Buffer, options: UpConvertOptions = {}): Buffer {
  const { maxOutputBytes = MAX_DECOMPRESSED_BYTES, ...batch } = options
  const builder = new BatchBuilder(batch)
  let left = maxOutputBytes
  for (const message of readMessageSet(bytes)) {
    if (!message.crcIsValid()) throw new RecordsError('CORRUPT_MESSAGE', 'message with a wrong CRC', message.at)
    for (const record of message.records({ maxOutputBytes: left })) {
      if (message.codec !== 0) left -= record.sizeInBytes
      builder.tryAppend({ timestamp: record.exactTimestamp, key: record.key, value: record.value })
    }
  }
  if (builder.recordCount === 0) throw invalid('message set without records')
  return builder.build()
}

/**
 * Batches of any magic as messages of `toMagic` or lower. Control batches vanish, headers are dropped, codecs stay.
 * Batches that are low enough already are passed on as they are.
 * @param startOffset what was asked for: earlier records of uncompressed batches are left out
 * @throws RecordsError UNSUPPORTED_COMPRESSION_TYPE for zstd, which old clients cannot read (KIP-110); INVALID_RECORD
 */
export function downConvert(batches: Buffer, toMagic: LegacyMagic, startOffset: number, limits: ReadLimits = {}): Buffer {
  const parts: Buffer[] = []
  for (const batch of iterateAnyBatches(batches)) {
    if (batch instanceof RecordBatch && batch.isControl) continue
    const codec = codecName(batch.codec)
    if (codec === undefined || codec === 'zstd') {
      throw new RecordsError(
        'UNSUPPORTED_COMPRESSION_TYPE',
        `${codec ?? `codec ${batch.codec}`} cannot be converted down`,
        batch.at,
      )
    }
    if (batch.magic <= toMagic) {
      parts.push(batch.slice())
      continue
    }
    const builder = new MessageSetBuilder(oldOptions(batch.timestampType, batch.exactMaxTimestamp, toMagic, codec))
    let lastOffset = -Infinity
    for (const record of batch.records(limits)) {
      if (record.offset <= lastOffset) throw invalid(`offset ${record.offset} after ${lastOffset}`, batch.at)
      lastOffset = record.offset
      if (codec === 'none' && record.offset < startOffset) continue
      builder.append({ offset: record.offset, timestamp: record.exactTimestamp, key: record.key, value: record.value })
    }
    parts.push(builder.build())
  }
  return Buffer.concat(parts)
}

function oldOptions(timestampType: string, maxTimestamp: number | bigint, magic: LegacyMagic, codec: Exclude<CodecName, 'zstd'>) {
  if (timestampType !== 'LogAppendTime') return { magic, codec }
  return { magic, codec, timestampType: 'LogAppendTime', logAppendTime: maxTimestamp } as const
}
