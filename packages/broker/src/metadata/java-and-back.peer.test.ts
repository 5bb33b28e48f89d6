/** One data directory in the hands of our broker and of Apache Kafka 3.9.1 in turns, with the metadata carried over each time. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { BatchBuilder } from '@mq/protocol'
import { vectors } from '../../../../conformance/index.js'
import { type RunningBroker, startBroker } from '../start-broker.js'
import { apacheTools } from '../testing/apache-tools.test.support.js'
import { RawClient } from '../testing/raw-client.js'
import { exportMetadata } from './offline.js'
import { IDS_OF_ANOTHER_STORE } from './producer-ids.js'
import { putNode } from './subtree.js'
import { parseTree } from './tree-file.js'
import { ZooKeeperForTests } from './zookeeper.test.support.js'

/** The records are of 2023, and some transactions were left open: nothing may be tidied away by the clock. */
const PATIENT = {
  'log.retention.ms': -1,
  'log.cleaner.enable': false,
  'offsets.retention.minutes': 2_000_000,
  'transactional.id.expiration.ms': 2_000_000_000,
  'offsets.topic.num.partitions': 3,
  'transaction.state.log.num.partitions': 3,
}

describe('a data directory that goes from us to Java and back', function () {
  this.timeout(180_000)

  it('keeps topics, ids, epochs, offsets and records; and no producer id is given twice', async () => {
    const tools = await apacheTools()
    const { logs, folder, remove } = vectors.extractDatadir('main/clean')
    const lines: string[] = []
    const keep = (_: object, line: string) => lines.push(line)
    const ours = () => startBroker({ directory: logs, log: { debug() {}, info() {}, warn: keep, error: keep } })
    const stops: (() => Promise<unknown>)[] = []
    try {
      let broker: RunningBroker = await ours()
      stops.push(() => broker.close())
      const first = await withClient(broker.port, async (client) => {
        await create(client, 'ours')
        return produce(client, 'ours')
      })
      assert.ok(first > IDS_OF_ANOTHER_STORE)
      const before = await withClient(broker.port, picture)
      await broker.close()

      const zookeeper = await tools.startZooKeeper({ port: await tools.freePort(), dir: folder })
      stops.push(() => zookeeper.stop())
      const session = await ZooKeeperForTests.connect(zookeeper.connect)
      for (const { path, data } of parseTree(await exportMetadata({ directories: [logs] }))) {
        if (path !== '/') await putNode(session, path, data)
      }
      await session.close()
      const port = await tools.freePort()
      const apache = await tools.startApache({ port, dir: folder, zookeeper: zookeeper.connect, config: PATIENT })
      stops.push(() => apache.stop())
      const javas = await withClient(port, async (client) => {
        await allLed(client, Object.keys(before).length)
        assert.deepEqual(await picture(client), before)
        await create(client, 'theirs')
        return produce(client, 'ours')
      })
      assert.equal(javas, first + 1000) // the block behind ours
      const between = await withClient(port, picture)
      assert.equal(between['ours-0']?.end, 2)
      await apache.stop()
      await zookeeper.stop()

      lines.length = 0
      broker = await ours()
      assert.match(lines.join('\n'), /^adopted 1 topic \(2 partitions\) from .*: the metadata did not know them/)
      assert.deepEqual(await withClient(broker.port, picture), between)
      assert.equal(await withClient(broker.port, (client) => produce(client, 'theirs')), first + 2000)
      assert.match(readFileSync(join(logs, 'meta.properties'), 'utf8'), /cluster\.id=3Plo15CCRBieq-ekfFGtYQ/)
    } finally {
      for (const stop of stops.reverse()) await stop()
      remove()
    }
  })
})

async function withClient<R>(port: number, use: (client: RawClient) => Promise<R>): Promise<R> {
  const client = await RawClient.connect(port)
  try {
    return await use(client)
  } finally {
    client.socket.destroy()
  }
}

async function create(client: RawClient, name: string): Promise<void> {
  const topics = [{ name, numPartitions: 2, replicationFactor: 1, assignments: [], configs: [] }]
  const answer = await client.ask('CreateTopics', 5, { topics, timeoutMs: 30_000, validateOnly: false })
  assert.equal(answer.topics[0]?.errorCode, 0, answer.topics[0]?.errorMessage ?? '')
}

/** One record of a new idempotent producer; returns its id. */
async function produce(client: RawClient, topic: string): Promise<number> {
  const { producerId, errorCode } = await retried(() =>
    client.ask('InitProducerId', 4, { transactionalId: null, transactionTimeoutMs: 0, producerId: -1, producerEpoch: -1 }),
  )
  assert.equal(errorCode, 0)
  const batch = new BatchBuilder({ producerId, producerEpoch: 0, baseSequence: 0 })
  batch.tryAppend({ timestamp: Date.UTC(2023, 10, 15), key: null, value: Buffer.from(topic), headers: [] })
  const topicData = [{ name: topic, partitionData: [{ index: 0, records: batch.build() }] }]
  const answer = await client.ask('Produce', 9, { transactionalId: null, acks: -1, timeoutMs: 30_000, topicData })
  assert.equal(answer.responses[0]?.partitionResponses[0]?.errorCode, 0)
  return producerId
}

/** A Java broker listens before it knows what it leads. */
async function allLed(client: RawClient, count: number): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    const { topics } = await client.ask('Metadata', 12, { topics: null })
    const partitions = topics.flatMap((topic) => topic.partitions)
    if (partitions.length > count && partitions.every(({ leaderId }) => leaderId === 1)) return
    await new Promise((done) => setTimeout(done, 100))
  }
  assert.fail('the Java broker does not lead its partitions')
}

/** Java's first block comes a moment after the first who asks. */
async function retried<R extends { readonly errorCode: number }>(ask: () => Promise<R>): Promise<R> {
  for (let tries = 0; ; tries++) {
    const answer = await ask()
    if (answer.errorCode !== 14 || tries === 600) return answer
    await new Promise((done) => setTimeout(done, 50))
  }
}

/** Per partition what the next holder of the directory must find again. */
async function picture(
  client: RawClient,
): Promise<Record<string, { topicId: string; leader: number; leaderEpoch: number; start: number; end: number }>> {
  const { topics } = await client.ask('Metadata', 12, { topics: null })
  const offsets = async (timestamp: number) => {
    const asked = topics.map(({ name, partitions }) => ({
      name: name!,
      partitions: partitions.map(({ partitionIndex }) => ({ partitionIndex, timestamp, currentLeaderEpoch: -1 })),
    }))
    const answer = await client.ask('ListOffsets', 7, { replicaId: -1, isolationLevel: 0, topics: asked })
    return new Map<string, number>(
      answer.topics.flatMap(({ name, partitions }) =>
        partitions.map((each) => [`${name}-${each.partitionIndex}`, each.offset] as const),
      ),
    )
  }
  const [starts, ends] = [await offsets(-2), await offsets(-1)]
  const found: [string, { topicId: string; leader: number; leaderEpoch: number; start: number; end: number }][] = []
  for (const { name, topicId, partitions } of topics) {
    if (name === '__consumer_offsets' || name === '__transaction_state') continue // coordinators write into these by themselves
    for (const { partitionIndex, leaderId, leaderEpoch } of partitions) {
      const key = `${name}-${partitionIndex}`
      found.push([key, { topicId, leader: leaderId, leaderEpoch, start: starts.get(key) ?? -1, end: ends.get(key) ?? -1 }])
    }
  }
  return Object.fromEntries(found.sort(([a], [b]) => (a < b ? -1 : 1)))
}
