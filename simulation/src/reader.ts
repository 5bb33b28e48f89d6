/** A consumer without a group: follows the partitions of a topic, and begins anew now and then, since what was read must not change. */
import type { Client } from './client.js'
import type { PartitionHistory } from './history.js'
import { LinkLost } from './link.js'
import { fetchFrom } from './requests.js'

export interface ReaderSpec {
  readonly topic: string
  readonly histories: readonly PartitionHistory[]
  /** How often data may have been lost, so far. */
  readonly losses: () => number
}

export class Reader {
  readonly #positions: number[]

  constructor(
    readonly client: Client,
    readonly spec: ReaderSpec,
  ) {
    this.#positions = spec.histories.map(() => 0)
  }

  async run(isOver: () => boolean): Promise<void> {
    const { client } = this
    while (!isOver()) {
      try {
        await this.#read(client.chance.whole(0, this.#positions.length))
        await client.sleep(0, 60)
      } catch (error) {
        if (!(error instanceof LinkLost)) throw error
        client.hangUp()
        await client.sleep(10, 300)
      }
    }
    client.hangUp()
  }

  async #read(partition: number): Promise<void> {
    const { client, spec } = this
    const history = spec.histories[partition]!
    if (client.chance.happens(0.02)) this.#positions[partition] = 0
    const offset = this.#positions[partition]!
    const losses = spec.losses()
    const atLeast = history.highWatermark
    const where = { topic: spec.topic, partition, offset }
    const { error, records, highWatermark } = await fetchFrom(await client.link(), where, {
      maxWaitMs: client.chance.whole(0, 500),
      maxBytes: client.chance.one([1, 2000, 1 << 20]),
    })
    if (error === 'OFFSET_OUT_OF_RANGE') {
      if (spec.losses() === 0) client.around.violations.note('out of range', `${history.name} offset ${offset}`)
      this.#positions[partition] = 0
      return
    }
    if (error !== 'NONE') throw new LinkLost(error)
    if (spec.losses() !== losses) return
    history.sawHighWatermark(highWatermark, atLeast)
    let next = offset
    for (const record of records) {
      if (record.offset !== next) client.around.violations.note('a gap', `${history.name} offset ${next}: got ${record.offset}`)
      if (record.offset >= highWatermark) {
        client.around.violations.note('read too far', `${history.name} offset ${record.offset}, high watermark ${highWatermark}`)
      }
      history.read(record.offset, record.value)
      next = record.offset + 1
    }
    this.#positions[partition] = next
  }
}
