/**
 * Which part of a log may be cleaned, and which log is the dirtiest. Pure.
 *
 *   log start      first dirty            first uncleanable      last stable, high watermark       log end
 *      |--- clean ----|------- cleanable -------|--- min lag ---|----- not yet decided --|- active ---|
 *
 * Whole segments only: the first uncleanable offset begins one. Never past the last stable offset (so never past the high watermark),
 * the active segment, or a segment with a record younger than `min.compaction.lag.ms`.
 */

export interface CompactionSegment {
  readonly baseOffset: number
  readonly sizeInBytes: number
  /** Of its records, or when its file was written last if none has a time. */
  readonly largestTimestamp: number
  /** Largest timestamp of its first batch; null when it has none. */
  readonly firstBatchTimestamp: number | null
}

export interface CompactionState {
  /** In the order of their offsets; the last is the active one. */
  readonly segments: readonly CompactionSegment[]
  readonly logStartOffset: number
  readonly logEndOffset: number
  readonly lastStableOffset: number
  /** Up to where the last cleaning came, as the checkpoint has it; null without one. */
  readonly cleanedTo: number | null
  /** By the wall clock. */
  readonly now: number
  readonly config: {
    readonly 'min.compaction.lag.ms': number
    readonly 'max.compaction.lag.ms': number
    readonly 'min.cleanable.dirty.ratio': number
  }
}

export interface Cleanable {
  readonly firstDirtyOffset: number
  /** Base offset of the first segment that stays as it is. */
  readonly firstUncleanableOffset: number
  readonly cleanableBytes: number
  /** Share of cleanable bytes in what is clean or cleanable. */
  readonly dirtyRatio: number
  /** Whether a cleaning is due: by the dirty ratio, or because a record waited longer than `max.compaction.lag.ms`. */
  readonly isDue: boolean
  /** The checkpoint named an offset that the log does not have: the first dirty offset takes its place. */
  readonly checkpointIsWrong: boolean
}

/** Null for a log without data to look at. */
export function cleanable(state: CompactionState): Cleanable | null {
  const { firstDirtyOffset, checkpointIsWrong } = firstDirty(state)
  const limit = Math.max(firstDirtyOffset, uncleanableFrom(state, firstDirtyOffset))
  const { segments, config } = state
  const active = segments.at(-1)!
  const firstUncleanableOffset = (dirtySegments(segments, limit)[0] ?? active).baseOffset
  const sizeOf = (some: readonly CompactionSegment[]) => some.reduce((sum, { sizeInBytes }) => sum + sizeInBytes, 0)
  const from = Math.min(firstDirtyOffset, firstUncleanableOffset)
  const cleanableBytes = sizeOf(between(segments, from, firstUncleanableOffset))
  const totalBytes = sizeOf(segments.filter(({ baseOffset }) => baseOffset < firstDirtyOffset)) + cleanableBytes
  if (totalBytes === 0) return null
  const dirtyRatio = cleanableBytes / totalBytes
  const waitsTooLong = cleanableBytes > 0 && waitedTooLong(state, firstDirtyOffset)
  const isDue = waitsTooLong || dirtyRatio > config['min.cleanable.dirty.ratio']
  return { firstDirtyOffset, firstUncleanableOffset, cleanableBytes, dirtyRatio, isDue, checkpointIsWrong }
}

function firstDirty({ cleanedTo, logStartOffset, logEndOffset }: CompactionState) {
  if (cleanedTo === null) return { firstDirtyOffset: logStartOffset, checkpointIsWrong: false }
  const checkpointIsWrong = cleanedTo < logStartOffset || cleanedTo > logEndOffset
  return { firstDirtyOffset: checkpointIsWrong ? logStartOffset : cleanedTo, checkpointIsWrong }
}

function uncleanableFrom({ segments, lastStableOffset, now, config }: CompactionState, firstDirtyOffset: number): number {
  const minLagMs = config['min.compaction.lag.ms']
  const isYoung = ({ largestTimestamp }: CompactionSegment) => largestTimestamp > now - minLagMs
  const young = minLagMs > 0 ? dirtySegments(segments, firstDirtyOffset).find(isYoung) : undefined
  return Math.min(lastStableOffset, segments.at(-1)!.baseOffset, young?.baseOffset ?? Number.POSITIVE_INFINITY)
}

function waitedTooLong({ segments, now, config }: CompactionState, firstDirtyOffset: number): boolean {
  const since = now - config['max.compaction.lag.ms']
  return dirtySegments(segments, firstDirtyOffset).some(
    ({ firstBatchTimestamp }) => firstBatchTimestamp !== null && firstBatchTimestamp > 0 && firstBatchTimestamp < since,
  )
}

/** Those before the active one, from the one that holds the offset on. */
export function dirtySegments<S extends { readonly baseOffset: number }>(segments: readonly S[], from: number): readonly S[] {
  return between(segments, from, segments.at(-1)!.baseOffset)
}

/** From the one that holds `from` to the last that begins before `to`. */
function between<S extends { readonly baseOffset: number }>(segments: readonly S[], from: number, to: number): readonly S[] {
  if (from >= to) return []
  const floor = segments.findLastIndex(({ baseOffset }) => baseOffset <= from)
  return segments.slice(Math.max(0, floor)).filter(({ baseOffset }) => baseOffset < to)
}
