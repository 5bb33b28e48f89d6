/** Builds offset and time index of a segment from its data file, up to the first batch that cannot stand there. */
import { IndexBuilder, type RebuiltIndexes, type ScannedSegment } from '../segment-rebuild.js'
import type { StoredBatch } from '../stored-batch.js'
import { type DataFileRange, type Walk, walkDataFile } from './data-file.js'
import type { Job } from './job.js'

export interface ReindexInput extends ScannedSegment, DataFileRange {}

export class ReindexWalk implements Walk<RebuiltIndexes> {
  readonly #indexes: IndexBuilder

  constructor(input: ReindexInput) {
    this.#indexes = new IndexBuilder(input)
  }

  take(batch: StoredBatch): boolean {
    if (this.#indexes.misplaced(batch) !== null) return true
    this.#indexes.add(batch)
    return false
  }

  found(): RebuiltIndexes {
    return this.#indexes.finish()
  }
}

/** Progress is in bytes of the data file. */
export const reindexJob: Job<ReindexInput, RebuiltIndexes, number> = (input, context) =>
  walkDataFile(input, context, new ReindexWalk(input))
