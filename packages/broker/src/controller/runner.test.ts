import assert from 'node:assert/strict'
import { vectors } from '../../../../conformance/index.js'
import { planAdoption } from '../metadata/adopt.js'
import { EmbeddedStore } from '../metadata/embedded.js'
import { NO_LEADER, ZERO_TOPIC_ID } from '../metadata/image.js'
import { isStoreError, type MetadataStore } from '../metadata/store.js'
import { pathsBelow, putNode } from '../metadata/subtree.js'
import { rowOf, ZNODES } from '../metadata/znodes.js'
import type { BrokerChannel, ControllerDefaults, ControllerError, PartitionAssignment, TopicConfigRules } from './api.js'
import { BrokerIdTakenError } from './election.js'
import { type ControllerOptions, NotControllerError, SingleController } from './runner.js'
import { NO_FACTS, type PartitionFacts } from './start.js'

const TIME = 1_700_000_000_000
const QUIET = { debug() {}, info() {}, warn() {}, error() {} }
const ANY_CONFIG: TopicConfigRules = { problem: () => null, isKnown: () => true, isList: () => false, defaultOf: () => '' }
const DEFAULTS: ControllerDefaults = {
  numPartitions: 2,
  replicationFactor: 1,
  deleteTopicEnable: true,
  internalTopics: { __consumer_offsets: { partitions: 5, replicationFactor: 1, configs: { 'cleanup.policy': 'compact' } } },
}

/** Keeps what it was told, in order; fails where the test says so. */
class RecordingChannel implements BrokerChannel {
  readonly told: string[] = []
  readonly led = new Map<string, PartitionAssignment>()
  failing: (name: string) => ControllerError | null = () => null

  async leaderAndIsr(partitions: readonly PartitionAssignment[]) {
    return partitions.flatMap((each) => {
      const name = `${each.topic}-${each.index}`
      this.told.push(
        `${each.log} ${name} leader=${each.leader} epoch=${each.leaderEpoch}${each.problem === null ? '' : ' problem'}`,
      )
      this.led.set(name, each)
      const error = this.failing(name)
      return error === null ? [] : [{ topic: each.topic, index: each.index, error }]
    })
  }
  async stopReplica(partitions: readonly { topic: string; index: number }[], files: 'keep' | 'delete') {
    return partitions.flatMap(({ topic, index }) => {
      this.told.push(`${files} ${topic}-${index}`)
      const error = this.failing(`${topic}-${index}`)
      return error === null ? [] : [{ topic, index, error }]
    })
  }
  topicConfigs(topic: string, configs: Readonly<Record<string, string>>) {
    this.told.push(`configs ${topic} ${JSON.stringify(configs)}`)
  }
  releaseRetention(topic: string) {
    this.told.push(`release ${topic}`)
  }
}

function optionsOn(store: MetadataStore, channel: BrokerChannel, more: Partial<ControllerOptions> = {}): ControllerOptions {
  const endpoints = [{ listenerName: 'PLAINTEXT', securityProtocol: 'PLAINTEXT', host: 'localhost', port: 9092 }]
  let byte = 0
  return {
    registration: { brokerId: 1, endpoints, rack: null },
    store,
    channel,
    configs: ANY_CONFIG,
    defaults: DEFAULTS,
    clock: { now: () => TIME },
    random: { next: () => 0, bytes: (count) => Buffer.alloc(count, ++byte) },
    log: QUIET,
    facts: () => NO_FACTS,
    ...more,
  }
}

const topic = (name: string, numPartitions = -1) => ({ name, numPartitions, replicationFactor: -1, assignments: [], configs: [] })

describe('the controller of a single broker', () => {
  let embedded: EmbeddedStore
  let store: MetadataStore
  let channel: RecordingChannel

  beforeEach(() => {
    embedded = EmbeddedStore.inMemory({ now: () => TIME })
    store = embedded.connect()
    channel = new RecordingChannel()
  })
  afterEach(() => embedded.close())

  const start = (more: Partial<ControllerOptions> = {}) => SingleController.start(optionsOn(store, channel, more))
  const create = (controller: SingleController, ...topics: ReturnType<typeof topic>[]) =>
    controller.createTopics({ topics, validateOnly: false, timeoutMs: 1000 })
  /** Ends the session as a stop of the process would, and begins the next one. */
  const restart = async (more: Partial<ControllerOptions> = {}) => {
    await embedded.expire(store.sessionId)
    store = embedded.connect()
    channel = new RecordingChannel()
    return start(more)
  }

  it('leaves, on an empty store, the tree of a fresh broker of 3.9.1', async () => {
    await store.create('/cluster', null)
    await store.create('/cluster/id', ZNODES.clusterId.encode('RIZYrj1gTMq5wBMsAkYWYg'))
    await start()
    const given = vectors
      .json<{ path: string; data: string | null; ephemeral: boolean }[]>('znodes/one-broker-fresh.json')
      .filter(({ path }) => path !== '/' && !path.startsWith('/zookeeper'))
    const made = (await pathsBelow(store, '/')).filter((path) => path !== '/')
    assert.deepEqual([...made].sort(), given.map(({ path }) => path).sort())
    for (const { path, data, ephemeral } of given) {
      const node = await store.get(path)
      assert.equal(node?.stat.ephemeralOwner !== null, ephemeral, path)
      const fields = (text: string | null | undefined) => (text?.startsWith('{') ? Object.keys(JSON.parse(text)) : text)
      assert.deepEqual(fields(node?.data?.toString() ?? null), fields(data), path)
    }
  })

  it('uses the transaction of its registration as broker epoch, and a higher controller epoch at each start', async () => {
    const first = await start()
    const epoch = first.image().brokers.get(1)?.epoch
    assert.equal(epoch, (await store.exists('/brokers/ids/1'))?.czxid)
    assert.deepEqual([first.image().controllerId, first.image().controllerEpoch], [1, 1])
    const second = await restart()
    assert.ok(second.image().brokers.get(1)!.epoch > epoch!)
    assert.equal(second.image().controllerEpoch, 2)
  })

  it('does not start beside a broker of the same id, nor beside another controller', async () => {
    await start()
    const other = embedded.connect()
    await assert.rejects(SingleController.start(optionsOn(other, channel)), BrokerIdTakenError)
    const registration = { brokerId: 2, endpoints: [], rack: null }
    await assert.rejects(SingleController.start(optionsOn(other, channel, { registration })), NotControllerError)
  })

  it('makes the log first, then the state, then the picture', async () => {
    const controller = await start()
    const seen: string[] = []
    channel.failing = (name) => {
      seen.push(`led ${name}: in the picture ${controller.image().topic('t') !== undefined}`)
      return null
    }
    const states: Promise<unknown>[] = []
    await store.exists(ZNODES.partitionState.path('t', 0), () => {
      seen.push(`state: in the picture ${controller.image().topic('t') !== undefined}`)
    })
    controller.onImage((now, before) => seen.push(`picture ${before.topicCount} -> ${now.topicCount}`))
    const [result] = await create(controller, topic('t', 1))
    await Promise.all(states)
    assert.equal(result?.error, 'NONE')
    assert.deepEqual(seen, ['led t-0: in the picture false', 'state: in the picture false', 'picture 0 -> 1'])
    assert.deepEqual(channel.told, ['new t-0 leader=1 epoch=0'])
    assert.equal(controller.image().topicById(result.topicId)?.name, 't')
  })

  it('writes a topic as Kafka does', async () => {
    const controller = await start()
    await create(controller, { ...topic('t', 2), configs: [{ name: 'retention.ms', value: '5' }] } as never)
    const text = async (path: string) => (await store.get(path))?.data?.toString() ?? null
    const id = controller.image().topic('t')!.topicId
    assert.equal(
      await text('/brokers/topics/t'),
      `{"partitions":{"0":[1],"1":[1]},"topic_id":"${id}","adding_replicas":{},"removing_replicas":{},"version":3}`,
    )
    assert.equal(await text('/brokers/topics/t/partitions'), null)
    assert.equal(
      await text('/brokers/topics/t/partitions/1/state'),
      '{"controller_epoch":1,"leader":1,"version":1,"leader_epoch":0,"isr":[1]}',
    )
    assert.equal(await text('/config/topics/t'), '{"version":1,"config":{"retention.ms":"5"}}')
    for (const path of await pathsBelow(store, '/brokers/topics/t')) assert.ok(rowOf(path) !== undefined, path)
  })

  it('only checks when asked to validate, and answers a timeout of 0 at once though the topic is made', async () => {
    const controller = await start()
    const [checked] = await controller.createTopics({ topics: [topic('t')], validateOnly: true, timeoutMs: 1000 })
    assert.deepEqual([checked?.error, checked?.numPartitions, checked?.topicId], ['NONE', 2, ZERO_TOPIC_ID])
    assert.equal(controller.image().topicCount, 0)
    const [result] = await controller.createTopics({ topics: [topic('t')], validateOnly: false, timeoutMs: 0 })
    assert.equal(result?.error, 'REQUEST_TIMED_OUT')
    assert.equal(controller.image().topicCount, 1)
  })

  it('answers REQUEST_TIMED_OUT, and nothing of the topic but its id, when its brokers are not there', async () => {
    const controller = await start()
    const assigned = { ...topic('t'), assignments: [{ partitionIndex: 0, brokerIds: [9] }] }
    const ask = (validateOnly: boolean) => controller.createTopics({ topics: [assigned], validateOnly, timeoutMs: 1000 })
    assert.equal((await ask(true))[0]?.error, 'NONE')
    const [{ message, ...result } = { message: null }] = await ask(false)
    assert.match(message ?? '', /without a live replica/)
    const { topicId } = controller.image().topic('t')!
    const nothing = { numPartitions: -1, replicationFactor: -1, configs: {} }
    assert.deepEqual(result, { name: 't', topicId, error: 'REQUEST_TIMED_OUT', ...nothing })
  })

  it('runs requests one after the other, so that two of the same name make one topic', async () => {
    const controller = await start()
    const results = await Promise.all([
      create(controller, topic('t')),
      create(controller, topic('t')),
      create(controller, topic('u')),
    ])
    assert.deepEqual(
      results.flat().map(({ error }) => error),
      ['NONE', 'TOPIC_ALREADY_EXISTS', 'NONE'],
    )
  })

  it('makes topics on demand with the defaults, and internal ones with theirs', async () => {
    const controller = await start()
    const results = await controller.autoCreateTopics(['t', '__consumer_offsets', 'a b', 't'])
    assert.deepEqual(
      results.map(({ name, error }) => [name, error]),
      [
        ['t', 'LEADER_NOT_AVAILABLE'],
        ['__consumer_offsets', 'LEADER_NOT_AVAILABLE'],
        ['a b', 'INVALID_TOPIC_EXCEPTION'],
      ],
    )
    const offsets = controller.image().topic('__consumer_offsets')
    assert.deepEqual(
      [offsets?.partitions.length, offsets?.isInternal, offsets?.configs],
      [5, true, { 'cleanup.policy': 'compact' }],
    )
    assert.equal(controller.image().topic('t')?.partitions.length, 2)
    assert.deepEqual(
      (await controller.autoCreateTopics(['t'])).map(({ error }) => error),
      ['LEADER_NOT_AVAILABLE'],
    )
  })

  it('adds partitions to a topic and has only these led', async () => {
    const controller = await start()
    await create(controller, topic('t', 1))
    channel.told.length = 0
    const [result] = await controller.createPartitions({
      topics: [{ name: 't', count: 3, assignments: null }],
      validateOnly: false,
      timeoutMs: 1,
    })
    assert.equal(result?.error, 'NONE')
    assert.deepEqual(channel.told, ['new t-1 leader=1 epoch=0', 'new t-2 leader=1 epoch=0'])
    assert.equal(controller.image().topic('t')?.partitions.length, 3)
    const node = await store.get('/brokers/topics/t')
    assert.deepEqual(Object.keys(JSON.parse(node!.data!.toString()).partitions), ['0', '1', '2'])
    assert.ok((await store.exists('/brokers/topics/t/partitions/2/state')) !== null)
  })

  it('deletes a topic with all its nodes, and the name is free again', async () => {
    const controller = await start()
    const [first] = await create(controller, topic('t'))
    const [result] = await controller.deleteTopics({
      topics: [{ name: 't', topicId: first!.topicId }].map(({ topicId }) => ({ name: null, topicId })),
      timeoutMs: 1,
    })
    assert.deepEqual([result?.error, result?.name], ['NONE', 't'])
    assert.deepEqual(channel.told.slice(-2), ['delete t-0', 'delete t-1'])
    for (const path of ['/brokers/topics/t', '/config/topics/t', '/admin/delete_topics/t'])
      assert.equal(await store.exists(path), null)
    const [second] = await create(controller, topic('t'))
    assert.equal(second?.error, 'NONE')
    assert.notEqual(second.topicId, first?.topicId)
  })

  it('begins as new a topic that takes the name of one that was found at the start and deleted', async () => {
    await create(await start(), topic('t'))
    const found: PartitionFacts = { epochInLog: 3, stoppedCleanly: true, problem: null }
    const controller = await restart({ facts: (name) => (name === 't' ? found : NO_FACTS) })
    await controller.deleteTopics({ topics: [{ name: 't', topicId: 'AAAAAAAAAAAAAAAAAAAAAA' }], timeoutMs: 1 })
    const [second] = await create(controller, topic('t'))
    assert.equal(second?.error, 'NONE')
    assert.deepEqual(channel.told.slice(-2), ['new t-0 leader=1 epoch=0', 'new t-1 leader=1 epoch=0'])
  })

  it('ends at the next start a deletion that could not be ended', async () => {
    const controller = await start()
    await create(controller, topic('t'))
    channel.failing = (name) => (name === 't-1' ? 'KAFKA_STORAGE_ERROR' : null)
    await controller.deleteTopics({ topics: [{ name: 't', topicId: 'AAAAAAAAAAAAAAAAAAAAAA' }], timeoutMs: 1 })
    assert.equal(controller.image().topic('t'), undefined)
    const [again] = await create(controller, topic('t'))
    assert.deepEqual([again?.error, again?.message], ['TOPIC_ALREADY_EXISTS', "Topic 't' is marked for deletion."])
    const next = await restart()
    assert.deepEqual(channel.told, ['delete t-0', 'delete t-1'])
    assert.equal((await create(next, topic('t')))[0]?.error, 'NONE')
  })

  it('writes configs with a notice for other brokers, tells the partitions, and purges old notices', async () => {
    let now = TIME
    const clock = { now: () => now }
    await embedded.close()
    embedded = EmbeddedStore.inMemory(clock)
    store = embedded.connect()
    const controller = await start({ clock })
    await create(controller, topic('t'))
    const alter = (value: string) =>
      controller.incrementalAlterTopicConfigs({
        topics: [{ topic: 't', changes: [{ name: 'segment.ms', operation: 'set', value }] }],
        validateOnly: false,
      })
    assert.equal((await alter('7'))[0]?.error, 'NONE')
    assert.equal(channel.told.at(-1), 'configs t {"segment.ms":"7"}')
    assert.deepEqual(controller.image().topic('t')?.configs, { 'segment.ms': '7' })
    assert.equal(
      (await store.get('/config/changes/config_change_0000000000'))?.data?.toString(),
      '{"version":2,"entity_path":"topics/t"}',
    )
    now += 16 * 60_000
    await alter('8')
    assert.deepEqual(await store.children('/config/changes'), ['config_change_0000000001'])
  })

  it('lets an adopted topic go when an alter names cleanup.policy or a retention config, and by no other', async () => {
    const controller = await start()
    await create(controller, topic('t'), topic('u'))
    for (const name of ['t', 'u']) await putNode(store, ZNODES.heldTopic.path(name), null)
    const alter = (name: string, operation: 'set' | 'delete' = 'set') =>
      controller.incrementalAlterTopicConfigs({
        topics: [{ topic: 't', changes: [{ name, operation, value: '1' }] }],
        validateOnly: false,
      })
    for (const name of ['segment.bytes', 'max.message.bytes', 'delete.retention.ms']) await alter(name)
    assert.ok(!channel.told.includes('release t'))
    await alter('retention.bytes', 'delete')
    assert.deepEqual(
      channel.told.filter((line) => line.startsWith('release')),
      ['release t'],
    )
    assert.deepEqual(await store.children('/mq/held'), ['u'])
    await controller.alterTopicConfigs({
      topics: [{ topic: 'u', configs: [{ name: 'cleanup.policy', value: 'compact' }] }],
      validateOnly: false,
    })
    assert.deepEqual(channel.told.at(-1), 'release u')
  })

  it('keeps the leader epoch after a clean stop and takes a new one after any other, above what the log holds', async () => {
    const controller = await start()
    await create(controller, topic('t', 1))
    const facts = (epochInLog: number, stoppedCleanly: boolean) => ({
      facts: (): PartitionFacts => ({ epochInLog, stoppedCleanly, problem: null }),
    })
    const epochOf = (running: SingleController) => running.image().partition('t', 0)?.leaderEpoch
    assert.equal(epochOf(await restart(facts(0, true))), 0)
    assert.equal((await store.exists('/brokers/topics/t/partitions/0/state'))?.version, 0)
    assert.equal(epochOf(await restart(facts(0, false))), 1)
    assert.deepEqual(channel.told, ['existing t-0 leader=1 epoch=1'])
    assert.equal(epochOf(await restart(facts(7, true))), 7) // a Java broker led in between
    assert.equal(epochOf(await restart(facts(9, false))), 10)
    const state = await store.get('/brokers/topics/t/partitions/0/state')
    assert.deepEqual(JSON.parse(state!.data!.toString()), {
      controller_epoch: 5,
      leader: 1,
      version: 1,
      leader_epoch: 10,
      isr: [1],
    })
  })

  it('takes a lost folder offline, says nothing else about it, and leads it again when it is back', async () => {
    const controller = await start()
    await create(controller, topic('t', 2))
    const lost = (_: string, index: number): PartitionFacts =>
      index === 1 ? { ...NO_FACTS, problem: 'gone' } : { ...NO_FACTS, epochInLog: 0 }
    for (const expected of [1, 1]) {
      const running = await restart({ facts: lost })
      const [kept, gone] = running.image().topic('t')!.partitions
      assert.equal(kept?.leader, 1)
      assert.deepEqual([gone?.leader, gone?.leaderEpoch, gone?.isr, gone?.offlineReplicas], [NO_LEADER, expected, [1], [1]])
      assert.deepEqual(channel.told.slice(-1), [`existing t-1 leader=-1 epoch=${expected} problem`])
    }
    const back = await restart({ facts: () => ({ ...NO_FACTS, epochInLog: 0 }) })
    assert.deepEqual([back.image().partition('t', 1)?.leader, back.image().partition('t', 1)?.leaderEpoch], [1, 2])
  })

  it('begins as new a partition whose log was never made, whatever a crash left of the topic', async () => {
    const controller = await start()
    await create(controller, topic('t', 2))
    await store.delete(ZNODES.partitionState.path('t', 1))
    await store.delete(ZNODES.partition.path('t', 1))
    const running = await restart()
    assert.deepEqual(channel.told, ['existing t-0 leader=1 epoch=0', 'new t-1 leader=1 epoch=0'])
    assert.equal(running.image().partition('t', 1)?.leader, 1)
    assert.ok((await store.exists(ZNODES.partitionState.path('t', 1))) !== null)
  })

  it('gives a partition that cannot be led no leader, in the store as well', async () => {
    await create(await start(), topic('t', 2))
    const failing = new RecordingChannel()
    failing.failing = (name) => (name === 't-1' ? 'KAFKA_STORAGE_ERROR' : null)
    const controller = await restart({ channel: failing })
    const [first, second] = controller.image().topic('t')!.partitions
    assert.deepEqual([first?.leader, second?.leader, second?.offlineReplicas], [1, NO_LEADER, [1]])
    const state = await store.get('/brokers/topics/t/partitions/1/state')
    assert.deepEqual(JSON.parse(state!.data!.toString()), {
      controller_epoch: 1,
      leader: -1,
      version: 1,
      leader_epoch: 1,
      isr: [1],
    })
    assert.equal(second?.partitionEpoch, state?.stat.version)
  })

  it('says so when a new partition cannot be led, writes no state of it, and begins it anew at the next start', async () => {
    const controller = await start()
    channel.failing = (name) => (name === 't-1' ? 'KAFKA_STORAGE_ERROR' : null)
    assert.equal((await create(controller, topic('t', 2)))[0]?.error, 'REQUEST_TIMED_OUT')
    const [first, second] = controller.image().topic('t')!.partitions
    assert.deepEqual([first?.leader, second?.leader, second?.isr, second?.offlineReplicas], [1, NO_LEADER, [], [1]])
    assert.equal(await store.exists('/brokers/topics/t/partitions/1/state'), null)
    const stillFailing = new RecordingChannel()
    stillFailing.failing = channel.failing
    const failedAgain = await restart({ channel: stillFailing })
    assert.equal(failedAgain.image().partition('t', 1)?.leader, NO_LEADER)
    assert.equal(await store.exists('/brokers/topics/t/partitions/1/state'), null)
    const running = await restart()
    assert.deepEqual(channel.told, ['existing t-0 leader=1 epoch=0', 'new t-1 leader=1 epoch=0'])
    assert.equal(running.image().partition('t', 1)?.leader, 1)
    channel.failing = (name) => (name === 't-2' ? 'KAFKA_STORAGE_ERROR' : null)
    const grown = await running.createPartitions({
      topics: [{ name: 't', count: 3, assignments: null }],
      validateOnly: false,
      timeoutMs: 1000,
    })
    assert.equal(grown[0]?.error, 'REQUEST_TIMED_OUT')
  })

  it('answers NOT_CONTROLLER when another one took over, and changes nothing more', async () => {
    const controller = await start()
    const other = embedded.connect()
    await other.set('/controller_epoch', Buffer.from('2'))
    assert.equal((await create(controller, topic('t')))[0]?.error, 'NOT_CONTROLLER')
    assert.equal(await store.exists('/brokers/topics/t'), null)
  })

  it('elects the first assigned replica that is in sync and lives, and takes dead brokers out of the ISR', async () => {
    // A three-broker tree, of which only broker 2 lives now.
    for (const { path, data } of vectors.json<{ path: string; data: string | null }[]>('znodes/three-brokers.json')) {
      if (/^\/brokers\/(topics|ids$)|^\/config\/topics/.test(path))
        await putNode(store, path, data === null ? null : Buffer.from(data))
    }
    const controller = await start({
      registration: { brokerId: 2, endpoints: [], rack: null },
      facts: () => ({ ...NO_FACTS, epochInLog: 0 }),
    })
    let led = 0
    for (const { partitions } of controller.image().topics()) {
      for (const { leader, isr, replicas } of partitions) {
        assert.equal(leader, replicas.includes(2) ? 2 : NO_LEADER)
        if (leader === 2) assert.deepEqual(isr, [2])
        led += leader === 2 ? 1 : 0
      }
    }
    assert.ok(led > 8)
  })

  it('makes 2,000 partitions in one request and starts on them again', async () => {
    const controller = await start()
    const [result] = await create(controller, topic('big', 2000))
    assert.equal(result?.error, 'NONE')
    const again = await restart({ facts: () => ({ ...NO_FACTS, epochInLog: 0, stoppedCleanly: false }) })
    assert.ok(
      again
        .image()
        .topic('big')
        ?.partitions.every(({ leader, leaderEpoch }) => leader === 1 && leaderEpoch === 1),
    )
  })

  it('gives up what it registered when it closes', async () => {
    const controller = await start()
    await controller.close()
    assert.deepEqual([await store.exists('/controller'), await store.children('/brokers/ids')], [null, []])
    assert.equal((await create(controller, topic('t')))[0]?.error, 'NOT_CONTROLLER')
  })

  it('starts on an adopted directory with holes: they have no leader, now and later', async () => {
    const folders = [0, 3].map((index) => ({ topic: 't', index, topicId: null, latestEpoch: 4 }))
    const input = { brokerId: 1, directories: [{ path: '/d', stoppedCleanly: true, folders }], deleting: new Set<string>() }
    const plan = planAdoption({ ...input, store: 'new', topic: () => undefined, topics: [] })
    await start()
    for (const each of plan.newTopics) {
      await putNode(
        store,
        ZNODES.topic.path(each.name),
        ZNODES.topic.encode({
          topicId: null,
          partitions: new Map(each.partitions.map(({ replicas }, index) => [index, replicas])),
          addingReplicas: new Map(),
          removingReplicas: new Map(),
        }),
      )
    }
    const adopted = await restart({ facts: plan.facts })
    const leaders = (running: SingleController) =>
      running
        .image()
        .topic('t')
        ?.partitions.map(({ leader, leaderEpoch }) => `${leader}/${leaderEpoch}`)
    assert.deepEqual(leaders(adopted), ['1/4', '-1/0', '-1/0', '1/4'])
    const image = adopted.image()
    const later = planAdoption({ ...input, store: 'found', topic: (name) => image.topic(name), topics: image.topics() })
    assert.deepEqual(leaders(await restart({ facts: later.facts })), ['1/4', '-1/0', '-1/0', '1/4'])
    assert.deepEqual(
      later.lines.map(({ message }) => message),
      ['t: partitions 1-2 are offline: their folders are missing in the log directories'],
    )
  })

  it('gives an id to a topic without one, once its configs are known, and keeps it', async () => {
    await create(await start(), topic('old', 1))
    const path = ZNODES.topic.path('old')
    const nameless = ZNODES.topic.encode({ ...ZNODES.topic.decode((await store.get(path))!.data, path), topicId: null })
    await store.set(path, nameless)
    await putNode(store, ZNODES.heldTopic.path('old'), null)
    const idOf = (controller: SingleController) => controller.image().topic('old')?.topicId
    assert.equal(idOf(await restart()), ZERO_TOPIC_ID)
    assert.equal(channel.led.get('old-0')?.topicId, ZERO_TOPIC_ID)
    await store.delete(ZNODES.heldTopic.path('old'))
    const named = idOf(await restart())
    assert.notEqual(named, ZERO_TOPIC_ID)
    assert.equal(channel.led.get('old-0')?.topicId, named)
    assert.equal(ZNODES.topic.decode((await store.get(path))!.data, path).topicId, named)
    assert.equal(idOf(await restart()), named)
  })

  it('answers with an error, and logs it, when the store fails', async () => {
    const errors: string[] = []
    const controller = await start({ log: { ...QUIET, error: (_, message) => errors.push(message) } })
    await embedded.expire(store.sessionId)
    assert.equal((await create(controller, topic('t')))[0]?.error, 'UNKNOWN_SERVER_ERROR')
    assert.deepEqual(errors, ['writeTopic failed'])
    await assert.rejects(store.get('/'), (error) => isStoreError(error, 'SESSION_EXPIRED'))
  })
})
