/**
 * The whole producer state as a row of numbers, to go to another thread and back. A snapshot would not do: it keeps one batch of a
 * producer and no ended transactions.
 *
 *   endOffset | producers | (id, epoch, coordinator epoch, last time, transaction's first offset, batches, 4 × batches) … | (first, marker) …
 */
import { ProducerEntry } from './producer-entry.js'
import type { ProducerStates } from './producer-state.js'

export function numbersOf(states: ProducerStates): Float64Array {
  const numbers: number[] = [states.endOffset, states.size]
  for (const { producerId, producerEpoch, coordinatorEpoch, lastTimestamp, transactionFirstOffset, batches } of states.entries) {
    numbers.push(producerId, producerEpoch, coordinatorEpoch, lastTimestamp, transactionFirstOffset, batches.length)
    for (const batch of batches) numbers.push(batch.lastSequence, batch.lastOffset, batch.offsetDelta, batch.timestamp)
  }
  for (const [firstOffset, markerOffset] of states.ended) numbers.push(firstOffset, markerOffset)
  return Float64Array.from(numbers)
}

/** Makes the state what the numbers say. */
export function takeNumbers(states: ProducerStates, numbers: Float64Array): void {
  let at = 0
  const next = () => numbers[at++]!
  const endOffset = next()
  const entries = Array.from({ length: next() }, () => {
    const entry = new ProducerEntry(next())
    entry.producerEpoch = next()
    entry.coordinatorEpoch = next()
    const lastTimestamp = next()
    entry.transactionFirstOffset = next()
    for (let left = next(); left > 0; left--) {
      entry.remember({ lastSequence: next(), lastOffset: next(), offsetDelta: next(), timestamp: next() })
    }
    entry.lastTimestamp = lastTimestamp
    return entry
  })
  const ended: [number, number][] = []
  while (at < numbers.length) ended.push([next(), next()])
  states.replace(entries, ended, endOffset)
}
