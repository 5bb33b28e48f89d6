/** Scans one segment after a stop that was not clean: where its sound batches end, and all that is derived from them. */
import type { EpochEntry } from '../leader-epochs.js'
import { numbersOf, takeNumbers } from '../producer-numbers.js'
import { ProducerStates } from '../producer-state.js'
import { IndexBuilder, type RebuiltIndexes, type ScannedSegment, StateBuilder } from '../segment-rebuild.js'
import { storedBatchProblem } from '../stored-batch.js'
import type { AbortedEntry } from '../txn-index.js'
import { walkDataFile } from './data-file.js'
import type { Job } from './job.js'

export interface RecoverInput extends ScannedSegment {
  /** Of the data file. */
  readonly path: string
  readonly fileBytes: number
  readonly latestEpoch: number
  /** Where the producers stand at the segment's start (producer-numbers.ts). */
  readonly producers: Float64Array
}

export interface RecoverOutput extends RebuiltIndexes {
  /** Why the batch behind the sound ones is none; null when there are only sound ones, or only a part of one behind them. */
  readonly problem: string | null
  /** Epochs that begin here, in order. */
  readonly epochs: readonly EpochEntry[]
  readonly aborted: readonly AbortedEntry[]
  /** Where the producers stand behind the last sound batch. */
  readonly producers: Float64Array
}

/** Progress is in bytes of the data file. */
export const recoverJob: Job<RecoverInput, RecoverOutput, number> = async (input, context) => {
  const producers = new ProducerStates()
  takeNumbers(producers, input.producers)
  const indexes = new IndexBuilder(input)
  const state = new StateBuilder(producers, input.latestEpoch)
  let problem: string | null = null
  await walkDataFile({ path: input.path, from: 0, end: input.fileBytes }, context, (batch) => {
    problem = storedBatchProblem(batch) ?? indexes.misplaced(batch)
    if (problem !== null) return true
    indexes.add(batch)
    state.add(batch)
    return false
  })
  return { ...indexes.finish(), problem, epochs: state.epochs, aborted: state.aborted, producers: numbersOf(producers) }
}
