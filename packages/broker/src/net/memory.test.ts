// Memory that is used again: whoever reads late, slowly or never must see the bytes that were written, or none.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BatchBuilder, iterateBatches, SlabPool } from '@mq/protocol'
import { type RunningBroker, startBroker } from '../start-broker.js'
import { RawClient } from '../testing/raw-client.js'

/** More than the tail cache holds, so that slabs come back while the topic is still read. */
const TOTAL_BYTES = 75_000_000
const PRODUCERS = 3
const SIZES = [100, 900, 5_000, 17_000, 70_000, 300_000, 700_000]
const TOPIC = 'memory'

/** A value that tells on whom it belongs to: its number again and again. */
function signed(partition: number, number: number, size: number): Buffer {
  const pattern = Buffer.alloc(4)
  pattern.writeInt32BE(number * PRODUCERS + partition)
  return Buffer.alloc(size, pattern)
}

async function produce(client: RawClient, partition: number, seed: number, heard: () => void): Promise<number> {
  let number = 0
  for (let sent = 0; sent < TOTAL_BYTES / PRODUCERS; number++) {
    const size = SIZES[(number * 7 + seed + partition) % SIZES.length]!
    const builder = new BatchBuilder({})
    builder.tryAppend({ timestamp: Date.now(), key: null, value: signed(partition, number, size) })
    const records = builder.build()
    const partitionData = [{ index: partition, records }]
    const { responses } = await client.ask('Produce', 9, {
      acks: 1,
      timeoutMs: 1000,
      topicData: [{ name: TOPIC, partitionData }],
    })
    heard()
    assert.equal(responses[0]!.partitionResponses[0]!.errorCode, 0)
    sent += records.length
  }
  return number
}

/** Reads a partition to its end, answer by answer, and looks at each byte. */
async function check(client: RawClient, partition: number, end: () => number | undefined, maxBytes: number): Promise<void> {
  for (let offset = 0; offset !== end(); ) {
    const partitions = [{ partition, fetchOffset: offset, partitionMaxBytes: maxBytes }]
    const body = { maxWaitMs: 20, minBytes: 1, maxBytes, topics: [{ topic: TOPIC, partitions }] }
    const { responses } = await client.ask('Fetch', 11, body)
    const { errorCode, records } = responses[0]!.partitions[0]!
    assert.equal(errorCode, 0)
    for (const batch of iterateBatches(records!)) {
      assert.ok(batch.crcIsValid(), `partition ${partition}, offset ${batch.baseOffset}: other bytes than were written`)
      const [record] = [...batch.records()]
      const value = record!.value!
      assert.ok(value.equals(signed(partition, batch.baseOffset, value.length)), `the record at ${batch.baseOffset} is another`)
      offset = batch.nextOffset
    }
  }
}

describe('memory that is used again', () => {
  let broker: RunningBroker
  let clients: RawClient[]
  let memory: SlabPool
  const connect = async () => {
    const client = await RawClient.connect(broker.port)
    clients.push(client)
    return client
  }
  const begin = async (directory?: string) => {
    clients = []
    memory = new SlabPool({ poison: true })
    broker = await startBroker({ ...(directory === undefined ? {} : { directory }), environment: { memory } })
    const client = await connect()
    const topics = [{ name: TOPIC, numPartitions: PRODUCERS, replicationFactor: 1 }]
    await client.ask('CreateTopics', 5, { topics, timeoutMs: 5000 })
  }
  const end = async () => {
    for (const client of clients) client.end()
    await broker.close()
  }

  for (const [where, makeDirectory] of [
    ['in memory', () => undefined],
    ['on disk', () => mkdtempSync(join(tmpdir(), 'mq-memory-'))],
  ] as const)
    it(`is not seen by readers close by, far back, slow and gone, ${where}`, async () => {
      const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 1000))
      const directory = makeDirectory()
      await begin(directory)
      try {
        const slow = await connect()
        const counts: (number | undefined)[] = Array.from({ length: PRODUCERS }, () => undefined)
        const producing = counts.map(async (_, at) => {
          counts[at] = await produce(await connect(), at, seed, () => slow.socket.resume())
        })
        // It takes one piece for each answer that a producer gets: whatever the pace, it is behind.
        const onePiece = () => slow.socket.pause()
        slow.socket.on('data', onePiece)
        const goer = await connect()
        goer.socket.pause()
        const gone = goer.ask('Fetch', 11, {
          maxBytes: 50_000_000,
          topics: [{ topic: TOPIC, partitions: [{ partition: 0, fetchOffset: 0, partitionMaxBytes: 50_000_000 }] }],
        })
        const reading = [
          check(await connect(), 0, () => counts[0], 1_000_000),
          check(await connect(), 1, () => counts[1], 60_000),
          check(slow, 2, () => counts[2], 3_000_000),
        ]
        await Promise.all(producing)
        slow.socket.off('data', onePiece).resume()
        goer.end()
        await assert.rejects(gone)
        await Promise.all(reading)
        await check(await connect(), 0, () => counts[0], 5_000_000)
        assert.ok(memory.idleBytes > 0, 'slabs came back')
      } catch (error) {
        ;(error as Error).message += ` (SEED=${seed})`
        throw error
      } finally {
        await end()
        if (directory !== undefined) rmSync(directory, { recursive: true, force: true })
      }
    }).timeout(60_000)
})
