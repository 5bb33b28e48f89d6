/** The events around the handling of a batch, with kafkajs' payload. */

import { CONSUMER_EVENTS } from '../events.js'
import type { Clock } from '../ports.js'
import type { Batch } from './batch.js'

/** Tells that a batch begins; the answer tells that it is done, and how long it took (ms). */
export function batchEvents(batch: Batch, clock: Clock, emit: (type: string, payload: () => unknown) => void): () => void {
  const beganAt = clock.monotonic()
  const payload = () => ({
    topic: batch.topic,
    partition: batch.partition,
    highWatermark: batch.highWatermark,
    offsetLag: batch.offsetLag(),
    offsetLagLow: batch.offsetLagLow(),
    batchSize: batch.messages.length,
    firstOffset: batch.firstOffset(),
    lastOffset: batch.lastOffset(),
  })
  emit(CONSUMER_EVENTS.START_BATCH_PROCESS, payload)
  return () => emit(CONSUMER_EVENTS.END_BATCH_PROCESS, () => ({ ...payload(), duration: clock.monotonic() - beganAt }))
}
