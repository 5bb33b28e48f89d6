/**
 * Ids for idempotent producers, out of blocks that the metadata store hands out: no id is given twice, over restarts and among
 * brokers. What is left of a block when the broker stops is lost.
 */

export interface ProducerIdBlock {
  readonly first: number
  readonly count: number
}

/** Takes the next block for this broker and writes that it is taken. */
export interface ProducerIdBlocks {
  take(): Promise<ProducerIdBlock>
}

export class ProducerIds {
  readonly #blocks: ProducerIdBlocks
  #next = 0
  #end = 0
  /** One request for a block at a time, for all who wait. */
  #taking: Promise<void> | null = null

  constructor(blocks: ProducerIdBlocks) {
    this.#blocks = blocks
  }

  /** An id that nobody had; without a promise while the block lasts. Kafka's error when the store gives none. */
  next(): number | Promise<number | 'COORDINATOR_LOAD_IN_PROGRESS'> {
    return this.#next < this.#end ? this.#next++ : this.#nextOfNewBlock()
  }

  async #nextOfNewBlock(): Promise<number | 'COORDINATOR_LOAD_IN_PROGRESS'> {
    while (this.#next >= this.#end) {
      this.#taking ??= this.#take()
      try {
        await this.#taking
      } catch {
        return 'COORDINATOR_LOAD_IN_PROGRESS'
      }
    }
    return this.#next++
  }

  async #take(): Promise<void> {
    try {
      const { first, count } = await this.#blocks.take()
      this.#next = first
      this.#end = first + count
    } finally {
      this.#taking = null
    }
  }
}
