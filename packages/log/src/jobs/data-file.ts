/** A job's way through a data file: opened, walked piece by piece, closed; it says how far it is, and stops when nobody waits. */
import { scanPieces } from '../segment-scan.js'
import type { StoredBatch } from '../stored-batch.js'
import type { JobContext } from './job.js'

/** The whole batches of a data file in [from, end). */
export interface DataFileRange {
  readonly path: string
  readonly from: number
  readonly end: number
}

/** Progress is told no more often than that. */
const TOLD_EVERY_BYTES = 16 << 20

/** @param take one batch; true ends the walk */
export async function walkDataFile(
  { path, from, end }: DataFileRange,
  { disk, isCancelled, progress }: JobContext<number>,
  take: (batch: StoredBatch) => boolean,
): Promise<void> {
  const file = disk.openNow(path, 'read')
  try {
    let told = from
    for await (const piece of scanPieces(file, from, end)) {
      for (const batch of piece) if (take(batch)) return
      const last = piece.at(-1)
      const position = last === undefined ? told : last.position + last.sizeInBytes
      if (isCancelled()) return
      if (position - told < TOLD_EVERY_BYTES) continue
      told = position
      progress(position - from)
    }
  } finally {
    file.closeNow()
  }
}
