/**
 * The files of a partition's folder as plain entries, for people: `mq dump`, `mq log dump`, tests, tools. Nothing here changes a
 * file, and damage is told where it stands instead of ending the reading with an exception.
 */

import { posix } from 'node:path'
import { LegacyBatch, RecordBatch, RecordsError, readControlRecord } from '@mq/protocol'
import { absolutePath } from './absolute-path.js'
import { readEpochs, readOffsets } from './checkpoint.js'
import { nodeDisk } from './disk-node.js'
import { segmentFile } from './folder-names.js'
import { OFFSET_ENTRY_BYTES, OffsetIndex } from './offset-index.js'
import { type Disk, DiskError } from './ports.js'
import { readProducerSnapshot } from './producer-snapshot.js'
import { scanBatches } from './segment-scan.js'
import { remainderProblem } from './stored-batch.js'
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

export interface DumpOptions {
  /** Of a segment: the records of each batch after the batch. */
  readonly records?: boolean
  /** Of a segment: nothing below this offset. */
  readonly from?: number
  /** Of a segment: nothing at or above this offset. */
  readonly to?: number
  /** Called with the bytes that were looked at since the last time. */
  readonly progress?: (bytes: number) => void
  readonly disk?: Disk
}

/**
 * The entries of one file in its order, a megabyte of a segment in memory at a time. An entry `{ problem }` says what cannot be
 * read, and from which byte on.
 * @throws DiskError
 */
export async function* logFileEntries(path: string, options: DumpOptions = {}): AsyncGenerator<DumpEntry, void, undefined> {
  const { disk = nodeDisk, progress } = options
  const name = posix.basename(absolutePath(path))
  if (kindOfLogFile(name) === 'segment') {
    for await (const { batch, entry } of segmentBatches(path, options)) {
      yield entry
      if (batch !== null && options.records === true) yield* recordEntries(batch, options)
    }
    return
  }
  const bytes = disk.readFileNow(path)
  yield* smallFileEntries(name, bytes)
  progress?.(bytes.length)
}

/**
 * The records of a partition's folder, or of one segment, in order of their offsets; a batch that is damaged is a `{ problem }` with its
 * place. A marker that ends a transaction has `control` instead of key and value.
 * @throws DiskError
 */
export async function* logRecordEntries(path: string, options: DumpOptions = {}): AsyncGenerator<DumpEntry, void, undefined> {
  const { disk = nodeDisk, from = 0 } = options
  const segments = segmentsOf(disk, path)
  for (const [at, segment] of segments.entries()) {
    const next = segments[at + 1]
    if (next !== undefined && next.baseOffset <= from) continue
    if (segment.baseOffset >= (options.to ?? Number.POSITIVE_INFINITY)) return
    for await (const { batch, entry } of segmentBatches(segment.path, options)) {
      const file = posix.basename(segment.path)
      if ('problem' in entry) yield { file, ...entry }
      else if (entry.isValid === false) yield { file, position: entry.position, problem: 'the CRC of the batch does not match' }
      if (batch !== null) yield* recordEntries(batch, options)
    }
  }
}

/** The bytes of data files that `logRecordEntries` looks at. @throws DiskError */
export function logRecordBytes(path: string, disk: Disk = nodeDisk): number {
  return segmentsOf(disk, path).reduce((sum, segment) => sum + (disk.statNow(segment.path)?.sizeInBytes ?? 0), 0)
}

function segmentsOf(disk: Disk, path: string): { readonly path: string; readonly baseOffset: number }[] {
  const at = absolutePath(path)
  const stat = disk.statNow(at)
  if (stat === null) throw new DiskError('ENOENT', 'open', path, 'no such file or directory')
  if (stat.kind === 'file') return [{ path: at, baseOffset: segmentFile(posix.basename(at))?.baseOffset ?? 0 }]
  return disk
    .listNow(at)
    .map(({ name }) => ({ path: posix.join(at, name), file: segmentFile(name) }))
    .filter(({ file }) => file?.kind === 'log' && file.suffix === '')
    .map((found) => ({ path: found.path, baseOffset: found.file!.baseOffset }))
    .sort((a, b) => a.baseOffset - b.baseOffset)
}

function* smallFileEntries(fileName: string, bytes: Buffer): Generator<DumpEntry> {
  const baseOffset = Number(/^(\d{20})\./.exec(fileName)?.[1] ?? 0)
  switch (kindOfLogFile(fileName)) {
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
    case 'segment':
    case undefined:
      yield { problem: `"${fileName}" is no file of a log directory by its name` }
  }
}

/** Kafka preallocates index files and fills them up with zeros; only an index's first entry may be all zeros and real. */
function isPadding(bytes: Buffer, slot: number, entryBytes: number): boolean {
  if (slot === 0) return bytes.length > entryBytes && bytes.every((byte) => byte === 0)
  return bytes.subarray(slot * entryBytes, (slot + 1) * entryBytes).every((byte) => byte === 0)
}

type AnyBatch = RecordBatch | LegacyBatch

/** Each batch of a segment with its entry; a last one without a batch for bytes that are none. */
async function* segmentBatches(
  path: string,
  { disk = nodeDisk, from = 0, to = Number.POSITIVE_INFINITY, progress }: DumpOptions,
): AsyncGenerator<{ readonly batch: AnyBatch | null; readonly entry: DumpEntry }, void, undefined> {
  const file = disk.openNow(path, 'read')
  try {
    const end = file.sizeNow()
    let position = 0
    for await (const { bytes, at, magic, sizeInBytes, lastOffset } of scanBatches(file, 0, end)) {
      progress?.(sizeInBytes)
      if (lastOffset >= from) {
        const batch = magic === 2 ? new RecordBatch(bytes, at) : new LegacyBatch(bytes, at)
        if (batch instanceof RecordBatch && batch.baseOffset >= to) return
        yield { batch, entry: { position, sizeInBytes, ...headerOf(batch), isValid: batch.crcIsValid() } }
      }
      position += sizeInBytes
    }
    if (position === end) return
    progress?.(end - position)
    const header = Buffer.alloc(Math.min(64, end - position))
    await file.read(header, position)
    yield { batch: null, entry: { problem: remainderProblem(header, end - position), position } }
  } finally {
    file.closeNow()
  }
}

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

function* recordEntries(batch: AnyBatch, { from = 0, to = Number.POSITIVE_INFINITY }: DumpOptions): Generator<DumpEntry> {
  const isControl = batch instanceof RecordBatch && batch.isControl
  try {
    for (const record of batch.records()) {
      const { offset, exactTimestamp: timestamp, sequence, key, value, headers } = record
      if (offset < from || offset >= to) continue
      if (isControl) yield { offset, timestamp, control: readControlRecord(record).type }
      else yield { offset, timestamp, sequence, key, value, headers }
    }
  } catch (error) {
    if (!(error instanceof RecordsError)) throw error
    yield { problem: error.message, offset: batch.lastOffset }
  }
}
