// A broker whose time the test holds: waits, retention and sessions follow it, and a wall clock that jumps harms nobody.
import assert from 'node:assert/strict'
import { BatchBuilder, errorByCode } from '@mq/protocol'
import { ManualTime } from './manual-time.js'
import { type RunningBroker, startBroker } from './start-broker.js'
import { RawClient } from './testing/raw-client.js'

const HOUR = 3_600_000

describe('A broker whose time the test holds', () => {
  let time: ManualTime
  let broker: RunningBroker
  let client: RawClient
  beforeEach(async () => {
    time = new ManualTime()
    broker = await startBroker({ environment: { clock: time, timers: time } })
    client = await RawClient.connect(broker.port)
  })
  afterEach(async () => {
    client.end()
    await broker.close()
  })
  const create = (name: string, configs: Record<string, string> = {}) =>
    client.ask('CreateTopics', 5, {
      topics: [
        {
          name,
          numPartitions: 1,
          replicationFactor: 1,
          configs: Object.entries(configs).map(([key, value]) => ({ name: key, value })),
        },
      ],
      timeoutMs: 5000,
    })
  const produce = (name: string) => {
    const builder = new BatchBuilder({})
    builder.tryAppend({ timestamp: time.now(), key: null, value: Buffer.from('x'), headers: [] })
    const topicData = [{ name, partitionData: [{ index: 0, records: builder.build() }] }]
    return client.ask('Produce', 9, { acks: -1, timeoutMs: 5000, topicData })
  }
  const earliest = async (name: string) => {
    const partitions = [{ partitionIndex: 0, timestamp: -2 }]
    const { topics } = await client.ask('ListOffsets', 7, { replicaId: -1, topics: [{ name, partitions }] })
    return topics[0]!.partitions[0]!.offset
  }
  /** Requests that the client has sent are with the broker when one on another connection was answered. */
  const arrived = async () => {
    const other = await RawClient.connect(broker.port)
    await other.ask('ApiVersions', 0, {})
    other.end()
  }

  it('answers an empty fetch when its wait is over, not before', async () => {
    await create('quiet')
    let answered = false
    const partitions = [{ partition: 0, fetchOffset: 0, partitionMaxBytes: 1000 }]
    const fetch = client
      .ask('Fetch', 4, { replicaId: -1, maxWaitMs: 30_000, minBytes: 1, topics: [{ topic: 'quiet', partitions }] })
      .finally(() => {
        answered = true
      })
    await arrived()
    await time.advance(29_999)
    await arrived()
    assert.equal(answered, false)
    await time.advance(1)
    assert.equal(errorByCode((await fetch).responses[0]!.partitions[0]!.errorCode), 'NONE')
  })

  it('deletes records when they are as old as the topic says', async () => {
    await create('aging', { 'retention.ms': String(2 * HOUR) })
    await produce('aging')
    const pass = async (ms: number) => {
      await time.advance(ms)
      // The old connection was idle for too long.
      await client.closed()
      client = await RawClient.connect(broker.port)
    }
    await pass(HOUR)
    assert.equal(await earliest('aging'), 0)
    await pass(2 * HOUR)
    assert.equal(await earliest('aging'), 1)
  })

  it('expels no member when the wall clock jumps an hour on and two back, and expels one that is silent', async () => {
    await client.ask('FindCoordinator', 3, { key: 'g', keyType: 0 })
    const join = (memberId: string) =>
      client.ask('JoinGroup', 5, {
        groupId: 'g',
        sessionTimeoutMs: 10_000,
        rebalanceTimeoutMs: 10_000,
        memberId,
        protocolType: 'consumer',
        protocols: [{ name: 'range', metadata: Buffer.alloc(0) }],
      })
    const { memberId } = await join('')
    const { generationId } = await join(memberId)
    await client.ask('SyncGroup', 3, {
      groupId: 'g',
      generationId,
      memberId,
      assignments: [{ memberId, assignment: Buffer.alloc(0) }],
    })
    const heartbeat = async () =>
      errorByCode((await client.ask('Heartbeat', 3, { groupId: 'g', generationId, memberId })).errorCode)
    for (const jump of [HOUR, -2 * HOUR]) {
      time.setWallClock(time.now() + jump)
      await time.advance(9_000)
      assert.equal(await heartbeat(), 'NONE')
    }
    await time.advance(10_001)
    assert.equal(await heartbeat(), 'UNKNOWN_MEMBER_ID')
  })

  it('has no timer left when it is closed', async () => {
    await create('something')
    await broker.close()
    assert.equal(time.pendingTimers, 0)
  })
})
