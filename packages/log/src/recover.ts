/**
 * What a restart repairs: one segment scanned from its first byte, cut at the first byte that is no sound batch, and everything
 * that can be derived from it built anew: indexes, transaction index, producer state, leader epochs.
 *
 *   sealed, below the recovery point        from the recovery point on
 *   |----------|----------|----------|----------|-----x        x: first bad batch. What follows it, in this segment and in
 *    trusted as they are              scanned one by one        later ones, was never acknowledged as durable, and goes.
 *
 * After a clean stop nothing is scanned; a segment whose index is missing or damaged always is.
 * Long scans run beside the event loop (jobs/recover.ts, reindex.ts, replay.ts); what they found is applied here, at once.
 */
import type { LeaderEpochs } from './leader-epochs.js'
import { InlineOffload } from './offload.js'
import type { Offload } from './ports.js'
import { numbersOf, takeNumbers } from './producer-numbers.js'
import type { ProducerStates } from './producer-state.js'
import type { Segment } from './segment.js'
import { scanBatches } from './segment-scan.js'

export interface Recovered {
  /** Bytes cut off the end of the data file. */
  readonly cutBytes: number
  /** One after the last offset of the segment; its base offset when it is empty. */
  readonly nextOffset: number
  /** Why it was cut, null if it was not. */
  readonly problem: string | null
}

/**
 * Up to here a scan runs on the loop: it takes 3 ms where every batch is one small record, 0.2 ms where they are larger; its hand-over
 * to a thread costs the loop 0.3 ms, and the start of one 40.
 */
const HANDED_OVER_BYTES = 256 << 10

const where = (offload: Offload, { files }: Segment, bytes: number): Offload =>
  bytes > HANDED_OVER_BYTES ? offload : new InlineOffload(files.disk)

function scanned(segment: Segment) {
  const { 'index.interval.bytes': indexIntervalBytes, 'segment.index.bytes': indexMaxBytes } = segment.config()
  return { path: segment.pathOf('log'), baseOffset: segment.baseOffset, indexIntervalBytes, indexMaxBytes }
}

/**
 * Scans, cuts and rebuilds one segment. `producers` stands at the segment's start and goes along to its end.
 * @param progress called now and then with the bytes that were scanned
 */
export async function recoverSegment(
  segment: Segment,
  producers: ProducerStates,
  epochs: LeaderEpochs,
  { offload, progress }: { offload: Offload; progress?: (done: number) => void },
): Promise<Recovered> {
  const fileBytes = segment.data.now().sizeNow()
  producers.endOffset = segment.baseOffset
  const input = {
    ...scanned(segment),
    fileBytes,
    latestEpoch: epochs.epochAt(segment.baseOffset),
    producers: numbersOf(producers),
  }
  const found = await where(offload, segment, fileBytes).run('recover', input, progress === undefined ? {} : { progress })
  const cutBytes = fileBytes - found.validBytes
  if (cutBytes > 0) segment.data.now().truncateNow(found.validBytes)
  segment.sizeInBytes = found.validBytes
  segment.txns.clear()
  for (const entry of found.aborted) segment.txns.append(entry)
  segment.takeIndexesNow(found)
  takeNumbers(producers, found.producers)
  for (const entry of found.epochs) epochs.found(entry)
  const problem = cutBytes > 0 ? (found.problem ?? 'the last batch is not whole') : null
  return { cutBytes, nextOffset: found.nextOffset, problem }
}

/** Under way: many may ask for the same segment at once. */
const rebuilding = new WeakMap<Segment, Promise<void>>()

/** Builds offset and time index of a sealed segment again; its data is not touched. */
export function rebuildIndexes(segment: Segment, offload: Offload): Promise<void> {
  let underWay = rebuilding.get(segment)
  if (underWay === undefined) {
    underWay = reindex(segment, offload).finally(() => rebuilding.delete(segment))
    rebuilding.set(segment, underWay)
  }
  return underWay
}

async function reindex(segment: Segment, offload: Offload): Promise<void> {
  for (;;) {
    const { sizeInBytes } = segment
    const found = await where(offload, segment, sizeInBytes).run('reindex', { ...scanned(segment), sizeInBytes })
    // A truncation may have come between: what was found is of a longer segment then.
    if (segment.sizeInBytes === sizeInBytes) return segment.takeIndexesNow(found)
  }
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

/** Loads the indexes of a segment, building them again where their files are missing or damaged. @returns what was wrong, or null */
export async function ensureIndexes(segment: Segment, offload: Offload): Promise<string | null> {
  const loaded = segment.loadIndexesNow()
  if (!('problem' in loaded)) return null
  await rebuildIndexes(segment, offload)
  return loaded.problem
}

/** Brings `producers` from where they stand to `offset` by reading the segments between. */
export async function replayProducers(
  segments: readonly Segment[],
  producers: ProducerStates,
  offset: number,
  offload: Offload,
): Promise<void> {
  for (const [at, segment] of segments.entries()) {
    const end = segments[at + 1]?.baseOffset ?? Number.POSITIVE_INFINITY
    if (end <= producers.endOffset) continue
    if (segment.baseOffset >= offset || producers.endOffset >= offset) break
    await ensureIndexes(segment, offload)
    const from = segment.indexes.offsets.lookup(producers.endOffset).position
    const range = { path: segment.pathOf('log'), from, end: segment.sizeInBytes }
    const input = { ...range, producers: numbersOf(producers), upTo: offset }
    takeNumbers(producers, await where(offload, segment, range.end - from).run('replay', input))
  }
  producers.endOffset = offset
}
