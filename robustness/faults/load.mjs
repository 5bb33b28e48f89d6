// Somebody who produces one batch after the other and remembers exactly what was acknowledged.
import { BatchBuilder, errorByCode, iterateBatches } from '@mq/protocol'
import { RawConnection } from '../fuzz/raw-connection.mjs'

const VALUE_BYTES = 8 * 1024
const MAX_BYTES = 4 * 1024 * 1024

export class Load {
  #topic
  #partitions
  #first
  #connection
  #isOver = false
  #done
  #waiting = new Set()
  /** Values that were acknowledged, by `partition-offset`. */
  #written = new Map()
  acknowledged = 0
  /** Name of the error that ended it, or `closed`. */
  refusedBy = null

  /** Produces to `partitions` partitions from `first` on, until it is stopped or refused. */
  static async start(port, topic, partitions, first = 0) {
    const load = new Load()
    load.#topic = topic
    load.#partitions = partitions
    load.#first = first
    load.#connection = await RawConnection.open(port)
    load.#done = load.#run()
    return load
  }

  /** Resolves when so many are acknowledged; rejects when it was refused before. */
  async reaches(count) {
    while (this.acknowledged < count) {
      if (this.refusedBy !== null) throw new Error(`the load was refused by ${this.refusedBy} after ${this.acknowledged}`)
      await new Promise((done) => this.#waiting.add(done))
    }
  }

  /** Resolves when the broker takes no more. */
  async refused() {
    while (this.refusedBy === null) await new Promise((done) => this.#waiting.add(done))
  }

  async stop() {
    this.#isOver = true
    await this.#done
    this.#connection.drop()
  }

  /** What was acknowledged and is not there, or not as it was written: `partition-offset`, the first few. */
  async missing(port) {
    const connection = await RawConnection.open(port)
    const left = new Map(this.#written)
    for (let partition = this.#first; partition < this.#first + this.#partitions; partition++) {
      for (let fetchOffset = 0, end = Number.POSITIVE_INFINITY; fetchOffset < end; ) {
        const body = {
          replicaId: -1,
          maxWaitMs: 0,
          minBytes: 0,
          maxBytes: MAX_BYTES,
          topics: [{ topic: this.#topic, partitions: [{ partition, fetchOffset, partitionMaxBytes: MAX_BYTES }] }],
        }
        const { responses } = await connection.ask('Fetch', 11, body)
        const answer = responses[0].partitions[0]
        if (answer.errorCode !== 0)
          throw new Error(`fetch of ${this.#topic}-${partition} at ${fetchOffset}: ${errorByCode(answer.errorCode)}`)
        end = answer.highWatermark
        for (const batch of iterateBatches(answer.records)) {
          for (const { offset, value } of batch.records())
            if (left.get(`${partition}-${offset}`)?.equals(value)) left.delete(`${partition}-${offset}`)
          fetchOffset = batch.nextOffset
        }
      }
    }
    connection.drop()
    return [...left.keys()].slice(0, 10)
  }

  async #run() {
    for (let number = 0; !this.#isOver; number++) {
      const index = this.#first + (number % this.#partitions)
      const value = Buffer.alloc(VALUE_BYTES, `${this.#topic} ${number} `)
      const builder = new BatchBuilder({})
      builder.tryAppend({ timestamp: 1_700_000_000_000 + number, key: String(number), value, headers: [] })
      let answer
      try {
        const { responses } = await this.#connection.ask('Produce', 9, {
          acks: -1,
          timeoutMs: 10_000,
          topicData: [{ name: this.#topic, partitionData: [{ index, records: builder.build() }] }],
        })
        answer = responses[0].partitionResponses[0]
      } catch {
        return this.#end('closed')
      }
      if (answer.errorCode !== 0) return this.#end(errorByCode(answer.errorCode))
      this.#written.set(`${index}-${answer.baseOffset}`, value)
      this.acknowledged++
      this.#wake()
    }
  }

  #end(why) {
    this.refusedBy = why
    this.#wake()
  }

  #wake() {
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const done of waiting) done()
  }
}
