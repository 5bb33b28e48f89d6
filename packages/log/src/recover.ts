/**
 * What a restart repairs: one segment scanned from its first byte, cut at the first byte that is no sound batch, and everything
 * that can be derived from it built anew: indexes, transaction index, producer state, leader epochs.
 *
 *   sealed, below the recovery point        from the recovery point on
 *   |----------|----------|----------|----------|-----x        x: first bad batch. What follows it, in this segment and in
 *    trusted as they are              scanned one by one        later ones, was never acknowledged as durable, and goes.
 *
 * After a clean stop nothing is scanned; a segment whose index is missing or damaged always is.
 * Long scans run beside the event loop (jobs/recover.ts, reindex.ts, replay.ts), short ones at once; what they found is applied here.
 */
import { type DataFileRange, type Walk, walkDataFileNow } from './jobs/data-file.js'
import { RecoveryWalk } from './jobs/recover.js'
import { ReindexWalk } from './jobs/reindex.js'
import { ReplayWalk } from './jobs/replay.js'
import type { LeaderEpochs } from './leader-epochs.js'
import type { Offload } from './ports.js'
import { numbersOf, takeNumbers } from './producer-numbers.js'
import type { ProducerStates } from './producer-state.js'
import type { Segment } from './segment.js'
import { firstTimestampNow, scanBatches, scanNow } from './segment-scan.js'
import type { StoredBatch } from './stored-batch.js'

export interface Recovered {
  /** Bytes cut off the end of the data file. */
  readonly cutBytes: number
  /** One after the last offset of the segment; its base offset when it is empty. */
  readonly nextOffset: number
  /** Why it was cut, null if it was not. */
  readonly problem: string | null
}

/**
 * Up to here a scan runs on the loop, read and all: it takes 3 ms where every batch is one small record, 0.2 ms where they are larger; its
 * hand-over to a thread costs the loop 0.3 ms, and the start of one 40.
 */
const AT_ONCE_BYTES = 256 << 10

/** What a walk over the range finds: at once, or beside the loop where the range is long. */
async function walked<Found>(
  { files }: Segment,
  range: DataFileRange,
  walk: () => Walk<Found>,
  beside: () => Promise<Found>,
): Promise<Found> {
  if (range.end - range.from > AT_ONCE_BYTES) return beside()
  const file = files.open(range.path, 'read')
  try {
    return walkDataFileNow(file, range, walk())
  } finally {
    file.closeNow()
  }
}

function scanned(segment: Segment) {
  const { 'index.interval.bytes': indexIntervalBytes, 'segment.index.bytes': indexMaxBytes } = segment.config()
  const { baseOffset, sizeInBytes } = segment
  return { path: segment.pathOf('log'), from: 0, end: sizeInBytes, baseOffset, indexIntervalBytes, indexMaxBytes }
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
  const fileBytes = segment.sizeInBytes
  producers.endOffset = segment.baseOffset
  const input = { ...scanned(segment), latestEpoch: epochs.epochAt(segment.baseOffset), producers: numbersOf(producers) }
  const options = progress === undefined ? {} : { progress }
  const found = await walked(
    segment,
    input,
    () => new RecoveryWalk(input),
    () => offload.run('recover', input, options),
  )
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
    const input = scanned(segment)
    const found = await walked(
      segment,
      input,
      () => new ReindexWalk(input),
      () => offload.run('reindex', input),
    )
    // A truncation may have come between: what was found is of a longer segment then.
    if (segment.sizeInBytes === input.end) return segment.takeIndexesNow(found)
  }
}

export interface SegmentEnd {
  /** One after the last offset; the base offset when the segment is empty. */
  readonly nextOffset: number
  /** Where the last whole batch ends: before the file's end if what follows is none. */
  readonly position: number
}

/** The end of a segment, by its index and the batches behind the last entry; sets its times as `readTimes` does. */
export async function readEnd(segment: Segment): Promise<SegmentEnd> {
  const { offsets } = segment.indexes
  const start = offsets.lookup(offsets.lastOffset).position
  const timesFrom = beginTimes(segment)
  let position = start
  let nextOffset = segment.baseOffset
  await eachBatch(segment, start, (batch) => {
    nextOffset = batch.lastOffset + 1
    position = batch.position + batch.sizeInBytes
    if (timesFrom === start) takeTime(segment, batch)
  })
  if (timesFrom !== start) await eachBatch(segment, timesFrom, (batch) => takeTime(segment, batch))
  return { nextOffset, position }
}

/** Sets what only the data file knows: the first batch's time, and times later than the last entry of the time index. */
export function readTimes(segment: Segment): Promise<void> {
  return eachBatch(segment, beginTimes(segment), (batch) => takeTime(segment, batch))
}

/** @returns where in the file there may be later times than those of the time index */
function beginTimes(segment: Segment): number {
  const { offsets, times } = segment.indexes
  const last = times.lastEntry
  segment.maxTimestamp = last.timestamp
  segment.offsetOfMaxTimestamp = last.offset
  const { position } = offsets.lookup(last.offset)
  if (position > 0) segment.firstBatchTimestamp = firstTimestampNow(segment.data.now(), segment.sizeInBytes)
  return position
}

function takeTime(segment: Segment, { position, maxTimestamp, lastOffset }: StoredBatch): void {
  if (position === 0) segment.firstBatchTimestamp = maxTimestamp
  if (maxTimestamp <= segment.maxTimestamp) return
  segment.maxTimestamp = maxTimestamp
  segment.offsetOfMaxTimestamp = lastOffset
}

/** The batches from a position on: read at once where they are few. */
async function eachBatch({ data, sizeInBytes }: Segment, from: number, take: (batch: StoredBatch) => void): Promise<void> {
  if (from >= sizeInBytes) return
  if (sizeInBytes - from <= AT_ONCE_BYTES) {
    for (const batch of scanNow(data.now(), from, sizeInBytes)) take(batch)
  } else {
    await data.pinned(async (file) => {
      for await (const batch of scanBatches(file, from, sizeInBytes)) take(batch)
    })
  }
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
    const found = await walked(
      segment,
      range,
      () => new ReplayWalk(input),
      () => offload.run('replay', input),
    )
    takeNumbers(producers, found)
  }
  producers.endOffset = offset
}
