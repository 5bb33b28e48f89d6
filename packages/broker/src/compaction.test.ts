/** Compaction in a running broker: the offsets topic stays small, and what groups committed last is there. */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Body, iterateBatches, type ResponseOf } from '@mq/protocol'
import { ManualTime } from './manual-time.js'
import { type RunningBroker, type StartBrokerOptions, startBroker } from './start-broker.js'
import { RawClient } from './testing/raw-client.js'

const BACKOFF_MS = 1000
const CONFIGS = {
  'offsets.topic.segment.bytes': 4000,
  'log.cleaner.backoff.ms': BACKOFF_MS,
  'log.cleaner.min.cleanable.ratio': 0.1,
  'group.initial.rebalance.delay.ms': 0,
}
const ROUNDS = 100

async function withClient<R>({ port }: RunningBroker, use: (client: RawClient) => Promise<R>): Promise<R> {
  const client = await RawClient.connect(port)
  try {
    return await use(client)
  } finally {
    client.socket.destroy()
  }
}

/** Offsets of three groups, again and again. */
async function commitOften(client: RawClient): Promise<void> {
  await client.ask('CreateTopics', 7, { topics: [{ name: 't', numPartitions: 1, replicationFactor: 1 }], timeoutMs: 5000 })
  for (let tries = 0; (await client.ask('FindCoordinator', 3, { key: 'g1', keyType: 0 })).errorCode !== 0; tries++)
    assert.ok(tries < 100)
  for (let round = 1; round <= ROUNDS; round++) {
    for (const groupId of ['g1', 'g2', 'g3']) {
      const topics = [{ name: 't', partitions: [{ partitionIndex: 0, committedOffset: round }] }]
      const answer = await client.ask('OffsetCommit', 8, { groupId, topics })
      assert.equal(answer.topics[0]!.partitions[0]!.errorCode, 0)
    }
  }
}

async function committed(client: RawClient): Promise<number[]> {
  const groups = ['g1', 'g2', 'g3'].map((groupId) => ({ groupId, topics: [{ name: 't', partitionIndexes: [0] }] }))
  for (let tries = 0; ; tries++) {
    const answer = await client.ask('OffsetFetch', 8, { groups, requireStable: true })
    if (answer.groups.some(({ errorCode }) => errorCode !== 0) && tries < 1000) continue
    return offsetsIn(answer)
  }
}

function offsetsIn(answer: Body<ResponseOf<'OffsetFetch'>>): number[] {
  return answer.groups.map((group) => group.topics[0]!.partitions[0]!.committedOffset)
}

/** Records in all data files of the offsets topic. */
function stored(directory: string): number {
  let count = 0
  for (const folder of readdirSync(directory).filter((name) => name.startsWith('__consumer_offsets-'))) {
    for (const file of readdirSync(join(directory, folder)).filter((name) => name.endsWith('.log'))) {
      for (const batch of iterateBatches(readFileSync(join(directory, folder, file)))) count += batch.recordCount
    }
  }
  return count
}

describe('the offsets topic in a running broker', function () {
  this.timeout(60_000)
  let directory: string
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'mq-compacted-'))
  })
  afterEach(() => rmSync(directory, { recursive: true, force: true }))

  /** Until the cleaner, whose threads take the time that they take, has rested once more. */
  async function until(time: ManualTime, holds: () => boolean): Promise<void> {
    for (let passes = 0; !holds(); passes++) {
      assert.ok(passes < 2000, 'the cleaner does not get there')
      await time.advance(BACKOFF_MS)
      await new Promise((resume) => setImmediate(resume))
    }
  }

  const start = (time: ManualTime, options: StartBrokerOptions = {}) =>
    startBroker({
      directory,
      environment: { clock: time, timers: time },
      ...options,
      configs: { ...CONFIGS, ...options.configs },
    })

  it('of fifty partitions is compacted in threads; groups keep what they committed, also over a restart', async () => {
    const time = new ManualTime()
    let broker = await start(time)
    try {
      await withClient(broker, commitOften)
      assert.ok(stored(directory) >= 3 * ROUNDS)
      await until(time, () => stored(directory) < 1.5 * ROUNDS)
      assert.deepEqual(await withClient(broker, committed), [ROUNDS, ROUNDS, ROUNDS])
      await broker.close()
      assert.ok(readFileSync(join(directory, 'cleaner-offset-checkpoint'), 'utf8').includes('__consumer_offsets '))
      broker = await start(time)
      assert.deepEqual(await withClient(broker, committed), [ROUNDS, ROUNDS, ROUNDS])
    } finally {
      await broker.close()
    }
  })

  it('is left as it is when log.cleaner.enable is off', async () => {
    const time = new ManualTime()
    const broker = await start(time, { configs: { 'log.cleaner.enable': false } })
    try {
      await withClient(broker, commitOften)
      const before = stored(directory)
      for (let passes = 0; passes < 5; passes++) await time.advance(BACKOFF_MS)
      assert.equal(stored(directory), before)
    } finally {
      await broker.close()
    }
  })

  it('a map of keys without room for one stops the start, with what to change', async () => {
    await assert.rejects(start(new ManualTime(), { configs: { 'log.cleaner.dedupe.buffer.size': 30 } }), {
      name: 'StartError',
      message: /log\.cleaner\.dedupe\.buffer\.size has no room/,
    })
  })
})
