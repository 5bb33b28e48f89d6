/** Brings the producers' state along a part of a data file. */
import { RecordBatch } from '@mq/protocol'
import { producerBatch } from '../producer-batch.js'
import { numbersOf, takeNumbers } from '../producer-numbers.js'
import { ProducerStates } from '../producer-state.js'
import type { StoredBatch } from '../stored-batch.js'
import { type DataFileRange, type Walk, walkDataFile } from './data-file.js'
import type { Job } from './job.js'

export interface ReplayInput extends DataFileRange {
  /** As producer-numbers.ts writes them. */
  readonly producers: Float64Array
  /** A batch that reaches this offset ends it. */
  readonly upTo: number
}

/** Finds where the producers stand then. */
export class ReplayWalk implements Walk<Float64Array> {
  readonly #producers = new ProducerStates()
  readonly #upTo: number

  constructor({ producers, upTo }: ReplayInput) {
    takeNumbers(this.#producers, producers)
    this.#upTo = upTo
  }

  take({ lastOffset, magic, bytes, at }: StoredBatch): boolean {
    const producers = this.#producers
    if (lastOffset >= this.#upTo) return true
    if (lastOffset < producers.endOffset || magic !== 2) return false
    const ofProducer = producerBatch(new RecordBatch(bytes, at))
    if (ofProducer !== null) producers.apply(ofProducer)
    producers.endOffset = lastOffset + 1
    return false
  }

  found(): Float64Array {
    return numbersOf(this.#producers)
  }
}

/** Progress is in bytes of the data file. */
export const replayJob: Job<ReplayInput, Float64Array, number> = (input, context) =>
  walkDataFile(input, context, new ReplayWalk(input))
