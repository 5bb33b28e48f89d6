/**
 * What a restart repairs: one segment scanned from its first byte, cut at the first byte that is no sound batch, and everything
 * that can be derived from it built anew: indexes, transaction index, producer state, leader epochs.
 *
 *   sealed, below the recovery point        from the recovery point on
 *   |----------|----------|----------|----------|-----x        x: first bad batch. What follows it, in this segment and in
 *    trusted as they are              scanned one by one        later ones, was never acknowledged as durable, and goes.
 *
 * After a clean stop nothing is scanned; a segment whose index is missing or damaged always is.
 */
import { RecordBatch } from '@mq/protocol'
import type { LeaderEpochs } from './leader-epochs.js'
import { producerBatch } from './producer-batch.js'
import type { ProducerStates } from './producer-state.js'
import type { Segment } from './segment.js'
import { scanBatches } from './segment-scan.js'
import { type StoredBatch, storedBatchProblem } from './stored-batch.js'

export interface Recovered {
  /** Bytes cut off the end of the data file. */
  readonly cutBytes: number
  /** One after the last offset of the segment; its base offset when it is empty. */
  readonly nextOffset: number
  /** Why it was cut, null if it was not. */
  readonly problem: string | null
}

/** Scans, cuts and rebuilds one segment. `producers` stands at the segment's start and goes along to its end. */
export async function recoverSegment(segment: Segment, producers: ProducerStates, epochs: LeaderEpochs): Promise<Recovered> {
  const fileBytes = segment.data.now().sizeNow()
  const builder = new IndexBuilder(segment)
  segment.resetIndexesNow()
  segment.txns.clear()
  producers.endOffset = segment.baseOffset
  let problem: string | null = null
  await segment.data.pinned(async (file) => {
    for await (const batch of scanBatches(file, 0, fileBytes)) {
      problem = storedBatchProblem(batch) ?? builder.misplaced(batch)
      if (problem !== null) return
      builder.add(batch)
      if (batch.magic === 2) {
        const view = new RecordBatch(batch.bytes, batch.at)
        if (view.partitionLeaderEpoch > epochs.latest) epochs.assign(view.partitionLeaderEpoch, batch.baseOffset)
        const ofProducer = producerBatch(view)
        const aborted = ofProducer === null ? null : producers.apply(ofProducer)
        if (aborted !== null) segment.txns.append(aborted)
      }
      producers.endOffset = batch.lastOffset + 1
    }
  })
  const cutBytes = fileBytes - builder.validBytes
  if (cutBytes > 0) segment.data.now().truncateNow(builder.validBytes)
  segment.sizeInBytes = builder.validBytes
  builder.finish()
  return { cutBytes, nextOffset: builder.nextOffset, problem: cutBytes > 0 ? (problem ?? 'the last batch is not whole') : null }
}

/** Builds offset and time index of a sealed segment again; its data is not touched. */
export async function rebuildIndexes(segment: Segment): Promise<void> {
  const builder = new IndexBuilder(segment)
  segment.resetIndexesNow()
  await segment.data.pinned(async (file) => {
    for await (const batch of scanBatches(file, 0, segment.sizeInBytes)) {
      if (builder.misplaced(batch) !== null) return
      builder.add(batch)
    }
  })
  builder.finish()
}

export interface SegmentEnd {
  /** One after the last offset; the base offset when the segment is empty. */
  readonly nextOffset: number
  /** Where the last whole batch ends: before the file's end if what follows is none. */
  readonly position: number
}

/** The end of a segment, by its index and the batches behind the last entry. */
export async function readEnd(segment: Segment): Promise<SegmentEnd> {
  const { offsets } = segment.indexes
  let position = offsets.lookup(offsets.lastOffset).position
  let nextOffset = segment.baseOffset
  await segment.data.pinned(async (file) => {
    for await (const batch of scanBatches(file, position, segment.sizeInBytes)) {
      nextOffset = batch.lastOffset + 1
      position = batch.position + batch.sizeInBytes
    }
  })
  return { nextOffset, position }
}

/** Sets what only the data file knows: the first batch's time, and times later than the last entry of the time index. */
export async function readTimes(segment: Segment): Promise<void> {
  const { offsets, times } = segment.indexes
  const last = times.lastEntry
  segment.maxTimestamp = last.timestamp
  segment.offsetOfMaxTimestamp = last.offset
  await segment.data.pinned(async (file) => {
    for await (const batch of scanBatches(file, 0, segment.sizeInBytes)) {
      segment.firstBatchTimestamp = batch.maxTimestamp
      break
    }
    for await (const batch of scanBatches(file, offsets.lookup(last.offset).position, segment.sizeInBytes)) {
      if (batch.maxTimestamp <= segment.maxTimestamp) continue
      segment.maxTimestamp = batch.maxTimestamp
      segment.offsetOfMaxTimestamp = batch.lastOffset
    }
  })
}

/** Puts index entries where a scan finds batches: one after more than `index.interval.bytes` since the last. */
class IndexBuilder {
  validBytes = 0
  nextOffset: number
  #lastEntryAt = 0

  constructor(readonly segment: Segment) {
    this.nextOffset = segment.baseOffset
  }

  /** A sound batch that cannot stand here: offsets only rise and fit the segment. */
  misplaced(batch: StoredBatch): string | null {
    const first = batch.magic === 2 ? batch.baseOffset : batch.lastOffset
    if (first < this.nextOffset) return `offset ${first} where ${this.nextOffset} or more must come`
    return this.segment.indexes.offsets.canHold(batch.lastOffset) ? null : `offset ${batch.lastOffset} is too far from the base`
  }

  add(batch: StoredBatch): void {
    const { segment } = this
    const { offsets, times } = segment.indexes
    if (this.validBytes === 0) segment.firstBatchTimestamp = batch.maxTimestamp
    if (batch.maxTimestamp > segment.maxTimestamp) {
      segment.maxTimestamp = batch.maxTimestamp
      segment.offsetOfMaxTimestamp = batch.lastOffset
    }
    if (this.validBytes - this.#lastEntryAt > segment.config()['index.interval.bytes']) {
      offsets.append(batch.lastOffset, this.validBytes)
      times.append(segment.maxTimestamp, segment.offsetOfMaxTimestamp)
      this.#lastEntryAt = this.validBytes
    }
    this.validBytes += batch.sizeInBytes
    this.nextOffset = batch.lastOffset + 1
  }

  finish(): void {
    this.segment.indexes.times.append(this.segment.maxTimestamp, this.segment.offsetOfMaxTimestamp)
    this.segment.writeIndexesNow()
  }
}

/** Loads the indexes of a segment, building them again where their files are missing or damaged. @returns what was wrong, or null */
export async function ensureIndexes(segment: Segment): Promise<string | null> {
  const loaded = segment.loadIndexesNow()
  if (!('problem' in loaded)) return null
  await rebuildIndexes(segment)
  return loaded.problem
}

/** Brings `producers` from where they stand to `offset` by reading the segments between. */
export async function replayProducers(segments: readonly Segment[], producers: ProducerStates, offset: number): Promise<void> {
  for (const [at, segment] of segments.entries()) {
    const end = segments[at + 1]?.baseOffset ?? Number.POSITIVE_INFINITY
    if (end <= producers.endOffset) continue
    if (segment.baseOffset >= offset) break
    await ensureIndexes(segment)
    const start = segment.indexes.offsets.lookup(producers.endOffset).position
    await segment.data.pinned(async (file) => {
      for await (const batch of scanBatches(file, start, segment.sizeInBytes)) {
        if (batch.lastOffset >= offset) return
        if (batch.lastOffset < producers.endOffset || batch.magic !== 2) continue
        const ofProducer = producerBatch(new RecordBatch(batch.bytes, batch.at))
        if (ofProducer !== null) producers.apply(ofProducer)
        producers.endOffset = batch.lastOffset + 1
      }
    })
  }
  producers.endOffset = offset
}
