/** Offsets that open transactions have staged: nobody sees them before the transaction is committed, and retention does not touch them. */
import type { StoredOffset } from './offsets.js'

export interface PendingOffset {
  readonly groupId: string
  readonly topic: string
  readonly partition: number
  readonly value: StoredOffset
}

export class PendingOffsets {
  readonly #byProducer = new Map<number, Map<string, PendingOffset>>()
  /** How many transactions staged something for a partition, and for a group. */
  readonly #ofPartition = new Map<string, number>()
  readonly #ofGroup = new Map<string, number>()

  add(producerId: number, pending: PendingOffset): void {
    let staged = this.#byProducer.get(producerId)
    if (!staged) {
      staged = new Map()
      this.#byProducer.set(producerId, staged)
    }
    const key = keyOf(pending.groupId, pending.topic, pending.partition)
    if (!staged.has(key)) this.#count(pending.groupId, key, 1)
    staged.set(key, pending)
  }

  remove(producerId: number, groupId: string, topic: string, partition: number): void {
    const key = keyOf(groupId, topic, partition)
    if (this.#byProducer.get(producerId)?.delete(key)) this.#count(groupId, key, -1)
  }

  /** Everything that one producer staged, which is forgotten here. */
  take(producerId: number): readonly PendingOffset[] {
    const staged = this.#byProducer.get(producerId)
    if (!staged) return []
    this.#byProducer.delete(producerId)
    for (const [key, { groupId }] of staged) this.#count(groupId, key, -1)
    return [...staged.values()]
  }

  has(groupId: string, topic: string, partition: number): boolean {
    return this.#ofPartition.size > 0 && this.#ofPartition.has(keyOf(groupId, topic, partition))
  }

  hasGroup(groupId: string): boolean {
    return this.#ofGroup.has(groupId)
  }

  #count(groupId: string, key: string, by: 1 | -1): void {
    bump(this.#ofPartition, key, by)
    bump(this.#ofGroup, groupId, by)
  }
}

/** One partition's offset of one group, as a key of maps. */
export const keyOf = (groupId: string, topic: string, partition: number): string => `${partition}\0${topic}\0${groupId}`

function bump(counts: Map<string, number>, key: string, by: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + by
  if (count === 0) counts.delete(key)
  else counts.set(key, count)
}
