import assert from 'node:assert/strict'
import { logLevel } from '../enums.js'
import { type ConsumerConfig, Kafka } from '../kafka.js'
import { nodeEnvironment } from '../node-environment.js'
import type { Timers } from '../ports.js'
import { FakeGroup, until } from '../testing/fake-group.js'
import type { Consumer } from './consumer.js'
import type { EachBatchPayload } from './runner.js'

const ILLEGAL_GENERATION = 22
const UNKNOWN_MEMBER_ID = 25
const REBALANCE_IN_PROGRESS = 27
const COORDINATOR_LOAD_IN_PROGRESS = 14

const REQUEST_TIMEOUT_MS = 5_000
const MAX_WAIT_MS = 20

describe('the consumer', () => {
  let group: FakeGroup
  const consumers: Consumer[] = []
  /** Names of the events that matter here, in order. */
  let events: string[]
  let crashes: { error: Error; restart: boolean }[]

  const start = async (options: { partitions?: number } = {}) => {
    group = await new FakeGroup(options).listen()
  }

  const consumerOf = (config: Partial<ConsumerConfig> = {}, { timers = nodeEnvironment.timers } = {}): Consumer => {
    const kafka = new Kafka(
      {
        brokers: [group.broker.address],
        logLevel: logLevel.NOTHING,
        requestTimeout: REQUEST_TIMEOUT_MS,
        retry: { initialRetryTime: 1, retries: 3 },
      },
      { ...nodeEnvironment, timers, variables: {} },
    )
    const consumer = kafka.consumer({ groupId: 'g', maxWaitTimeInMs: MAX_WAIT_MS, ...config })
    const { CONNECT, GROUP_JOIN, REBALANCING, STOP, DISCONNECT, CRASH } = consumer.events
    for (const name of [CONNECT, GROUP_JOIN, REBALANCING, STOP, DISCONNECT, CRASH])
      consumer.on(name, ({ type }) => void events.push(type.replace('consumer.', '')))
    consumer.on(CRASH, ({ payload }) => void crashes.push(payload))
    consumers.push(consumer)
    return consumer
  }

  const connected = async (config: Partial<ConsumerConfig> = {}, { fromBeginning = true } = {}): Promise<Consumer> => {
    const consumer = consumerOf(config)
    await consumer.connect()
    await consumer.subscribe({ topics: ['t'], fromBeginning })
    return consumer
  }

  beforeEach(() => {
    events = []
    crashes = []
  })
  afterEach(async () => {
    for (const consumer of consumers.splice(0)) await consumer.disconnect()
    await group.close()
  })

  it('joins with the id that the coordinator gives, delivers in order, commits, and leaves', async () => {
    await start()
    group.append(0, 'a', 'b', 'c')
    const consumer = await connected()
    const seen: string[] = []
    await consumer.run({ eachMessage: async ({ message }) => void seen.push(`${message.offset}:${message.value}`) })
    await until(() => group.committed.get(0) === 3, 'the batch is committed')
    assert.deepEqual(seen, ['0:a', '1:b', '2:c'])
    await consumer.disconnect()
    assert.equal(group.broker.count('LeaveGroup'), 1)
    assert.deepEqual(events, ['connect', 'group_join', 'stop', 'disconnect'])
    assert.deepEqual(
      group.broker.requests.filter(({ api }) => api === 'JoinGroup').map(({ body }) => (body as { memberId: string }).memberId),
      ['', 'member-1'],
    )
  })

  it('waits for a coordinator that is loading, without a crash', async () => {
    await start()
    let loading = 3
    const { JoinGroup } = group.broker.answers
    group.broker.answers.JoinGroup = (...args) =>
      loading-- > 0 ? { errorCode: COORDINATOR_LOAD_IN_PROGRESS } : JoinGroup!(...args)
    const consumer = await connected()
    await consumer.run({ eachMessage: async () => {} })
    assert.deepEqual(events, ['connect', 'group_join'])
    assert.equal(group.broker.count('FindCoordinator') > 1, true)
  })

  for (const [name, errorCode] of Object.entries({ ILLEGAL_GENERATION, UNKNOWN_MEMBER_ID, REBALANCE_IN_PROGRESS }))
    it(`joins again when a commit gets ${name}, and does not crash`, async () => {
      await start()
      group.append(0, 'a')
      let refusals = 1
      const { OffsetCommit } = group.broker.answers
      group.broker.answers.OffsetCommit = (...args) =>
        refusals-- > 0 ? { topics: [{ name: 't', partitions: [{ partitionIndex: 0, errorCode }] }] } : OffsetCommit!(...args)
      const consumer = await connected()
      const seen: string[] = []
      await consumer.run({ eachMessage: async ({ message }) => void seen.push(String(message.value)) })
      await until(() => events.length >= 4, 'it has joined again')
      assert.deepEqual(events, ['connect', 'group_join', 'rebalancing', 'group_join'])
      group.append(0, 'b')
      await until(() => group.committed.get(0) === 2, 'the commit succeeds in the new generation')
      assert.equal(seen.at(-1), 'b')
      assert.deepEqual(crashes, [])
    })

  it('joins again when the program’s own commit is refused, and tells it', async () => {
    await start()
    const consumer = await connected()
    await consumer.run({ autoCommit: false, eachMessage: async () => {} })
    group.broker.answers.OffsetCommit = () => ({
      topics: [{ name: 't', partitions: [{ partitionIndex: 0, errorCode: ILLEGAL_GENERATION }] }],
    })
    await assert.rejects(consumer.commitOffsets([{ topic: 't', partition: 0, offset: '7' }]), { type: 'ILLEGAL_GENERATION' })
    await until(() => group.generation === 2, 'the member has joined again')
    assert.deepEqual(crashes, [])
  })

  it('beats in the background while a handler is busy, also while the group waits for it', async () => {
    await start()
    group.append(0, 'slow')
    let release = (): void => {}
    const consumer = await connected({ heartbeatInterval: 5, sessionTimeout: 1_000 })
    await consumer.run({
      eachMessage: () =>
        new Promise((resolve) => {
          release = resolve
        }),
    })
    await until(() => group.broker.count('Heartbeat') >= 3, 'it has beaten three times during the handler')
    group.broker.answers.Heartbeat = () => ({ errorCode: REBALANCE_IN_PROGRESS })
    await until(() => events.includes('rebalancing'), 'it knows of the rebalance')
    const before = group.broker.count('Heartbeat')
    await until(() => group.broker.count('Heartbeat') >= before + 3, 'it goes on beating while the handler runs')
    assert.equal(group.generation, 1)
    group.broker.answers.Heartbeat = () => ({})
    release()
    await until(() => group.generation === 2, 'it joins again after the handler')
    assert.equal(group.committed.get(0), 1)
    assert.deepEqual(crashes, [])
  })

  it('asks again for an offset that a lagging leader calls out of range', async () => {
    await start()
    group.append(0, 'a', 'b', 'c')
    group.committed.set(0, 2)
    let lies = 1
    const { Fetch } = group.broker.answers
    group.broker.answers.Fetch = (...args) =>
      lies-- > 0
        ? { responses: [{ topic: 't', partitions: [{ partitionIndex: 0, errorCode: 1, highWatermark: 1 }] }] }
        : Fetch!(...args)
    const consumer = await connected()
    const seen: string[] = []
    await consumer.run({ eachMessage: async ({ message }) => void seen.push(String(message.value)) })
    await until(() => seen.length > 0, 'something is delivered')
    assert.deepEqual(seen, ['c'])
  })

  for (const [fromBeginning, expected] of [
    [true, 'b'],
    [false, 'd'],
  ] as const)
    it(`resets an offset outside the log to the ${fromBeginning ? 'beginning' : 'end'}, as subscribed`, async () => {
      await start()
      group.append(0, 'a', 'b', 'c')
      group.logStart[0] = 1
      group.committed.set(0, 0)
      const consumer = await connected({}, { fromBeginning })
      const seen: string[] = []
      await consumer.run({ eachMessage: async ({ message }) => void seen.push(String(message.value)) })
      await until(() => group.broker.count('ListOffsets') >= 2 && group.broker.count('Fetch') >= 2, 'it has been reset')
      group.append(0, 'd')
      await until(() => seen.includes('d'), 'it goes on')
      assert.equal(seen[0], expected)
    })

  it('recovers from a broker that answers heartbeats but no fetch', async () => {
    await start()
    group.append(0, 'a')
    const { Fetch } = group.broker.answers
    const limits: (() => void)[] = []
    const timers: Timers = {
      after(delayMs, fire) {
        if (delayMs !== MAX_WAIT_MS + REQUEST_TIMEOUT_MS) return nodeEnvironment.timers.after(delayMs, fire)
        limits.push(fire)
        return () => {}
      },
    }
    let silences = 1
    group.broker.answers.Fetch = (...args) => {
      if (silences-- <= 0) return Fetch!(...args)
      setImmediate(() => limits[0]!())
      return 'silence'
    }
    const consumer = consumerOf({ heartbeatInterval: 5, sessionTimeout: 1_000 }, { timers })
    const timedOut: string[] = []
    consumer.on(consumer.events.REQUEST_TIMEOUT, ({ payload }) => void timedOut.push(payload.apiName))
    await consumer.connect()
    await consumer.subscribe({ topics: ['t'], fromBeginning: true })
    const seen: string[] = []
    await consumer.run({ eachMessage: async ({ message }) => void seen.push(String(message.value)) })
    await until(() => seen.length === 1, 'it is delivered on a new connection')
    assert.deepEqual(timedOut, ['Fetch'])
    await until(() => group.broker.count('Heartbeat') > 3, 'its heartbeats go on')
    assert.deepEqual(events, ['connect', 'group_join'])
  })

  it('does not deliver a partition that its handler paused before it threw, until it is resumed', async () => {
    await start()
    group.append(0, 'a', 'b')
    const consumer = await connected()
    const seen: string[] = []
    let isFirst = true
    await consumer.run({
      eachMessage: async ({ message, topic, partition }) => {
        seen.push(String(message.value))
        if (!isFirst) return
        isFirst = false
        consumer.pause([{ topic, partitions: [partition] }])
        throw new Error('not now')
      },
    })
    await until(() => group.broker.count('Heartbeat') + group.broker.count('Fetch') >= 1 && seen.length === 1, 'it failed')
    await new Promise((resolve) => setTimeout(resolve, 30))
    assert.deepEqual(seen, ['a'])
    assert.deepEqual(consumer.paused(), [{ topic: 't', partitions: [0] }])
    consumer.resume([{ topic: 't' }])
    await until(() => seen.length === 3, 'the rest is delivered')
    assert.deepEqual(seen, ['a', 'a', 'b'])
  })

  it('delivers a batch again whose handler threw before it resolved anything, also after a crash, with nothing committed', async () => {
    await start()
    const consumer = await connected({}, { fromBeginning: false })
    const batches: string[] = []
    let failures = 5
    await consumer.run({
      eachBatch: async ({ batch }) => {
        batches.push(batch.messages.map(({ value }) => String(value)).join())
        if (failures-- > 0) throw new Error('cannot')
      },
    })
    await until(() => group.broker.count('Fetch') >= 1, 'it waits at the end')
    group.append(0, 'a', 'b')
    await until(() => group.committed.get(0) === 2, 'it is done')
    assert.deepEqual(batches, Array(6).fill('a,b'))
    assert.deepEqual(
      crashes.map(({ error, restart }) => [error.name, restart]),
      [['KafkaJSNumberOfRetriesExceeded', true]],
    )
  })

  it('commits what the program says in eachBatch, and nothing by itself when autoCommit is off', async () => {
    await start()
    group.append(0, 'a', 'b', 'c')
    const consumer = await connected()
    const steps: unknown[] = []
    let isDone = false
    await consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      eachBatch: async ({ batch, resolveOffset, commitOffsetsIfNecessary, uncommittedOffsets }: EachBatchPayload) => {
        if (isDone) return
        resolveOffset(batch.messages[1]!.offset)
        await commitOffsetsIfNecessary()
        steps.push([...group.commits])
        steps.push(uncommittedOffsets())
        await commitOffsetsIfNecessary(uncommittedOffsets())
        steps.push([...group.commits])
        await consumer.commitOffsets([{ topic: 't', partition: 0, offset: '1' }])
        isDone = true
      },
    })
    await until(() => isDone, 'the handler is done')
    await consumer.stop()
    assert.deepEqual(steps, [[], { topics: [{ topic: 't', partitions: [{ partition: 0, offset: '2' }] }] }, [[0, 2]]])
    assert.deepEqual(group.commits, [
      [0, 2],
      [0, 1],
    ])
  })

  it('commits after so many messages, not before', async () => {
    await start()
    group.append(0, 'a', 'b', 'c', 'd', 'e')
    const consumer = await connected()
    const atCommits: number[] = []
    let handled = 0
    consumer.on(consumer.events.COMMIT_OFFSETS, () => void atCommits.push(handled))
    await consumer.run({
      autoCommitThreshold: 2,
      eachMessage: async () => {
        handled++
      },
    })
    await until(() => handled === 5, 'all are handled')
    await consumer.stop()
    assert.deepEqual(atCommits, [2, 4, 5])
    assert.deepEqual(group.commits, [
      [0, 2],
      [0, 4],
      [0, 5],
    ])
  })

  it('returns from disconnect() and stop() inside a handler, commits the message before it, and leaves', async () => {
    for (const end of ['disconnect', 'stop'] as const) {
      await start()
      group.append(0, 'a', 'b', 'c')
      const consumer = await connected()
      const seen: string[] = []
      await consumer.run({
        eachMessage: async ({ message }) => {
          seen.push(String(message.value))
          if (seen.length === 2) await consumer[end]()
        },
      })
      await until(() => group.broker.count('LeaveGroup') === 1, 'it has left')
      assert.deepEqual(seen, ['a', 'b'])
      assert.equal(group.committed.get(0), 2)
      await consumer.disconnect()
      await group.close()
    }
    await start()
  })

  it('drops the rest of the batch when the handler seeks, and goes on at the new offsets of all partitions', async () => {
    await start({ partitions: 2 })
    group.append(0, 'a0', 'a1', 'a2', 'a3')
    group.append(1, 'b0', 'b1', 'b2', 'b3')
    const consumer = await connected()
    const seen: string[] = []
    let hasSought = false
    await consumer.run({
      eachMessage: async ({ message, partition, topic }) => {
        seen.push(String(message.value))
        if (hasSought) return
        hasSought = true
        assert.equal(partition === 0 || partition === 1, true)
        consumer.seek({ topic, partition: 0, offset: '3' })
        consumer.seek({ topic, partition: 1, offset: '2' })
      },
    })
    await until(() => seen.includes('a3') && seen.includes('b3'), 'both go on')
    assert.deepEqual(seen.slice(1).sort(), ['a3', 'b2', 'b3'])
  })

  it('passes holes that compaction left', async () => {
    await start()
    group.append(0, 'a', 'b', 'c', ...Array(5).fill(undefined), 'i')
    group.committed.set(0, 3)
    const consumer = await connected()
    const seen: string[] = []
    await consumer.run({ eachMessage: async ({ message }) => void seen.push(message.offset) })
    await until(() => group.committed.get(0) === 9, 'it is committed')
    assert.deepEqual(seen, ['8'])
  })

  it('crashes for good on a programming error: leaves, disconnects, and can be run again', async () => {
    await start()
    group.append(0, 'a')
    const consumer = await connected()
    let isBroken = true
    const run = () =>
      consumer.run({
        eachMessage: async () => {
          if (isBroken) throw new TypeError('undefined is no function')
        },
      })
    await run()
    await until(() => crashes.length === 1, 'it has crashed')
    assert.deepEqual([crashes[0]!.error.name, crashes[0]!.restart], ['KafkaJSNonRetriableError', false])
    assert.deepEqual(events.slice(-3), ['stop', 'disconnect', 'crash'])
    assert.equal(group.broker.count('LeaveGroup'), 1)
    isBroken = false
    await until(() => consumer.paused().length === 0, 'it is idle')
    await consumer.connect()
    await run()
    await until(() => group.committed.get(0) === 1, 'it consumes')
  })

  it('does not restart when restartOnFailure says so, and resolves run() after the failed join', async () => {
    await start()
    group.broker.answers.JoinGroup = () => ({ errorCode: COORDINATOR_LOAD_IN_PROGRESS })
    const asked: string[] = []
    const consumer = await connected({
      retry: {
        retries: 1,
        initialRetryTime: 1,
        restartOnFailure: async (error) => {
          asked.push(error.name)
          return false
        },
      },
    })
    await consumer.run({ eachMessage: async () => {} })
    await until(() => crashes.length === 1, 'it has crashed')
    assert.deepEqual(asked, ['KafkaJSNumberOfRetriesExceeded'])
    assert.equal(crashes[0]!.restart, false)
  })

  it('holds no more than one fetched chunk per partition while a handler is slow', async () => {
    await start({ partitions: 3 })
    for (const partition of [0, 1, 2]) group.append(partition, ...Array(10).fill('x'))
    const consumer = await connected()
    let release = (): void => {}
    await consumer.run({
      eachMessage: () =>
        new Promise((resolve) => {
          release = resolve
        }),
    })
    await until(() => group.broker.count('Fetch') >= 3, 'it has fetched')
    for (const partition of [0, 1, 2]) group.append(partition, ...Array(10).fill('y'))
    await new Promise((resolve) => setTimeout(resolve, 60))
    const asked = group.broker.requests
      .filter(({ api }) => api === 'Fetch')
      .flatMap(
        ({ body }) => (body as { topics: { partitions: { partition: number; fetchOffset: number }[] }[] }).topics[0]!.partitions,
      )
    // The partition at work is read ahead once; the two that wait are not asked for again.
    for (const partition of [0, 1, 2]) assert.ok(asked.every((each) => each.partition !== partition || each.fetchOffset <= 10))
    assert.equal(new Set(asked.filter(({ fetchOffset }) => fetchOffset === 10).map(({ partition }) => partition)).size, 1)
    release()
    void consumer.stop()
    release()
  })

  it('refuses bad arguments with kafkajs’ texts', async () => {
    await start()
    const consumer = await connected()
    const notRunning = 'Consumer group was not initialized, consumer#run must be called first'
    assert.throws(() => consumer.seek({ topic: 't', partition: 0, offset: '1' }), { message: notRunning })
    assert.throws(() => consumer.pause([{ topic: 't' }]), { message: notRunning })
    await assert.rejects(consumer.subscribe({} as never), { message: 'Missing required argument "topics"' })
    await assert.rejects(consumer.subscribe({ topics: 't' as never }), { message: 'Argument "topics" must be an array' })
    await assert.rejects(consumer.subscribe({ topics: [3 as never] }), {
      message: 'Invalid topic 3 (number), the topic name has to be a String or a RegExp',
    })
    await consumer.run({ eachMessage: async () => {} })
    await assert.rejects(consumer.subscribe({ topic: 'u' }), { message: 'Cannot subscribe to topic while consumer is running' })
    assert.throws(() => consumer.seek({ topic: 't', partition: 0, offset: '-3' }), {
      message: 'Offset must not be a negative number',
    })
    assert.throws(() => consumer.seek({ topic: 't', partition: 0, offset: 'x' }), {
      message: 'Invalid offset, expected a long received x',
    })
    assert.throws(() => consumer.pause([{ topic: 't', partitions: 1 as never }]), {
      message: 'Array of valid partitions required to pause specific partitions instead of 1',
    })
    await assert.rejects(consumer.commitOffsets([{ topic: 't', partition: 0, offset: '1', metadata: 5 as never }]), {
      message: 'Invalid offset metadata, expected string or null, received 5',
    })
    assert.throws(
      () => consumer.on('consumer.nothing' as never, () => {}),
      /Event name should be one of consumer\.events\.HEARTBEAT, /,
    )
  })

  it('runs with the topics that were found after another one was refused', async () => {
    await start()
    group.append(0, 'a')
    const { Metadata } = group.broker.answers
    const INVALID_TOPIC_EXCEPTION = 17
    group.broker.answers.Metadata = (request, call) =>
      request.topics?.some(({ name }) => name === 'bad name')
        ? {
            brokers: [{ nodeId: 1, host: '127.0.0.1', port: group.broker.port }],
            controllerId: 1,
            clusterId: 'fake',
            topics: [{ name: 'bad name', errorCode: INVALID_TOPIC_EXCEPTION, partitions: [] }],
          }
        : Metadata!(request, call)
    const consumer = await connected()
    await assert.rejects(consumer.subscribe({ topics: ['bad name'] }), { type: 'INVALID_TOPIC_EXCEPTION' })
    const seen: string[] = []
    await consumer.run({ eachMessage: async ({ message }) => void seen.push(String(message.value)) })
    await until(() => seen.length === 1, 'the message is here')
    assert.deepEqual(crashes, [])
  })

  it('may subscribe before it connects, as with kafkajs', async () => {
    await start()
    group.append(0, 'a')
    const consumer = consumerOf()
    await consumer.subscribe({ topics: ['t'], fromBeginning: true })
    await consumer.connect()
    const seen: string[] = []
    await consumer.run({ eachMessage: async ({ message }) => void seen.push(String(message.value)) })
    await until(() => seen.length === 1, 'the message is here')
    assert.deepEqual(events, ['connect', 'group_join'])
  })

  for (const topic of ['constructor', '__proto__'])
    it(`reads a topic called ${topic}`, async () => {
      group = await new FakeGroup({ topic }).listen()
      group.append(0, 'a')
      const consumer = consumerOf()
      await consumer.connect()
      await consumer.subscribe({ topics: [topic], fromBeginning: true })
      const seen: string[] = []
      await consumer.run({ eachMessage: async (each) => void seen.push(`${each.topic} ${each.message.value}`) })
      await until(() => group.committed.get(0) === 1, 'the batch is committed')
      assert.deepEqual(seen, [`${topic} a`])
    })

  it('leaves an offset that the program committed alone until more is resolved', async () => {
    await start()
    group.append(0, 'a', 'b', 'c')
    const consumer = await connected()
    await consumer.run({ eachMessage: async () => {} })
    await until(() => group.committed.get(0) === 3, 'the batch is committed')
    await consumer.commitOffsets([{ topic: 't', partition: 0, offset: '1' }])
    await consumer.stop()
    assert.equal(group.committed.get(0), 1)
    await consumer.run({ eachMessage: async () => {} })
    await until(() => group.committed.get(0) === 3, 'the rest is read again and committed')
  })

  it('crashes over a partition that fails again and again, however well another one goes', async () => {
    await start({ partitions: 2 })
    group.append(0, 'bad')
    group.append(1, 'good')
    const consumer = await connected({ retry: { initialRetryTime: 20, restartOnFailure: async () => false } })
    await consumer.run({
      partitionsConsumedConcurrently: 2,
      eachMessage: async ({ partition }) => {
        if (partition === 0) throw new Error('cannot')
        group.append(1, 'one more')
      },
    })
    await until(() => crashes.length === 1, 'the tries are used up')
    assert.equal(crashes[0]!.error.name, 'KafkaJSNumberOfRetriesExceeded')
  })

  it('joins again for a partition that was added while it began', async () => {
    await start()
    const { OffsetFetch } = group.broker.answers
    let added = false
    group.broker.answers.OffsetFetch = (...args) => {
      if (!added) group.logs.push([])
      if (!added) group.logStart.push(0)
      added = true
      return OffsetFetch!(...args)
    }
    const consumer = await connected({ metadataMaxAge: 1 })
    await consumer.run({ eachMessage: async () => {} })
    await until(() => events.filter((name) => name === 'group_join').length === 2, 'it has joined again')
    assert.deepEqual(crashes, [])
  })

  it('waits for offsets that an open transaction is about to commit', async () => {
    await start()
    group.append(0, 'a', 'b')
    const UNSTABLE_OFFSET_COMMIT = 88
    const { OffsetFetch } = group.broker.answers
    let isOpen = true
    group.broker.answers.OffsetFetch = (request, call) => {
      if (!isOpen) return OffsetFetch!(request, call)
      isOpen = false
      group.committed.set(0, 1)
      assert.equal(request.requireStable, true)
      return {
        topics: [{ name: 't', partitions: [{ partitionIndex: 0, committedOffset: -1, errorCode: UNSTABLE_OFFSET_COMMIT }] }],
      }
    }
    const consumer = await connected()
    const seen: string[] = []
    await consumer.run({ eachMessage: async ({ message }) => void seen.push(String(message.value)) })
    await until(() => group.committed.get(0) === 2, 'the rest is committed')
    assert.deepEqual(seen, ['b'])
    assert.deepEqual(crashes, [])
  })
})
