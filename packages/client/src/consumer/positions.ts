/**
 * Pure: where a member stands in each of its partitions.
 *
 *   … processed │ resolved ──▶ │ handed out, not resolved │ fetched, waiting │ next to fetch …
 *               committed may lag behind resolved
 *
 * Offsets are numbers here (safe integers); what programs see are strings.
 */

export interface PartitionPosition {
  readonly topic: string
  readonly partition: number
  /** The next offset to fetch; undefined until the committed offset (or the reset) is known. */
  nextOffset: number | undefined
  /** Where reading began in this assignment, or after a seek or reset. */
  startedAt: number | undefined
  /** One above the last resolved offset: what a commit would store. Undefined: nothing resolved yet. */
  resolved: number | undefined
  /** What the group has stored, as far as this member knows. */
  committed: number | undefined
  /** What was resolved when the program itself committed some offset: an automatic commit of the same would overrule it. */
  settled: number | undefined
  paused: boolean
  /** Rises with each seek, reset or new assignment: batches that carry an older number are stale and dropped. */
  epoch: number
}

export interface TopicPartitionOffset {
  topic: string
  partition: number
  offset: number
}

export const partitionKey = (topic: string, partition: number): string => `${topic}\u0000${partition}`

export class Positions {
  readonly #partitions = new Map<string, PartitionPosition>()
  readonly #pausedTopics = new Set<string>()
  readonly #pausedPartitions = new Set<string>()
  /** Seeks that came before the partition was assigned: they count when it is. */
  readonly #seeks = new Map<string, number>()
  /** Where this member stood in partitions that it had before the present assignment. */
  readonly #left = new Map<string, number>()
  #epoch = 0

  /** Takes a new assignment: places are looked up anew, since another member may have gone on; pauses outlive an assignment. */
  assign(assignment: { readonly [topic: string]: readonly number[] }): void {
    for (const [key, { resolved, startedAt }] of this.#partitions) {
      const stood = resolved ?? startedAt
      if (stood !== undefined) this.#left.set(key, stood)
    }
    const next = new Map<string, PartitionPosition>()
    for (const [topic, partitions] of Object.entries(assignment))
      for (const partition of partitions) {
        const key = partitionKey(topic, partition)
        next.set(key, {
          topic,
          partition,
          nextOffset: undefined,
          startedAt: undefined,
          resolved: undefined,
          committed: undefined,
          settled: undefined,
          paused: this.#pausedTopics.has(topic) || this.#pausedPartitions.has(key),
          epoch: ++this.#epoch,
        })
      }
    this.#partitions.clear()
    for (const [key, position] of next) this.#partitions.set(key, position)
  }

  /** Where this member stood in the partition before the present assignment: first not resolved offset. */
  leftAt(topic: string, partition: number): number | undefined {
    return this.#left.get(partitionKey(topic, partition))
  }

  all(): PartitionPosition[] {
    return [...this.#partitions.values()]
  }

  get(topic: string, partition: number): PartitionPosition | undefined {
    return this.#partitions.get(partitionKey(topic, partition))
  }

  /** Where the group left off, or where a reset put us: fetching starts there. A pending seek wins. */
  startAt(topic: string, partition: number, offset: number, committed: number | undefined): void {
    const position = this.get(topic, partition)
    if (position === undefined) return
    const key = partitionKey(topic, partition)
    const sought = this.#seeks.get(key)
    this.#seeks.delete(key)
    position.nextOffset = sought ?? offset
    position.startedAt = position.nextOffset
    position.committed = committed
    position.settled = undefined
    position.resolved = sought
    position.epoch = ++this.#epoch
  }

  /** Nothing is stored for the group, but this member had come so far: it goes on there, and the next commit stores it. */
  continueAt(topic: string, partition: number, offset: number): void {
    this.startAt(topic, partition, offset, undefined)
    const position = this.get(topic, partition)
    if (position !== undefined) position.resolved = offset
  }

  /** Forgets where to fetch, so that the runner looks it up again (offset out of range). */
  forget(topic: string, partition: number): void {
    const position = this.get(topic, partition)
    if (position === undefined) return
    position.nextOffset = undefined
    position.epoch = ++this.#epoch
  }

  seek(topic: string, partition: number, offset: number): void {
    const position = this.get(topic, partition)
    if (position === undefined || position.nextOffset === undefined || offset < 0) {
      this.#seeks.set(partitionKey(topic, partition), offset)
      if (position !== undefined) this.forget(topic, partition)
      return
    }
    position.nextOffset = offset
    position.startedAt = offset
    position.resolved = offset
    position.settled = undefined
    position.epoch = ++this.#epoch
  }

  /** A seek that waits for its partition: -1 and -2 stand for latest and earliest and need a look-up. */
  pendingSeek(topic: string, partition: number): number | undefined {
    return this.#seeks.get(partitionKey(topic, partition))
  }

  resolvePendingSeek(topic: string, partition: number, offset: number): void {
    this.#seeks.set(partitionKey(topic, partition), offset)
  }

  fetched(topic: string, partition: number, nextOffset: number): void {
    const position = this.get(topic, partition)
    if (position !== undefined) position.nextOffset = nextOffset
  }

  /** Everything up to and with `offset` has been processed. Answers false when the batch it came from is stale. */
  resolve(topic: string, partition: number, offset: number, epoch: number): boolean {
    const position = this.get(topic, partition)
    if (position === undefined || position.epoch !== epoch) return false
    position.resolved = offset + 1
    return true
  }

  isCurrent(topic: string, partition: number, epoch: number): boolean {
    return this.get(topic, partition)?.epoch === epoch
  }

  /** Goes back to what was resolved last (or to the start of the assignment), so that unprocessed messages come again. */
  rewind(topic: string, partition: number, toOffset: number): void {
    const position = this.get(topic, partition)
    if (position === undefined) return
    position.nextOffset = toOffset
    position.epoch = ++this.#epoch
  }

  /** What a commit would store now: resolved offsets that the group does not have yet. */
  uncommitted(): TopicPartitionOffset[] {
    return this.all().flatMap(({ topic, partition, resolved, committed, settled }) =>
      resolved !== undefined && resolved !== committed && resolved !== settled ? [{ topic, partition, offset: resolved }] : [],
    )
  }

  /** Resolved offsets since the last commit, for `autoCommitThreshold`. */
  get resolvedSinceCommit(): number {
    let count = 0
    for (const { resolved, committed, startedAt } of this.#partitions.values())
      if (resolved !== undefined) count += Math.max(0, resolved - (committed ?? startedAt ?? resolved))
    return count
  }

  committed(offsets: readonly TopicPartitionOffset[]): void {
    for (const { topic, partition, offset } of offsets) {
      const position = this.get(topic, partition)
      if (position !== undefined) position.committed = offset
    }
  }

  /** The program chose these offsets itself: they stay until something new is resolved. */
  committedByProgram(offsets: readonly TopicPartitionOffset[]): void {
    this.committed(offsets)
    for (const { topic, partition } of offsets) {
      const position = this.get(topic, partition)
      if (position !== undefined) position.settled = position.resolved
    }
  }

  pause(topic: string, partitions?: readonly number[]): void {
    if (partitions === undefined) this.#pausedTopics.add(topic)
    else for (const partition of partitions) this.#pausedPartitions.add(partitionKey(topic, partition))
    this.#markPaused()
  }

  /** A topic resumed without partitions resumes all of them; single partitions of a paused topic leave it paused as a topic no more. */
  resume(topic: string, partitions?: readonly number[]): void {
    if (partitions === undefined) {
      this.#pausedTopics.delete(topic)
      for (const position of this.all())
        if (position.topic === topic) this.#pausedPartitions.delete(partitionKey(topic, position.partition))
    } else {
      if (this.#pausedTopics.delete(topic))
        for (const position of this.all())
          if (position.topic === topic) this.#pausedPartitions.add(partitionKey(topic, position.partition))
      for (const partition of partitions) this.#pausedPartitions.delete(partitionKey(topic, partition))
    }
    this.#markPaused()
  }

  /** Paused partitions of the present assignment, by topic. */
  paused(): { topic: string; partitions: number[] }[] {
    const byTopic = new Map<string, number[]>()
    for (const { topic, partition, paused } of this.all())
      if (paused) byTopic.set(topic, [...(byTopic.get(topic) ?? []), partition])
    return [...byTopic].map(([topic, partitions]) => ({ topic, partitions }))
  }

  #markPaused(): void {
    for (const position of this.all())
      position.paused =
        this.#pausedTopics.has(position.topic) || this.#pausedPartitions.has(partitionKey(position.topic, position.partition))
  }
}
