/**
 * The committed offsets of one shard. Three views of a partition's offset: the latest that is written, which rules decide by; the one
 * that is committed (before the high watermark), which readers get; and those that open transactions hold back (KIP-447).
 */
import type { Place } from '../runtime/shard.js'
import { keyOf, type PendingOffset, PendingOffsets } from './pending.js'
import type { CommittedOffset } from './records.js'

export interface StoredOffset extends CommittedOffset {
  /** Where its record stands: of two, the later one counts. */
  readonly at: number
}

interface Uncommitted {
  readonly at: number
  readonly key: string
  readonly value: StoredOffset | undefined
}

/** What readers get of an offset while newer records of it wait for the high watermark. */
interface View {
  readonly groupId: string
  readonly topic: string
  readonly partition: number
  value: StoredOffset | undefined
  waiting: number
}

export class Offsets {
  readonly #latest = new Map<string, Map<string, Map<number, StoredOffset>>>()
  readonly #pending = new PendingOffsets()
  /** In the order of the log. */
  #uncommitted: Uncommitted[] = []
  readonly #views = new Map<string, View>()

  put(groupId: string, topic: string, partition: number, value: CommittedOffset, place: Place): void {
    const stored: StoredOffset = { ...value, at: place.offset }
    if (place.transactionOf !== null) {
      this.#pending.add(place.transactionOf, { groupId, topic, partition, value: stored })
      return
    }
    if (!place.committed) this.#hold(groupId, topic, partition, stored, place.offset)
    this.#set(groupId, topic, partition, stored)
  }

  remove(groupId: string, topic: string, partition: number, place: Place): void {
    if (place.transactionOf !== null) {
      this.#pending.remove(place.transactionOf, groupId, topic, partition)
      return
    }
    if (!place.committed) this.#hold(groupId, topic, partition, undefined, place.offset)
    this.#delete(groupId, topic, partition)
  }

  /** What the transaction staged becomes real, unless a later plain commit has overtaken it; or it is forgotten. */
  endTransaction(producerId: number, outcome: 'commit' | 'abort'): readonly PendingOffset[] {
    const staged = this.#pending.take(producerId)
    if (outcome === 'commit') {
      for (const { groupId, topic, partition, value } of staged) {
        const latest = this.latest(groupId, topic, partition)
        if (latest === undefined || latest.at < value.at) this.#set(groupId, topic, partition, value)
      }
    }
    return staged
  }

  /** The high watermark stands here: everything before it may be read. */
  committed(highWatermark: number): void {
    let done = 0
    while (done < this.#uncommitted.length && this.#uncommitted[done]!.at < highWatermark) {
      const { key, value } = this.#uncommitted[done++]!
      const view = this.#views.get(key)!
      view.value = value
      if (--view.waiting === 0) this.#views.delete(key)
    }
    if (done > 0) this.#uncommitted = this.#uncommitted.slice(done)
  }

  latest(groupId: string, topic: string, partition: number): StoredOffset | undefined {
    return this.#latest.get(groupId)?.get(topic)?.get(partition)
  }

  /** All that is written of a group, committed or not. */
  *ofGroup(groupId: string): Generator<readonly [topic: string, partition: number, value: StoredOffset]> {
    for (const [topic, partitions] of this.#latest.get(groupId) ?? []) {
      for (const [partition, value] of partitions) yield [topic, partition, value]
    }
  }

  /** What a reader may see. */
  visible(groupId: string, topic: string, partition: number): StoredOffset | undefined {
    const view = this.#views.get(keyOf(groupId, topic, partition))
    return view ? view.value : this.latest(groupId, topic, partition)
  }

  /** All that a reader may see of a group. */
  *visibleOfGroup(groupId: string): Generator<readonly [topic: string, partition: number, value: StoredOffset]> {
    for (const [topic, partition, value] of this.ofGroup(groupId)) {
      const view = this.#views.get(keyOf(groupId, topic, partition))
      if (view === undefined) yield [topic, partition, value]
      else if (view.value !== undefined) yield [topic, partition, view.value]
    }
    // Deleted, but the deletion is not committed yet.
    for (const view of this.#views.values()) {
      const { topic, partition, value } = view
      if (view.groupId !== groupId || value === undefined || this.latest(groupId, topic, partition) !== undefined) continue
      yield [topic, partition, value]
    }
  }

  /** Whether the offset may change soon: a newer one is written and not committed, or staged in an open transaction. */
  isUnstable(groupId: string, topic: string, partition: number): boolean {
    if (this.#pending.has(groupId, topic, partition)) return true
    const view = this.#views.get(keyOf(groupId, topic, partition))
    return view !== undefined && this.latest(groupId, topic, partition) !== undefined
  }

  isUncommitted(groupId: string, topic: string, partition: number): boolean {
    return this.#views.has(keyOf(groupId, topic, partition))
  }

  /** Whether the group has offsets, staged ones among them. */
  has(groupId: string): boolean {
    return this.#latest.has(groupId) || this.hasStaged(groupId)
  }

  hasStaged(groupId: string): boolean {
    return this.#pending.hasGroup(groupId)
  }

  countOf(groupId: string): number {
    let count = 0
    for (const partitions of this.#latest.get(groupId)?.values() ?? []) count += partitions.size
    return count
  }

  /** Partitions of a topic for which the group has offsets. */
  partitionsOf(groupId: string, topic: string): Iterable<number> {
    return this.#latest.get(groupId)?.get(topic)?.keys() ?? []
  }

  #set(groupId: string, topic: string, partition: number, value: StoredOffset): void {
    let topics = this.#latest.get(groupId)
    if (!topics) {
      topics = new Map()
      this.#latest.set(groupId, topics)
    }
    let partitions = topics.get(topic)
    if (!partitions) {
      partitions = new Map()
      topics.set(topic, partitions)
    }
    partitions.set(partition, value)
  }

  #delete(groupId: string, topic: string, partition: number): void {
    const topics = this.#latest.get(groupId)
    const partitions = topics?.get(topic)
    if (!topics || !partitions?.delete(partition)) return
    if (partitions.size === 0) topics.delete(topic)
    if (topics.size === 0) this.#latest.delete(groupId)
  }

  #hold(groupId: string, topic: string, partition: number, value: StoredOffset | undefined, at: number): void {
    const key = keyOf(groupId, topic, partition)
    const view = this.#views.get(key)
    if (view) view.waiting++
    else this.#views.set(key, { groupId, topic, partition, value: this.latest(groupId, topic, partition), waiting: 1 })
    this.#uncommitted.push({ at, key, value })
  }
}
