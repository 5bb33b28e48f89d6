/**
 * Puts a cleaned segment in the place of those that it was made from, so that a stop at any moment leaves the old ones or the new one
 * (interrupted.ts finishes what was begun). As Kafka orders the steps, with the names made durable between them:
 *
 *   1  new   its bytes are made durable
 *   2  new   .cleaned → .swap            from here on the new one counts
 *   3  old   → .deleted                  readers find the new one from here on
 *   4  new   .swap → its name, the data file first: once it has it, nothing in its place is removed any more
 *   5  the same for the indexes
 *
 * Only names change, at once and between appends; what waits for the disk does not hold them up. Nothing else changes or removes
 * these segments meanwhile (log-compaction.ts).
 */
import { posix } from 'node:path'
import { segmentFileName } from './folder-names.js'
import type { CleanedGroup } from './jobs/clean.js'
import type { LogState } from './log-state.js'
import type { Segment, SegmentSuffix } from './segment.js'

/** Runs a step between the appends of the log. */
export type Between = (step: () => void) => Promise<void>

/** Resolves when the new segment has its names for good. @throws DiskError */
export async function swapSegments(
  state: LogState,
  { baseOffset, sizeInBytes, replaces }: CleanedGroup,
  between: Between,
): Promise<void> {
  const sync = () => state.context.disk.syncDirectory(state.folder.path)
  const next = state.segmentOf(baseOffset, sizeInBytes)
  next.dataSuffix = '.cleaned'
  next.indexSuffix = '.cleaned'
  const problem = next.loadTxnsNow()
  if (problem !== null) throw new Error(`${next.pathOf('txnindex')}: ${problem}`)
  await next.sync()
  // It has another name when it is used next.
  next.closeNow()

  await between(() => {
    renameDataNow(next, '.swap')
    renameIndexesNow(next, '.swap')
  })
  await sync()
  await between(() => replaceNow(state, next, replaces))
  await sync()
  await between(() => renameDataNow(next, ''))
  await sync()
  await between(() => {
    renameIndexesNow(next, '')
    for (const gone of replaces) if (gone !== baseOffset) state.snapshots.removeNow(gone)
  })
  await sync()
}

function replaceNow(state: LogState, next: Segment, replaces: readonly number[]): void {
  const { segments, tail } = state
  const old = segments.all.filter((segment) => replaces.includes(segment.baseOffset))
  segments.replace(old, next)
  for (const segment of old) state.retireNow(segment)
  // Memory must not give records that the indexes no longer speak of.
  tail.dropBefore(segments.after(next)!.baseOffset)
}

function renameDataNow(segment: Segment, suffix: SegmentSuffix): void {
  const from = segment.pathOf('log')
  segment.dataSuffix = suffix
  segment.files.disk.renameNow(from, segment.pathOf('log'))
}

function renameIndexesNow(segment: Segment, suffix: SegmentSuffix): void {
  const { disk } = segment.files
  const kinds = ['index', 'timeindex', 'txnindex'] as const
  const names = kinds.map((kind) => [segment.pathOf(kind), segmentFileName(segment.baseOffset, kind) + suffix] as const)
  segment.indexSuffix = suffix
  // Few segments have a transaction index.
  for (const [from, name] of names) if (disk.statNow(from) !== null) disk.renameNow(from, posix.join(segment.folder.path, name))
}
