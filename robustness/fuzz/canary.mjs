// A client that does nothing odd while others do: it produces and fetches, and every record has to come back with its bytes at its offset.
import { BatchBuilder, iterateBatches } from '@mq/protocol'
import { RawConnection } from './raw-connection.mjs'

export const CANARY_TOPIC = 'canary-of-the-fuzz'
const PAUSE_MS = 20
const ANSWER_MS = 10_000

export class Canary {
  #connection
  #stopped = false
  #done
  failures = []
  records = 0
  /** The longest round of a produce and a fetch, in ms. */
  slowest = 0

  static async start(port) {
    const canary = new Canary()
    canary.#connection = await RawConnection.open(port)
    const { topics } = await canary.#connection.ask('CreateTopics', 7, {
      topics: [
        {
          name: CANARY_TOPIC,
          numPartitions: 1,
          replicationFactor: 1,
          configs: [
            { name: 'segment.bytes', value: '1000000' },
            // Its records say that they are old.
            { name: 'retention.ms', value: '-1' },
          ],
        },
      ],
      timeoutMs: ANSWER_MS,
    })
    if (topics[0].errorCode !== 0) throw new Error(`the canary has no topic: ${topics[0].errorCode}`)
    canary.#done = canary.#sing()
    return canary
  }

  async stop() {
    this.#stopped = true
    await this.#done
    this.#connection.drop()
  }

  async #sing() {
    while (!this.#stopped) {
      const began = Date.now()
      try {
        await this.#round()
      } catch (error) {
        this.failures.push(`after ${this.records} records: ${error.message}`)
        // What it knows of its log is not true any more.
        return
      }
      this.slowest = Math.max(this.slowest, Date.now() - began)
      await new Promise((done) => setTimeout(done, PAUSE_MS))
    }
  }

  async #round() {
    const value = `canary ${this.records}`
    const builder = new BatchBuilder({})
    builder.tryAppend({ timestamp: 1_700_000_000_000 + this.records, key: String(this.records), value, headers: [] })
    const body = {
      acks: -1,
      timeoutMs: ANSWER_MS,
      topicData: [{ name: CANARY_TOPIC, partitionData: [{ index: 0, records: builder.build() }] }],
    }
    const { responses } = await this.#connection.ask('Produce', 9, body, ANSWER_MS)
    const { errorCode, baseOffset } = responses[0].partitionResponses[0]
    if (errorCode !== 0 || baseOffset !== this.records) throw new Error(`produced: error ${errorCode}, offset ${baseOffset}`)
    const fetched = await this.#connection.ask(
      'Fetch',
      11,
      {
        replicaId: -1,
        maxWaitMs: 1000,
        minBytes: 1,
        maxBytes: 100_000,
        topics: [{ topic: CANARY_TOPIC, partitions: [{ partition: 0, fetchOffset: this.records, partitionMaxBytes: 100_000 }] }],
      },
      ANSWER_MS,
    )
    const [record] = [...iterateBatches(fetched.responses[0].partitions[0].records)].flatMap((batch) => [...batch.records()])
    if (record?.offset !== this.records || record.value?.toString() !== value) {
      const { errorCode: fetchError, highWatermark } = fetched.responses[0]?.partitions[0] ?? {}
      throw new Error(
        `fetched: ${record?.offset} ${record?.value}, error ${fetchError ?? fetched.errorCode}, high watermark ${highWatermark}`,
      )
    }
    this.records++
  }
}
