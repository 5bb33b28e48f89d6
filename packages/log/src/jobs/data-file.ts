/**
 * A walk through a data file, batch by batch: as a job, piece by piece, which says how far it is and stops when nobody waits; or at once,
 * where the range is short.
 */

import type { DiskFile } from '../ports.js'
import { scanNow, scanPieces } from '../segment-scan.js'
import type { StoredBatch } from '../stored-batch.js'
import type { JobContext } from './job.js'

/** The whole batches of a data file in [from, end). */
export interface DataFileRange {
  readonly path: string
  readonly from: number
  readonly end: number
}

/** What is found out on the way. */
export interface Walk<Found> {
  /** One batch; true ends the walk. */
  take(batch: StoredBatch): boolean
  found(): Found
}

/** Progress is told no more often than that. */
const TOLD_EVERY_BYTES = 16 << 20

export async function walkDataFile<Found>(
  { path, from, end }: DataFileRange,
  { disk, isCancelled, progress }: JobContext<number>,
  walk: Walk<Found>,
): Promise<Found> {
  const file = disk.openNow(path, 'read')
  try {
    let told = from
    for await (const piece of scanPieces(file, from, end)) {
      for (const batch of piece) if (walk.take(batch)) return walk.found()
      const last = piece.at(-1)
      const position = last === undefined ? told : last.position + last.sizeInBytes
      if (isCancelled()) break
      if (position - told < TOLD_EVERY_BYTES) continue
      told = position
      progress(position - from)
    }
    return walk.found()
  } finally {
    file.closeNow()
  }
}

export function walkDataFileNow<Found>(file: DiskFile, { from, end }: Omit<DataFileRange, 'path'>, walk: Walk<Found>): Found {
  for (const batch of scanNow(file, from, end)) if (walk.take(batch)) break
  return walk.found()
}
