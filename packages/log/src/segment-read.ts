/**
 * Reads of one segment from the disk: whole batches from an offset on, and the first record at or after a time.
 */
import { hold, RECORD_BATCH, RecordBatch, type RecordView, type SlabPool } from '@mq/protocol'
import type { TimestampOffset } from './outcomes.js'
import type { DiskFile, Offload } from './ports.js'
import { ensureIndexes } from './recover.js'
import type { Segment } from './segment.js'
import { scanBatches } from './segment-scan.js'
import { baseOffsetAt, headerIsWhole, lastOffsetAt, type StoredBatch, storedSizeAt } from './stored-batch.js'
import { recordsOfStoredBatch } from './stored-records.js'

/** The batch looked for lies a little after the place that the index names. */
const BEHIND_THE_INDEX = 8 * 1024
/** Reads are at least so large. */
const SMALLEST_READ = 64 * 1024
/** And at most so large, but for a single batch: whoever asks for very much gets it in several pieces. */
const LARGEST_READ = 1024 * 1024 + BEHIND_THE_INDEX

export interface SegmentRead {
  readonly slices: readonly Buffer[]
  readonly sizeInBytes: number
  /** One after the last offset that was read; the offset asked for when nothing was. */
  readonly nextOffset: number
}

export interface SegmentReadOptions {
  readonly maxBytes: number
  readonly minOneMessage: boolean
  /** No batch that reaches this offset. */
  readonly limitOffset: number
}

/** The index pointed where no batch begins, or past the offset: it is wrong, or the data is. */
export class MisplacedRead extends Error {}

/**
 * Null when the segment holds nothing at or after the offset. What is read lies in memory of the pool, held for the reader.
 * @throws MisplacedRead
 */
export function readSegment(
  segment: Segment,
  offset: number,
  options: SegmentReadOptions,
  memory: SlabPool,
): Promise<SegmentRead | null> {
  const start = segment.indexes.offsets.lookup(offset).position
  const end = segment.sizeInBytes
  return segment.data.pinned((file) => new Reading(file, offset, options, start, end, memory).run())
}

class Reading {
  readonly slices: Buffer[] = []
  sizeInBytes = 0
  nextOffset: number
  #found = false
  #stopped = false

  constructor(
    readonly file: DiskFile,
    readonly offset: number,
    readonly options: SegmentReadOptions,
    readonly start: number,
    readonly end: number,
    readonly memory: SlabPool,
  ) {
    this.nextOffset = offset
  }

  async run(): Promise<SegmentRead | null> {
    let position = this.start
    let wanted = Math.max(SMALLEST_READ, Math.min(LARGEST_READ, this.options.maxBytes + BEHIND_THE_INDEX))
    while (position < this.end && !this.#stopped) {
      const { taken, missing } = await this.#piece(position, Math.min(wanted, this.end - position))
      if (taken === 0 && missing === 0) break
      position += taken
      wanted = Math.max(missing, Math.min(LARGEST_READ, this.options.maxBytes - this.sizeInBytes), SMALLEST_READ)
    }
    return this.#found ? { slices: this.slices, sizeInBytes: this.sizeInBytes, nextOffset: this.nextOffset } : null
  }

  async #piece(position: number, sizeInBytes: number): Promise<{ taken: number; missing: number }> {
    const slab = this.memory.take(sizeInBytes)
    try {
      const filled = await this.file.read(slab.bytes.subarray(0, sizeInBytes), position)
      const took = this.#take(slab.bytes.subarray(0, filled), position)
      if (filled < sizeInBytes && took.taken < filled) throw new MisplacedRead('the data file is shorter than it was')
      return took
    } finally {
      slab.release()
    }
  }

  /** Whether no batch can begin here, or the one that says it does reaches beyond the segment. */
  #isDamaged(bytes: Buffer, at: number, position: number, size: number | null): boolean {
    const left = bytes.length - at
    if (size === null) return left >= SMALLEST_READ || position + bytes.length === this.end
    if (size > left) return position + at + size > this.end
    return !headerIsWhole(bytes, at, size)
  }

  /** Takes what belongs to the answer; says how many bytes are done with, and how large a batch is that was cut off. */
  #take(bytes: Buffer, position: number): { taken: number; missing: number } {
    let at = 0
    let first = -1
    let missing = 0
    while (at < bytes.length) {
      const size = storedSizeAt(bytes, at)
      const isCut = size === null || size > bytes.length - at
      if (this.#isDamaged(bytes, at, position, size)) {
        // What is sound before the damage is answered; who asks for the rest hears of it then.
        if (this.sizeInBytes === 0) throw new MisplacedRead(`no ${isCut ? 'whole ' : ''}batch at ${position + at}`)
        this.#stopped = true
        break
      }
      if (isCut) {
        if (size !== null && this.sizeInBytes > 0 && this.sizeInBytes + size > this.options.maxBytes) this.#stopped = true
        missing = size ?? SMALLEST_READ
        break
      }
      const lastOffset = lastOffsetAt(bytes, at)
      if (lastOffset >= this.offset) {
        if (!this.#found && this.start > 0 && position + at === this.start && baseOffsetAt(bytes, at) > this.offset) {
          throw new MisplacedRead('the index points past the offset')
        }
        this.#found = true
        const fits = this.sizeInBytes + size <= this.options.maxBytes || (this.options.minOneMessage && this.sizeInBytes === 0)
        if (lastOffset >= this.options.limitOffset || !fits) {
          this.#stopped = true
          break
        }
        if (first < 0) first = at
        this.sizeInBytes += size
        this.nextOffset = lastOffset + 1
      }
      at += size
    }
    if (first >= 0) {
      const slice = bytes.subarray(first, at)
      hold(slice)
      this.slices.push(slice)
    }
    return { taken: at, missing }
  }
}

/** The first record, at or after `startOffset`, that is not earlier than the timestamp. */
export async function findByTimestamp(segment: Segment, timestamp: number, startOffset: number): Promise<TimestampOffset | null> {
  const { offsets, times } = segment.indexes
  const from = Math.max(times.lookup(timestamp).offset, startOffset)
  return findRecord(
    segment,
    offsets.lookup(from).position,
    (batch) => batch.maxTimestamp >= timestamp,
    (record) => record.timestamp >= timestamp && record.offset >= startOffset,
  )
}

/** The first record that has the segment's largest timestamp. */
export async function findMaxTimestamp(segment: Segment): Promise<TimestampOffset | null> {
  const { maxTimestamp, offsetOfMaxTimestamp } = segment
  if (maxTimestamp < 0) return null
  const position = segment.indexes.offsets.lookup(offsetOfMaxTimestamp).position
  return findRecord(
    segment,
    position,
    (batch) => batch.maxTimestamp === maxTimestamp,
    (record) => record.timestamp === maxTimestamp,
  )
}

/** The largest timestamp of the first batch; null when there is none. */
export async function firstBatchTimestampOf(segment: Segment): Promise<number | null> {
  if (segment.firstBatchTimestamp === undefined) {
    await segment.data.pinned(async (file) => {
      for await (const { maxTimestamp } of scanBatches(file, 0, segment.sizeInBytes)) {
        segment.firstBatchTimestamp = maxTimestamp
        break
      }
    })
  }
  return segment.firstBatchTimestamp ?? null
}

/** The highest producer id of the batches from an offset on, -1 without any. */
export async function highestProducerIdIn(segment: Segment, fromOffset: number, offload: Offload): Promise<number> {
  await ensureIndexes(segment, offload)
  const start = segment.indexes.offsets.lookup(fromOffset).position
  let highest = -1
  await segment.data.pinned(async (file) => {
    for await (const { magic, bytes, at } of scanBatches(file, start, segment.sizeInBytes)) {
      if (magic === 2) highest = Math.max(highest, RECORD_BATCH.producerId.get(bytes, at))
    }
  })
  return highest
}

function findRecord(
  segment: Segment,
  position: number,
  inBatch: (batch: StoredBatch) => boolean,
  isIt: (record: RecordView) => boolean,
): Promise<TimestampOffset | null> {
  return segment.data.pinned(async (file) => {
    for await (const batch of scanBatches(file, position, segment.sizeInBytes)) {
      if (!inBatch(batch)) continue
      for (const record of recordsOfStoredBatch(batch)) {
        if (!isIt(record)) continue
        const leaderEpoch = batch.magic === 2 ? new RecordBatch(batch.bytes, batch.at).partitionLeaderEpoch : -1
        return { offset: record.offset, timestamp: record.exactTimestamp, leaderEpoch }
      }
    }
    return null
  })
}
