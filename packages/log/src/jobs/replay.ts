/** Brings the producers' state along a part of a data file. */
import { RecordBatch } from '@mq/protocol'
import { producerBatch } from '../producer-batch.js'
import { numbersOf, takeNumbers } from '../producer-numbers.js'
import { ProducerStates } from '../producer-state.js'
import { type DataFileRange, walkDataFile } from './data-file.js'
import type { Job } from './job.js'

export interface ReplayInput extends DataFileRange {
  /** As producer-numbers.ts writes them. */
  readonly producers: Float64Array
  /** A batch that reaches this offset ends it. */
  readonly upTo: number
}

/** Where the producers stand then. Progress is in bytes of the data file. */
export const replayJob: Job<ReplayInput, Float64Array, number> = async (input, context) => {
  const producers = new ProducerStates()
  takeNumbers(producers, input.producers)
  await walkDataFile(input, context, (batch) => {
    if (batch.lastOffset >= input.upTo) return true
    if (batch.lastOffset < producers.endOffset || batch.magic !== 2) return false
    const ofProducer = producerBatch(new RecordBatch(batch.bytes, batch.at))
    if (ofProducer !== null) producers.apply(ofProducer)
    producers.endOffset = batch.lastOffset + 1
    return false
  })
  return numbersOf(producers)
}
