/** The coordinator in a whole broker: what outlives a restart, a kill and a topic. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SeededRandom } from '@mq/coordinator'
import { nodeDisk } from '@mq/log'
import { errorByCode, iterateBatches } from '@mq/protocol'
import { vectors } from '../../../conformance/index.js'
import { EmbeddedStore } from './metadata/embedded.js'
import { importMetadata } from './metadata/offline.js'
import { ZNODES } from './metadata/znodes.js'
import { startBroker } from './start-broker.js'
import { RawClient } from './testing/raw-client.js'

const CONFIGS = { 'offsets.topic.num.partitions': 2, 'group.initial.rebalance.delay.ms': 0 }

interface Placed {
  readonly topic: string
  readonly partition: number
  readonly topicId: string
}

/** The metadata that the cluster of these partitions had, as `mq metadata import` takes it. */
function treeOf(placed: Readonly<Record<string, Placed>>): string {
  const topics = new Map<string, { topic_id: string; partitions: Record<string, number[]> }>()
  for (const { topic, partition, topicId } of Object.values(placed)) {
    const assignment = topics.get(topic) ?? { topic_id: topicId, partitions: {} }
    assignment.partitions[partition] = [1]
    topics.set(topic, assignment)
  }
  const nodes = [...topics].map(([name, assignment]) => ({
    path: `/brokers/topics/${name}`,
    data: JSON.stringify({ version: 3, ...assignment, adding_replicas: {}, removing_replicas: {} }),
  }))
  const config = JSON.stringify({ version: 1, config: { 'cleanup.policy': 'compact' } })
  return JSON.stringify([...nodes, { path: '/config/topics/__consumer_offsets', data: config }])
}

async function withClient<R>(port: number, use: (client: RawClient) => Promise<R>): Promise<R> {
  const client = await RawClient.connect(port)
  try {
    return await use(client)
  } finally {
    client.socket.destroy()
  }
}

async function coordinatorIsThere(client: RawClient): Promise<void> {
  for (let tries = 0; tries < 500; tries++) {
    if ((await client.ask('FindCoordinator', 3, { key: 'g', keyType: 0 })).errorCode === 0) {
      const { groups } = await client.ask('DescribeGroups', 5, { groups: ['g', 'h'] })
      if (groups.every(({ errorCode }) => errorCode === 0)) return
    }
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  assert.fail('no coordinator')
}

const createTopic = (client: RawClient, name: string) =>
  client.ask('CreateTopics', 7, { topics: [{ name, numPartitions: 1, replicationFactor: 1 }], timeoutMs: 5000 })

async function commit(client: RawClient, name: string, committedOffset: number): Promise<string> {
  const partitions = [{ partitionIndex: 0, committedOffset, committedLeaderEpoch: 0, committedMetadata: 'here' }]
  const { topics } = await client.ask('OffsetCommit', 8, { groupId: 'h', topics: [{ name, partitions }] })
  return errorByCode(topics[0]!.partitions[0]!.errorCode)
}

async function committed(client: RawClient, name: string): Promise<number> {
  const topics = [{ name, partitionIndexes: [0] }]
  const answer = await client.ask('OffsetFetch', 8, { groups: [{ groupId: 'h', topics }], requireStable: true })
  return answer.groups[0]!.topics[0]!.partitions[0]!.committedOffset
}

/** Group h is at 41 in `t` and at 7 in `u`. */
async function commitInTwoTopics(client: RawClient): Promise<void> {
  await coordinatorIsThere(client)
  await createTopic(client, 't')
  await createTopic(client, 'u')
  await commit(client, 't', 41)
  await commit(client, 'u', 7)
}

/** A member alone in a stable group. */
async function joinAlone(client: RawClient): Promise<{ groupId: string; memberId: string; generationId: number }> {
  const { memberId, generationId } = await client.ask('JoinGroup', 3, {
    groupId: 'g',
    sessionTimeoutMs: 30_000,
    rebalanceTimeoutMs: 30_000,
    memberId: '',
    protocolType: 'consumer',
    protocols: [{ name: 'range', metadata: Buffer.alloc(0) }],
  })
  const member = { groupId: 'g', memberId, generationId }
  await client.ask('SyncGroup', 3, { ...member, assignments: [{ memberId, assignment: Buffer.from('all') }] })
  return member
}

/** A broker in a process of its own, to be killed. */
async function spawnBroker(directory: string): Promise<{ readonly port: number; kill(): Promise<void> }> {
  const configs = { ...CONFIGS, listeners: 'PLAINTEXT://127.0.0.1:0' }
  const overrides = Object.entries(configs).flatMap(([name, value]) => ['--override', `${name}=${value}`])
  const bin = join(__dirname, '..', 'bin', 'mq-broker.js')
  const child = spawn(process.execPath, [bin, '--data', directory, ...overrides], { stdio: ['ignore', 'pipe', 'ignore'] })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const port = await new Promise<number>((resolve, reject) => {
    let said = ''
    child.stdout.on('data', (chunk) => {
      said += chunk
      const found = /127\.0\.0\.1:(\d+)/.exec(said)
      if (found) resolve(Number(found[1]))
    })
    child.once('exit', (code) => reject(new Error(`the broker ended with ${code}: ${said}`)))
  })
  return {
    port,
    kill: () => {
      child.kill('SIGKILL')
      return ended
    },
  }
}

describe('group coordinator in a broker', () => {
  it('has its groups and offsets after a clean restart and after kill -9', async function () {
    this.timeout(60_000)
    const directory = mkdtempSync(join(tmpdir(), 'groups-'))
    try {
      const broker = await startBroker({ directory, configs: CONFIGS })
      const member = await withClient(broker.port, async (client) => {
        await coordinatorIsThere(client)
        await createTopic(client, 't')
        assert.equal(await commit(client, 't', 41), 'NONE')
        return joinAlone(client)
      })
      await broker.close()

      const { port, kill } = await spawnBroker(directory)
      await withClient(port, async (client) => {
        await coordinatorIsThere(client)
        assert.equal(await committed(client, 't'), 41)
        assert.equal((await client.ask('Heartbeat', 3, member)).errorCode, 0)
        assert.equal(await commit(client, 't', 42), 'NONE')
        assert.equal((await client.ask('SyncGroup', 3, member)).assignment.toString(), 'all')
      })
      await kill()

      const again = await startBroker({ directory, configs: CONFIGS })
      await withClient(again.port, async (client) => {
        await coordinatorIsThere(client)
        assert.equal(await committed(client, 't'), 42)
        assert.equal((await client.ask('Heartbeat', 3, member)).errorCode, 0)
      })
      await again.close()
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  })

  it('never forgets a commit that it acknowledged, whenever it is killed', async function () {
    this.timeout(60_000)
    const directory = mkdtempSync(join(tmpdir(), 'groups-'))
    const random = new SeededRandom(Number(process.env.SEED ?? 1))
    let sent = 0
    let acknowledged = -1
    try {
      for (let round = 0; round < 5; round++) {
        const { port, kill } = await spawnBroker(directory)
        const client = await RawClient.connect(port)
        await coordinatorIsThere(client)
        if (round === 0) await createTopic(client, 't')
        const found = await committed(client, 't')
        assert.ok(found >= acknowledged && found <= sent, `round ${round}: ${found}, acknowledged ${acknowledged}, sent ${sent}`)
        const killed = new Promise<void>((resolve) => setTimeout(() => resolve(kill()), 20 + random.next() * 200))
        for (;;) {
          const offset = ++sent
          const result = await commit(client, 't', offset).catch(() => 'closed')
          if (result === 'closed') break
          assert.equal(result, 'NONE')
          acknowledged = offset
        }
        await killed
      }
      assert.ok(acknowledged > 50, `${acknowledged} commits`)
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  })

  for (const before of ['nothing', 'an import of its metadata'] as const) {
    it(`serves the groups of a directory that Java left, and keeps their offsets a whole retention time after that (with ${before} before)`, async function () {
      this.timeout(30_000)
      interface Given {
        readonly partitions: Readonly<Record<string, Placed>>
        readonly groups: Readonly<
          Record<string, { readonly state: string; readonly offsets: Readonly<Record<string, { readonly offset: number }>> }>
        >
      }
      const given = vectors.json<Given>('datadirs/main/clean.expected.json')
      const expected = given.groups
      const { logs, remove } = vectors.extractDatadir('main/clean')
      const day = 24 * 3600 * 1000
      // A year later than now: by the time of their commits all offsets have expired long ago.
      let ahead = 365 * day
      const clock = { now: () => Date.now() + ahead, monotonic: () => performance.now() }
      const configs = { 'offsets.retention.check.interval.ms': 20, 'broker.id': 1 }
      const seen = async (groupIds: readonly string[]) => {
        const broker = await startBroker({ directory: logs, configs, environment: { clock } })
        const found = await withClient(broker.port, async (client) => {
          await coordinatorIsThere(client)
          await new Promise((resolve) => setTimeout(resolve, 100)) // several looks for what has expired
          const { groups } = await client.ask('DescribeGroups', 5, { groups: groupIds })
          const answer = await client.ask('OffsetFetch', 8, { groups: groupIds.map((groupId) => ({ groupId, topics: null })) })
          return groupIds.map((groupId, i) => ({
            groupId,
            state: groups[i]!.groupState,
            offsets: answer.groups[i]!.topics.flatMap(({ name, partitions }) =>
              partitions.map((p) => `${name}-${p.partitionIndex} ${p.committedOffset}`),
            ).sort(),
          }))
        })
        await broker.close()
        return found
      }
      try {
        if (before !== 'nothing') await importMetadata({ directories: [logs] }, treeOf(given.partitions))
        const adopted = await seen(Object.keys(expected))
        for (const { groupId, state, offsets } of adopted) {
          assert.equal(state, expected[groupId]!.state)
          const committed = Object.entries(expected[groupId]!.offsets).map(([name, { offset }]) => `${name} ${offset}`)
          assert.deepEqual(offsets, committed.sort(), groupId)
        }
        ahead += 6 * day
        assert.deepEqual(
          await seen(['g-admin', 'g-auto']),
          adopted.filter(({ groupId }) => groupId === 'g-admin' || groupId === 'g-auto'),
        )
        ahead += 2 * day
        for (const { groupId, state, offsets } of await seen(['g-admin', 'g-auto'])) {
          assert.deepEqual([state, offsets], ['Dead', []], groupId)
        }
      } finally {
        remove()
      }
    })
  }

  it('leaves out a damaged part of its log, with a line, and serves the rest (F50)', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'groups-'))
    const configs = { 'offsets.topic.num.partitions': 1, 'log.index.interval.bytes': 200 }
    const lines: string[] = []
    const note = (_fields: object, line: string) => lines.push(line)
    const log = { debug() {}, info() {}, warn: note, error: note }
    const groups = Array.from({ length: 60 }, (_, i) => `group-${i}`)
    try {
      const broker = await startBroker({ directory, configs })
      await withClient(broker.port, async (client) => {
        await coordinatorIsThere(client)
        await createTopic(client, 't')
        for (const groupId of groups) {
          const topics = [{ name: 't', partitions: [{ partitionIndex: 0, committedOffset: 7 }] }]
          await client.ask('OffsetCommit', 8, { groupId, topics })
        }
      })
      await broker.close()
      const file = join(directory, '__consumer_offsets-0', '00000000000000000000.log')
      const bytes = readFileSync(file)
      const batches = [...iterateBatches(bytes)]
      assert.equal(batches.length, 60)
      bytes.writeInt32BE(99_999_999, batches[20]!.at + 8) // a length that leads nowhere
      bytes[batches[40]!.at + batches[40]!.sizeInBytes - 3]! ^= 0xff // a record that its checksum contradicts
      writeFileSync(file, bytes)

      const again = await startBroker({ directory, configs, log })
      await withClient(again.port, async (client) => {
        await coordinatorIsThere(client)
        const answer = await client.ask('OffsetFetch', 8, { groups: groups.map((groupId) => ({ groupId, topics: null })) })
        const lost = answer.groups.filter(({ topics }) => topics.length === 0).map(({ groupId }) => Number(groupId.slice(6)))
        assert.ok(lost.includes(20) && lost.includes(40), `${lost}`)
        assert.ok(
          lost.every((i) => (i >= 20 && i < 24) || i === 40),
          `${lost}`,
        )
        assert.ok(lines.includes('a damaged part of the offsets topic was left out: groups may miss commits'))
        assert.ok(lines.includes('a record was skipped while loading'))
      })
      await again.close()
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  })

  it('forgets the offsets of a deleted topic, so that a new one of its name begins afresh', async () => {
    const broker = await startBroker({ configs: CONFIGS })
    await withClient(broker.port, async (client) => {
      await commitInTwoTopics(client)
      await client.ask('DeleteTopics', 5, { topicNames: ['t'], timeoutMs: 5000 })
      await createTopic(client, 't')
      assert.equal(await committed(client, 't'), -1)
      assert.equal(await committed(client, 'u'), 7)
      assert.equal(await commit(client, 't', 3), 'NONE')
      assert.equal(await committed(client, 't'), 3)
    })
    await broker.close()
  })

  it('forgets the offsets of a topic whose deletion a stop interrupted', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'mq-coordinator-'))
    try {
      const first = await startBroker({ configs: CONFIGS, directory })
      await withClient(first.port, async (client) => {
        await commitInTwoTopics(client)
      })
      await first.close()
      const store = await EmbeddedStore.open({ disk: nodeDisk, directory, clock: { now: Date.now } })
      await store.connect().create(ZNODES.deleteTopic.path('t'), null)
      await store.close()
      const second = await startBroker({ configs: CONFIGS, directory })
      await withClient(second.port, async (client) => {
        await coordinatorIsThere(client)
        assert.equal(errorByCode((await createTopic(client, 't')).topics[0]!.errorCode), 'NONE')
        assert.deepEqual([await committed(client, 't'), await committed(client, 'u')], [-1, 7])
      })
      await second.close()
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  })

  it('answers members that wait when the broker stops, instead of waiting for them', async () => {
    const broker = await startBroker({ configs: { ...CONFIGS, 'group.initial.rebalance.delay.ms': 60_000 } })
    const client = await RawClient.connect(broker.port)
    await coordinatorIsThere(client)
    const waiting = client.ask('JoinGroup', 3, {
      groupId: 'g',
      sessionTimeoutMs: 10_000,
      rebalanceTimeoutMs: 120_000,
      memberId: '',
      protocolType: 'consumer',
      protocols: [{ name: 'range', metadata: Buffer.alloc(0) }],
    })
    await withClient(broker.port, async (other) => {
      for (;;) {
        const { groups } = await other.ask('DescribeGroups', 5, { groups: ['g'] })
        if (groups[0]!.groupState === 'PreparingRebalance') return
      }
    })
    await broker.close()
    assert.equal(errorByCode((await waiting).errorCode), 'COORDINATOR_NOT_AVAILABLE')
  })

  it('serves the first consumer at once with a factor of one, and says which setting is wrong with more (A-046)', async () => {
    const lines: string[] = []
    const note = (_fields: object, line: string) => lines.push(line)
    const log = { debug() {}, info() {}, warn: note, error: note }
    const broker = await startBroker({ configs: { ...CONFIGS, 'offsets.topic.replication.factor': 3 }, log })
    await withClient(broker.port, async (client) => {
      assert.equal(errorByCode((await client.ask('FindCoordinator', 3, { key: 'g' })).errorCode), 'COORDINATOR_NOT_AVAILABLE')
      assert.ok(lines.some((line) => line.includes('offsets.topic.replication.factor')))
    })
    await broker.close()
    const fine = await startBroker()
    await withClient(fine.port, async (client) => {
      assert.equal((await client.ask('FindCoordinator', 3, { key: 'g' })).errorCode, 0)
      const { errorCode, generationId } = await client.ask('JoinGroup', 3, {
        groupId: 'g',
        sessionTimeoutMs: 10_000,
        memberId: '',
        protocolType: 'consumer',
        protocols: [{ name: 'range', metadata: Buffer.alloc(0) }],
      })
      assert.deepEqual([errorByCode(errorCode), generationId], ['NONE', 1])
    })
    await fine.close()
  })
})
