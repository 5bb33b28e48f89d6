/** ListOffsets beyond what one replica shows: transactions, and a leader whose high watermark lags. */
import assert from 'node:assert/strict'
import { BatchBuilder, type BatchOptions, decodeBody, encodeBody, ListOffsetsRequest, ListOffsetsResponse } from '@mq/protocol'
import { Assembly, errorName } from './testing/assembly.js'

const CORRELATION_ID_BYTES = 4

function batch(timestamp: number | bigint, options: BatchOptions = {}): Buffer {
  const builder = new BatchBuilder(options)
  builder.tryAppend({ timestamp, key: null, value: 'v' })
  return builder.build()
}

describe('ListOffsets', () => {
  let assembly: Assembly
  beforeEach(async () => {
    assembly = await Assembly.start([{ name: 't', partitions: 1 }])
  })

  const append = (records: Buffer) => assembly.partition('t').append(records, { acks: 1, origin: 'client', timeoutMs: 0 })
  const list = async (timestamp: number, more: { version?: number; isolationLevel?: number; replicaId?: number } = {}) => {
    const { version = 7, isolationLevel = 0, replicaId = -1 } = more
    const topics = [{ name: 't', partitions: [{ partitionIndex: 0, timestamp, currentLeaderEpoch: -1 }] }]
    const answer = await assembly.ask('ListOffsets', version, { replicaId, isolationLevel, topics })
    assert.ok(typeof answer !== 'string')
    const { errorCode, offset, oldStyleOffsets } = answer.topics[0]!.partitions[0]!
    if (errorCode !== 0) return errorName(errorCode)
    return version === 0 ? [...oldStyleOffsets] : offset
  }

  it('refuses a partition that stands twice, and none that only looks like it', async () => {
    const ask = async (...asked: [name: string, partitionIndex: number][]) => {
      const topics = asked.map(([name, partitionIndex]) => ({ name, partitions: [{ partitionIndex, timestamp: -1 }] }))
      const answer = await assembly.ask('ListOffsets', 7, { replicaId: -1, isolationLevel: 0, topics })
      assert.ok(typeof answer !== 'string')
      return answer.topics.map(({ partitions }) => errorName(partitions[0]!.errorCode))
    }
    assert.deepEqual(await ask(['t', 0], ['t', 0]), ['INVALID_REQUEST', 'INVALID_REQUEST'])
    const unknown = 'UNKNOWN_TOPIC_OR_PARTITION'
    assert.deepEqual(await ask(['t', -2], ['t-', 2]), [unknown, unknown])
  })

  it('finds records with any time that an int64 holds', async () => {
    await append(batch(1000))
    await append(batch(2n ** 63n - 1n))
    await append(batch(2000))
    for (const timestamp of [1500, Number.MAX_SAFE_INTEGER]) {
      const topics = [{ name: 't', partitions: [{ partitionIndex: 0, timestamp }] }]
      const answer = await assembly.serve('ListOffsets', 5, encodeBody(ListOffsetsRequest, 5, { topics }))
      assert.ok(typeof answer !== 'string')
      const body = decodeBody(ListOffsetsResponse, 5, answer.subarray(CORRELATION_ID_BYTES), { int64: 'exact' })
      const { offset, timestamp: found } = body.topics[0]!.partitions[0]!
      assert.deepEqual([offset, found], [1, 2n ** 63n - 1n])
    }
  })

  it('ends at the last stable offset for who reads committed records', async () => {
    await append(batch(1000))
    await append(batch(2000, { transactional: true, producerId: 9, producerEpoch: 0, baseSequence: 0 }))
    await append(batch(3000))
    assert.equal(await list(-1), 3)
    assert.equal(await list(-1, { isolationLevel: 1 }), 1)
    assert.equal(await list(-1, { isolationLevel: 1, replicaId: -2 }), 3)
    assert.equal(await list(3000), 2)
    assert.equal(await list(3000, { isolationLevel: 1 }), -1)
    assert.equal(await list(-3, { isolationLevel: 1 }), -1)
  })

  describe('of a leader whose high watermark has not reached its epoch (KIP-207)', () => {
    beforeEach(async () => {
      await append(batch(1000))
      const { log } = assembly.partition('t')
      // A follower is in the ISR and has not fetched: what is appended now is not committed.
      await assembly.partition('t').becomeLeader(log!, { leaderEpoch: 1, isr: [0, 1], replicas: [0, 1] })
      await append(batch(2000))
      await assembly.partition('t').becomeLeader(log!, { leaderEpoch: 2, isr: [0, 1], replicas: [0, 1] })
    })

    it('does not know the latest offset, and says so in words that the version has', async () => {
      assert.equal(await list(-1), 'OFFSET_NOT_AVAILABLE')
      assert.equal(await list(-1, { version: 5 }), 'OFFSET_NOT_AVAILABLE')
      assert.equal(await list(-1, { version: 4 }), 'LEADER_NOT_AVAILABLE')
      assert.equal(await list(2000), 'OFFSET_NOT_AVAILABLE')
    })

    it('still knows the earliest, and what it has committed', async () => {
      assert.equal(await list(-2), 0)
      assert.equal(await list(500), 0)
    })

    it('shows a consumer of v0 nothing above the high watermark', async () => {
      assert.deepEqual(await list(-1, { version: 0 }), [1])
      assert.deepEqual(await list(-1, { version: 0, replicaId: -2 }), [2])
    })
  })
})
