/** Fetch: waiting for bytes, limits, what becomes of a client that goes, and what old clients may read. */
import assert from 'node:assert/strict'
import { BatchBuilder, type BatchOptions, endTransactionMarker, iterateAnyBatches, iterateBatches } from '@mq/protocol'
import { Assembly, errorName } from './testing/assembly.js'

const OPTIONS = { acks: 1, origin: 'client', timeoutMs: 0 } as const

function batch(size = 1, options: BatchOptions = {}): Buffer {
  const builder = new BatchBuilder(options)
  builder.tryAppend({ timestamp: 1_700_000_000_000, key: null, value: Buffer.alloc(size, 120) })
  return builder.build()
}

interface Asked {
  readonly fetchOffset?: number
  readonly partitionMaxBytes?: number
  readonly currentLeaderEpoch?: number
}

describe('Fetch', () => {
  let assembly: Assembly
  beforeEach(async () => {
    assembly = await Assembly.start([{ name: 't', partitions: 10 }])
  })

  const produce = async (partition: number, records: Buffer) => {
    const result = await assembly.partition('t', partition).append(records, OPTIONS)
    assert.equal(result.kind, 'appended')
  }

  const fetch = async (partitions: Readonly<Record<number, Asked>>, more: object = {}, version = 11) => {
    const answer = await assembly.ask('Fetch', version, {
      maxWaitMs: 0,
      minBytes: 1,
      topics: [
        {
          topic: 't',
          partitions: Object.entries(partitions).map(([partition, asked]) => ({
            partition: Number(partition),
            fetchOffset: 0,
            partitionMaxBytes: 1_000_000,
            ...asked,
          })),
        },
      ],
      ...more,
    })
    if (typeof answer === 'string') return []
    return answer.responses.flatMap(({ partitions }) =>
      partitions.map(({ partitionIndex, errorCode, records }) => {
        const bytes = records ?? Buffer.alloc(0)
        const whole = [...iterateBatches(bytes)]
        return {
          partition: partitionIndex,
          error: errorName(errorCode),
          offsets: whole.map(({ baseOffset }) => baseOffset),
          cut: bytes.length - whole.reduce((sum, { sizeInBytes }) => sum + sizeInBytes, 0),
        }
      }),
    )
  }

  /** Lets promises that are ready go on. */
  const settle = () => new Promise((resolve) => setImmediate(resolve))

  it('sends a batch larger than every limit whole, one partition at a time, until all are had (A-008)', async function () {
    this.timeout(20_000)
    const config = { 'message.max.bytes': '3000000' }
    assembly = await Assembly.start([{ name: 't', partitions: 10 }], config)
    for (let partition = 0; partition < 10; partition++) await produce(partition, batch(2_000_000))
    const at = Array.from({ length: 10 }, () => 0)
    let order = Array.from({ length: 10 }, (_, partition) => partition)
    for (let round = 0; round < 10; round++) {
      const wanted = order.map((partition) => ({ partition, fetchOffset: at[partition]!, partitionMaxBytes: 1_000_000 }))
      const answer = await assembly.ask('Fetch', 11, { maxWaitMs: 0, minBytes: 1, topics: [{ topic: 't', partitions: wanted }] })
      assert.ok(typeof answer !== 'string')
      const had = answer.responses[0]!.partitions.filter(({ records }) => (records?.length ?? 0) > 0)
      assert.equal(had.length, 1)
      assert.equal([...iterateBatches(had[0]!.records!)].length, 1)
      const { partitionIndex } = had[0]!
      at[partitionIndex] = 1
      order = [...order.filter((partition) => partition !== partitionIndex), partitionIndex]
    }
    assert.deepEqual(at, Array(10).fill(1))
  })

  it('never answers more than fetch.max.bytes, whatever is asked for', async () => {
    assembly = await Assembly.start([{ name: 't', partitions: 3 }], { 'fetch.max.bytes': '1500' })
    for (const partition of [0, 1, 2]) await produce(partition, batch(900))
    const answers = await fetch({ 0: {}, 1: {}, 2: {} }, { maxBytes: 2 ** 31 - 1 })
    assert.deepEqual(
      answers.map(({ offsets }) => offsets),
      [[0], [], []],
    )
  })

  describe('with too few bytes', () => {
    it('waits for the time that it is given, and answers what there is', async () => {
      await produce(0, batch(10))
      const asked = fetch({ 0: {}, 1: {} }, { maxWaitMs: 500, minBytes: 1000 })
      await settle()
      assert.equal(assembly.waiting, 1)
      assembly.time.advance(499)
      await settle()
      assert.equal(assembly.waiting, 1)
      assembly.time.advance(1)
      assert.deepEqual(
        (await asked).map(({ offsets }) => offsets),
        [[0], []],
      )
      assert.equal(assembly.waiting, 0)
    })

    it('answers as soon as there are enough, over all its partitions', async () => {
      const asked = fetch({ 0: {}, 1: {} }, { maxWaitMs: 500, minBytes: 400 })
      await settle()
      await produce(0, batch(100))
      await settle()
      assert.equal(assembly.waiting, 1)
      await produce(1, batch(300))
      assert.deepEqual(
        (await asked).map(({ offsets }) => offsets),
        [[0], [0]],
      )
      assert.equal(assembly.waitingTimers, 0)
    })

    it('counts no more of a partition than it may send of it', async () => {
      const asked = fetch({ 0: { partitionMaxBytes: 100 } }, { maxWaitMs: 500, minBytes: 400 })
      await settle()
      await produce(0, batch(1000))
      await settle()
      assert.equal(assembly.waiting, 1)
      assembly.time.advance(500)
      assert.deepEqual((await asked)[0]?.offsets, [0])
    })

    it('is forgotten when its client goes', async () => {
      const asked = fetch({ 0: {} }, { maxWaitMs: 2 ** 31 - 1, minBytes: 1 })
      await settle()
      assert.equal(assembly.waiting, 1)
      assembly.hangUp()
      assert.deepEqual(await asked, [])
      assert.equal(assembly.waiting, 0)
      assert.equal(assembly.waitingTimers, 0)
    })

    it('answers at once when the partition is led no longer', async () => {
      const asked = fetch({ 0: { currentLeaderEpoch: 0 } }, { maxWaitMs: 500, minBytes: 1 })
      await settle()
      await assembly.partition('t').goOffline('NOT_LEADER_OR_FOLLOWER', 'moved')
      assert.equal((await asked)[0]?.error, 'NOT_LEADER_OR_FOLLOWER')
    })

    it('does not wait beside an error', async () => {
      const answers = await fetch({ 0: {}, 1: { fetchOffset: 9 } }, { maxWaitMs: 500 })
      assert.deepEqual(
        answers.map(({ error }) => error),
        ['NONE', 'OFFSET_OUT_OF_RANGE'],
      )
    })
  })

  it('shows storage errors to old clients as a leader that moved', async () => {
    await assembly.partition('t').goOffline('KAFKA_STORAGE_ERROR', 'the disk failed')
    assert.equal((await fetch({ 0: {} }, {}, 5))[0]?.error, 'NOT_LEADER_OR_FOLLOWER')
    assert.equal((await fetch({ 0: {} }, {}, 6))[0]?.error, 'KAFKA_STORAGE_ERROR')
  })

  it('fences a consumer of an older epoch and says where the leader is from v16 on', async () => {
    const { log, config } = assembly.partition('t')
    assert.ok(log !== undefined && config !== undefined)
    await assembly.partition('t').becomeLeader(log, { leaderEpoch: 4, isr: [0], replicas: [0] })
    assert.equal((await fetch({ 0: { currentLeaderEpoch: 3 } }))[0]?.error, 'FENCED_LEADER_EPOCH')
    assert.equal((await fetch({ 0: { currentLeaderEpoch: 5 } }))[0]?.error, 'UNKNOWN_LEADER_EPOCH')
    const partitions = [{ partition: 0, currentLeaderEpoch: 3, partitionMaxBytes: 1 }]
    for (const version of [15, 16]) {
      const answer = await assembly.ask('Fetch', version, {
        maxWaitMs: 0,
        topics: [{ topicId: assembly.topicId('t'), partitions }],
      })
      assert.ok(typeof answer !== 'string')
      assert.equal(answer.responses[0]!.partitions[0]!.currentLeader.leaderId, version >= 16 ? 0 : -1)
      assert.equal(answer.nodeEndpoints.length, version >= 16 ? 1 : 0)
    }
  })

  it('answers the end of an epoch in which nothing was written (A-025)', async () => {
    await produce(0, batch())
    const { log } = assembly.partition('t')
    await assembly.partition('t').becomeLeader(log!, { leaderEpoch: 7, isr: [0], replicas: [0] })
    const ask = async (leaderEpoch: number) => {
      const topics = [{ topic: 't', partitions: [{ partition: 0, leaderEpoch }] }]
      const answer = await assembly.ask('OffsetForLeaderEpoch', 4, { replicaId: -1, topics })
      assert.ok(typeof answer !== 'string')
      const { leaderEpoch: epoch, endOffset } = answer.topics[0]!.partitions[0]!
      return [epoch, endOffset]
    }
    assert.deepEqual(await ask(6), [0, 1])
    assert.deepEqual(await ask(7), [7, 1])
    await produce(0, batch())
    assert.deepEqual(await ask(7), [7, 2])
  })

  it('finds out that a reader has what was cut (KIP-320)', async () => {
    await produce(0, batch())
    const { log } = assembly.partition('t')
    await assembly.partition('t').becomeLeader(log!, { leaderEpoch: 7, isr: [0], replicas: [0] })
    await produce(0, batch())
    const partitions = [{ partition: 0, fetchOffset: 2, lastFetchedEpoch: 3, partitionMaxBytes: 1000 }]
    const answer = await assembly.ask('Fetch', 12, { maxWaitMs: 500, topics: [{ topic: 't', partitions }] })
    assert.ok(typeof answer !== 'string')
    const { divergingEpoch, records } = answer.responses[0]!.partitions[0]!
    assert.deepEqual({ epoch: divergingEpoch.epoch, endOffset: divergingEpoch.endOffset }, { epoch: 0, endOffset: 1 })
    assert.equal(records?.length, 0)
  })

  describe('of a transaction that is open', () => {
    const ofProducer = { transactional: true, producerId: 9, producerEpoch: 0, baseSequence: 0 }

    it('reads up to the last stable offset when it asks for committed records', async () => {
      await produce(0, batch())
      await produce(0, batch(1, ofProducer))
      await produce(0, batch())
      assert.deepEqual((await fetch({ 0: {} }, { isolationLevel: 1 }))[0]?.offsets, [0])
      assert.deepEqual((await fetch({ 0: {} }, { isolationLevel: 0 }))[0]?.offsets, [0, 1, 2])
    })

    const end = async (commit: boolean) => {
      const marker = endTransactionMarker({
        producerId: 9,
        producerEpoch: 0,
        commit,
        coordinatorEpoch: 0,
        timestamp: 1_700_000_000_001,
      })
      const result = await assembly.partition('t').append(marker, { ...OPTIONS, origin: 'coordinator' })
      assert.equal(result.kind, 'appended')
    }

    it('answers who waits when it ends, and names what was aborted', async () => {
      await produce(0, batch(1, ofProducer))
      const topics = [{ topic: 't', partitions: [{ partition: 0, fetchOffset: 0, partitionMaxBytes: 1000 }] }]
      const asked = assembly.ask('Fetch', 11, { maxWaitMs: 500, minBytes: 1, isolationLevel: 1, topics })
      await settle()
      assert.equal(assembly.waiting, 1)
      await end(false)
      const answer = await asked
      assert.ok(typeof answer !== 'string')
      const { abortedTransactions, records } = answer.responses[0]!.partitions[0]!
      assert.deepEqual(
        abortedTransactions?.map(({ producerId, firstOffset }) => ({ producerId, firstOffset })),
        [{ producerId: 9, firstOffset: 0 }],
      )
      assert.equal([...iterateBatches(records!)].length, 2)
    })

    it('does not stop clients that know no markers', async () => {
      await produce(0, batch(1, ofProducer))
      await end(true)
      await produce(0, batch())
      const topics = [{ topic: 't', partitions: [{ partition: 0, fetchOffset: 1, partitionMaxBytes: 1 }] }]
      const answer = await assembly.ask('Fetch', 3, { maxWaitMs: 0, minBytes: 1, topics })
      assert.ok(typeof answer !== 'string')
      const messages = [...iterateAnyBatches(answer.responses[0]!.partitions[0]!.records!)]
      assert.deepEqual(
        messages.map(({ magic, nextOffset }) => [magic, nextOffset]),
        [[1, 3]],
      )
    })

    it('waits behind it, however much is appended', async () => {
      await produce(0, batch(1, ofProducer))
      const asked = fetch({ 0: {} }, { isolationLevel: 1, maxWaitMs: 500 })
      await settle()
      await produce(0, batch(1000))
      await settle()
      assert.equal(assembly.waiting, 1)
      assembly.time.advance(500)
      assert.deepEqual((await asked)[0]?.offsets, [])
    })
  })
})
