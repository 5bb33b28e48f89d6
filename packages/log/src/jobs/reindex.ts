/** Builds offset and time index of a segment from its data file, up to the first batch that cannot stand there. */
import { IndexBuilder, type RebuiltIndexes, type ScannedSegment } from '../segment-rebuild.js'
import { walkDataFile } from './data-file.js'
import type { Job } from './job.js'

export interface ReindexInput extends ScannedSegment {
  /** Of the data file. */
  readonly path: string
  readonly sizeInBytes: number
}

/** Progress is in bytes of the data file. */
export const reindexJob: Job<ReindexInput, RebuiltIndexes, number> = async (input, context) => {
  const indexes = new IndexBuilder(input)
  await walkDataFile({ path: input.path, from: 0, end: input.sizeInBytes }, context, (batch) => {
    if (indexes.misplaced(batch) !== null) return true
    indexes.add(batch)
    return false
  })
  return indexes.finish()
}
