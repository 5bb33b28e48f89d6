/**
 * Pure: an idempotent producer's id and its next sequence number per partition (KIP-98). Sequences count records and wrap from 2^31−1 to 0.
 * After a batch is given up, the broker would refuse the next one as a gap: a new producer id starts all partitions again at 0.
 */

import { addToSequence, crc32c, RECORD_BATCH } from '@mq/protocol'

export interface ProducerIdentity {
  readonly producerId: number
  readonly producerEpoch: number
}

export interface Stamp extends ProducerIdentity {
  readonly baseSequence: number
}

export class Sequences {
  #identity: ProducerIdentity | undefined
  readonly #next = new Map<string, { producerId: number; sequence: number }>()

  get identity(): ProducerIdentity | undefined {
    return this.#identity
  }

  start(identity: ProducerIdentity): void {
    this.#identity = identity
  }

  /** A gap was made, or the broker does not know us any more: ask for a new id before the next batch. */
  forget(): void {
    this.#identity = undefined
  }

  /** Takes the sequence numbers for a batch that is about to get its bytes. */
  take(topic: string, partition: number, recordCount: number): Stamp {
    const identity = this.#identity
    if (identity === undefined) throw new Error('a sequence was asked for before there was a producer id')
    const key = `${topic}\u0000${partition}`
    const known = this.#next.get(key)
    const baseSequence = known?.producerId === identity.producerId ? known.sequence : 0
    this.#next.set(key, { producerId: identity.producerId, sequence: addToSequence(baseSequence, recordCount) })
    return { ...identity, baseSequence }
  }
}

/** Writes producer id and sequence into a finished batch and puts its checksum right. */
export function stampBatch(bytes: Buffer, { producerId, producerEpoch, baseSequence }: Stamp): void {
  RECORD_BATCH.producerId.set(bytes, 0, producerId)
  RECORD_BATCH.producerEpoch.set(bytes, 0, producerEpoch)
  RECORD_BATCH.baseSequence.set(bytes, 0, baseSequence)
  RECORD_BATCH.crc.set(bytes, 0, crc32c(bytes, RECORD_BATCH.attributes.at))
}
