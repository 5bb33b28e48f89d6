/**
 * The files of a partition's folder as plain entries, for people: `mq dump`, tests, tools. Nothing here changes a file,
 * and damage is told where it stands instead of ending the reading with an exception.
 */

import { iterateAnyBatches, RecordBatch, RecordsError } from '@mq/protocol'
import { readEpochs, readOffsets } from './checkpoint.js'
import { OFFSET_ENTRY_BYTES, OffsetIndex } from './offset-index.js'
import { readProducerSnapshot } from './producer-snapshot.js'
import { TIME_ENTRY_BYTES, TimeIndex } from './time-index.js'
import { readTxnIndex } from './txn-index.js'

export type DumpEntry = Readonly<Record<string, unknown>>

/** What a file is, by its name as Kafka gives it. */
export type LogFileKind =
  | 'segment'
  | 'offset index'
  | 'time index'
  | 'transaction index'
  | 'producer snapshot'
  | 'leader epochs'
  | 'offsets checkpoint'
  | 'properties'

const KINDS: readonly [RegExp, LogFileKind][] = [
  [/\.log(\.deleted|\.cleaned|\.swap)?$/, 'segment'],
  [/\.index(\.deleted|\.cleaned|\.swap)?$/, 'offset index'],
  [/\.timeindex(\.deleted|\.cleaned|\.swap)?$/, 'time index'],
  [/\.txnindex(\.deleted|\.cleaned|\.swap)?$/, 'transaction index'],
  [/\.snapshot(\.deleted)?$/, 'producer snapshot'],
  [/^leader-epoch-checkpoint$/, 'leader epochs'],
  [/-offset-checkpoint$/, 'offsets checkpoint'],
  [/^(meta\.properties|partition\.metadata)$/, 'properties'],
]

/** Undefined for a name that is none of a log directory's. */
export function kindOfLogFile(fileName: string): LogFileKind | undefined {
  return KINDS.find(([pattern]) => pattern.test(fileName))?.[1]
}

/** Entries in the file's order. A last entry `{ problem }` says what cannot be read, and from which byte on. */
export function* logFileEntries(
  fileName: string,
  bytes: Buffer,
  { records = false }: { records?: boolean } = {},
): Generator<DumpEntry> {
  const baseOffset = Number(/^(\d{20})\./.exec(fileName)?.[1] ?? 0)
  switch (kindOfLogFile(fileName)) {
    case 'segment':
      yield* segmentEntries(bytes, records)
      return
    case 'offset index': {
      const index = new OffsetIndex(baseOffset, bytes.length, bytes)
      for (let slot = 0; slot < index.entryCount && !isPadding(bytes, slot, OFFSET_ENTRY_BYTES); slot++)
        yield { offset: index.offsetAt(slot), position: index.positionAt(slot) }
      return
    }
    case 'time index': {
      const index = new TimeIndex(baseOffset, bytes.length, bytes)
      for (let slot = 0; slot < index.entryCount && !isPadding(bytes, slot, TIME_ENTRY_BYTES); slot++)
        yield { ...index.entryAt(slot) }
      return
    }
    case 'transaction index': {
      const index = readTxnIndex(bytes, baseOffset)
      if ('problem' in index) yield { ...index }
      else for (const entry of index.entries) yield { ...entry }
      return
    }
    case 'producer snapshot': {
      const entries = readProducerSnapshot(bytes)
      if ('problem' in entries) yield { ...entries }
      else for (const entry of entries) yield { ...entry }
      return
    }
    case 'leader epochs': {
      const entries = readEpochs(bytes)
      if ('problem' in entries) yield { ...entries }
      else for (const entry of entries) yield { ...entry }
      return
    }
    case 'offsets checkpoint': {
      const offsets = readOffsets(bytes)
      if (offsets instanceof Map) for (const [partition, offset] of offsets) yield { partition, offset }
      else yield { ...offsets }
      return
    }
    case 'properties':
      for (const line of bytes.toString('utf8').split('\n')) {
        const split = line.search(/[:=]/)
        if (split > 0 && !line.startsWith('#')) yield { name: line.slice(0, split).trim(), value: line.slice(split + 1).trim() }
      }
      return
    case undefined:
      yield { problem: `"${fileName}" is no file of a log directory by its name` }
  }
}

/** Kafka preallocates index files and fills them up with zeros; only an index's first entry may be all zeros and real. */
function isPadding(bytes: Buffer, slot: number, entryBytes: number): boolean {
  if (slot === 0) return bytes.length > entryBytes && bytes.every((byte) => byte === 0)
  return bytes.subarray(slot * entryBytes, (slot + 1) * entryBytes).every((byte) => byte === 0)
}

function* segmentEntries(bytes: Buffer, records: boolean): Generator<DumpEntry> {
  let position = 0
  try {
    for (const batch of iterateAnyBatches(bytes)) {
      yield { position, sizeInBytes: batch.sizeInBytes, ...headerOf(batch), isValid: batch.crcIsValid() }
      if (records) yield* recordEntries(batch)
      position += batch.sizeInBytes
    }
  } catch (error) {
    if (!(error instanceof RecordsError)) throw error
    yield { problem: error.message, position }
    return
  }
  if (position < bytes.length) yield { problem: `${bytes.length - position} bytes that hold no whole batch`, position }
}

type AnyBatch = ReturnType<typeof iterateAnyBatches> extends Generator<infer Batch> ? Batch : never

function headerOf(batch: AnyBatch): DumpEntry {
  const { magic, crc, codec, lastOffset, maxTimestamp, timestampType } = batch
  if (!(batch instanceof RecordBatch)) return { lastOffset, magic, crc, codec, maxTimestamp, timestampType }
  return {
    baseOffset: batch.baseOffset,
    lastOffset,
    recordCount: batch.recordCount,
    magic,
    crc,
    codec,
    partitionLeaderEpoch: batch.partitionLeaderEpoch,
    producerId: batch.producerId,
    producerEpoch: batch.producerEpoch,
    baseSequence: batch.baseSequence,
    isTransactional: batch.isTransactional,
    isControl: batch.isControl,
    timestampType,
    maxTimestamp,
    deleteHorizonMs: batch.deleteHorizonMs,
  }
}

function* recordEntries(batch: AnyBatch): Generator<DumpEntry> {
  try {
    for (const { offset, timestamp, sequence, key, value, headers } of batch.records())
      yield { offset, timestamp, sequence, key, value, headers }
  } catch (error) {
    if (!(error instanceof RecordsError)) throw error
    yield { problem: error.message }
  }
}
