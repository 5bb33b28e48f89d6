/** Scans one segment after a stop that was not clean: where its sound batches end, and all that is derived from them. */
import type { EpochEntry } from '../leader-epochs.js'
import { numbersOf, takeNumbers } from '../producer-numbers.js'
import { ProducerStates } from '../producer-state.js'
import { IndexBuilder, type RebuiltIndexes, type ScannedSegment, StateBuilder } from '../segment-rebuild.js'
import { type StoredBatch, storedBatchProblem } from '../stored-batch.js'
import type { AbortedEntry } from '../txn-index.js'
import { type DataFileRange, type Walk, walkDataFile } from './data-file.js'
import type { Job } from './job.js'

export interface RecoverInput extends ScannedSegment, DataFileRange {
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

export class RecoveryWalk implements Walk<RecoverOutput> {
  readonly #producers = new ProducerStates()
  readonly #indexes: IndexBuilder
  readonly #state: StateBuilder
  #problem: string | null = null

  constructor(input: RecoverInput) {
    takeNumbers(this.#producers, input.producers)
    this.#indexes = new IndexBuilder(input)
    this.#state = new StateBuilder(this.#producers, input.latestEpoch)
  }

  take(batch: StoredBatch): boolean {
    this.#problem = storedBatchProblem(batch) ?? this.#indexes.misplaced(batch)
    if (this.#problem !== null) return true
    this.#indexes.add(batch)
    this.#state.add(batch)
    return false
  }

  found(): RecoverOutput {
    const { epochs, aborted } = this.#state
    return { ...this.#indexes.finish(), problem: this.#problem, epochs, aborted, producers: numbersOf(this.#producers) }
  }
}

/** Progress is in bytes of the data file. */
export const recoverJob: Job<RecoverInput, RecoverOutput, number> = (input, context) =>
  walkDataFile(input, context, new RecoveryWalk(input))
