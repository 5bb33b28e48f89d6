/** The group APIs as a client meets them: every version decoded and encoded, over real groups on partitions in memory. */
import assert from 'node:assert/strict'
import { Groups, ManualTime, MemoryPartition, SeededRandom } from '@mq/coordinator'
import {
  APIS,
  type ApiName,
  type Body,
  ConsumerProtocolSubscription,
  decodeBody,
  ERRORS,
  encodeBody,
  encodeVersioned,
  errorByCode,
  type Input,
  type RequestOf,
  type ResponseOf,
  valuesOf,
} from '@mq/protocol'
import { CONFIG_ROWS } from '../config/tables.js'
import { EmbeddedStore } from '../metadata/embedded.js'
import { MetadataImage, type PartitionImage } from '../metadata/image.js'
import type { BrokerServices, RequestContext } from '../services.js'
import { clientHost } from './client-host.js'
import { HANDLERS } from './index.js'

const PARTITION: PartitionImage = {
  leader: 1,
  leaderEpoch: 0,
  isr: [1],
  replicas: [1],
  offlineReplicas: [],
  addingReplicas: [],
  removingReplicas: [],
  partitionEpoch: 0,
  controllerEpoch: 1,
}

const topic = (name: string, count: number) => ({
  name,
  topicId: 'AAAAAAAAAAAAAAAAAAAAAA',
  isInternal: name.startsWith('__'),
  partitions: Array<PartitionImage>(count).fill(PARTITION),
  configs: {},
})

class Assembly {
  readonly time = new ManualTime()
  readonly lines: string[] = []
  image = MetadataImage.empty.with({
    brokers: [
      {
        id: 1,
        epoch: 1,
        rack: null,
        endpoints: [{ listenerName: 'PLAINTEXT', securityProtocol: 'PLAINTEXT', host: 'here', port: 9 }],
      },
    ],
    topics: [topic('t', 3)],
  })
  readonly partitions = Array.from({ length: 50 }, (_, i) => new MemoryPartition(i))
  readonly broker: BrokerServices
  canCreate = true

  constructor() {
    const { time, lines } = this
    const config = { ...valuesOf(CONFIG_ROWS), 'group.initial.rebalance.delay.ms': 0 }
    const note = (_fields: object, line: string) => lines.push(line)
    const log = { debug() {}, info() {}, warn: note, error: note }
    const groups = new Groups({
      config,
      clock: time,
      timers: time,
      random: new SeededRandom(1),
      logger: log,
      partitionCount: () => this.image.topic('__consumer_offsets')?.partitions.length ?? 50,
    })
    const controller = {
      image: () => this.image,
      autoCreateTopics: async (names: readonly string[]) => {
        if (!this.canCreate) {
          return names.map((name) => ({ name, error: 'INVALID_REPLICATION_FACTOR', message: 'larger than available brokers: 1' }))
        }
        this.image = this.image.with({ topics: names.map((name) => topic(name, 50)) })
        for (const partition of this.partitions) await groups.load(partition)
        return names.map((name) => ({ name, error: 'LEADER_NOT_AVAILABLE', message: null }))
      },
    }
    const store = EmbeddedStore.inMemory(time).connect()
    this.broker = { config, clock: time, timers: time, log, groups, store, controller } as unknown as BrokerServices
  }

  /** Sends a request through bytes of its version and back. */
  async ask<Name extends ApiName>(api: Name, version: number, request: Input<RequestOf<Name>>): Promise<Body<ResponseOf<Name>>> {
    const handler = HANDLERS.find((one) => one.api === api)!
    assert.ok(version >= handler.minVersion && version <= handler.maxVersion, `${api} v${version}`)
    const schema = APIS[api]
    const context: RequestContext = {
      apiVersion: version,
      correlationId: 1,
      clientId: 'tester',
      listenerName: 'PLAINTEXT',
      clientAddress: '127.0.0.1',
      connectionId: '1',
      onGone: () => () => {},
      broker: this.broker,
    }
    const body = decodeBody(schema.request, version, encodeBody(schema.request, version, request))
    const answer = await handler.serve(body, context)
    const bytes = encodeBody(schema.response, version, answer as Input<ResponseOf<Name>>)
    return decodeBody(schema.response, version, bytes) as Body<ResponseOf<Name>>
  }

  findCoordinator(key = 'g') {
    return this.ask('FindCoordinator', 0, { key })
  }
}

const subscription = encodeVersioned(ConsumerProtocolSubscription, 0, { topics: ['t'] })
const versions = (api: ApiName): number[] => {
  const { minVersion, maxVersion } = HANDLERS.find((one) => one.api === api)!
  return Array.from({ length: maxVersion - minVersion + 1 }, (_, i) => minVersion + i)
}

/** One member in a stable group, by the given version of JoinGroup. */
async function joinAlone(assembly: Assembly, groupId: string, version: number) {
  const request = {
    groupId,
    sessionTimeoutMs: 10_000,
    ...(version >= 1 ? { rebalanceTimeoutMs: 20_000 } : {}),
    memberId: '',
    protocolType: 'consumer',
    protocols: [{ name: 'range', metadata: subscription }],
    ...(version >= 8 ? { reason: 'to test' } : {}),
  }
  let reply = await assembly.ask('JoinGroup', version, request)
  if (version >= 4) {
    assert.equal(errorByCode(reply.errorCode), 'MEMBER_ID_REQUIRED')
    assert.match(reply.memberId, /^tester-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    reply = await assembly.ask('JoinGroup', version, { ...request, memberId: reply.memberId })
  }
  return reply
}

describe('group APIs', () => {
  it('find the coordinator, making its topic, in every version', async () => {
    for (const version of versions('FindCoordinator')) {
      const assembly = new Assembly()
      if (version < 4) {
        const answer = await assembly.ask('FindCoordinator', version, { key: 'g' })
        assert.deepEqual([answer.errorCode, answer.nodeId, answer.host, answer.port], [0, 1, 'here', 9])
        if (version >= 1) assert.equal(answer.errorMessage, 'NONE')
      } else {
        const { coordinators } = await assembly.ask('FindCoordinator', version, { coordinatorKeys: ['g', 'h'], keyType: 0 })
        assert.deepEqual(
          coordinators.map(({ key, errorCode, nodeId }) => [key, errorCode, nodeId]),
          [
            ['g', 0, 1],
            ['h', 0, 1],
          ],
        )
      }
      assert.ok(assembly.image.topic('__consumer_offsets'))
    }
  })

  it('say that there are no transactions, no share groups and no such key types', async () => {
    const assembly = new Assembly()
    const old = await assembly.ask('FindCoordinator', 1, { key: 'tx', keyType: 1 })
    assert.deepEqual(
      [old.errorCode, old.errorMessage, old.nodeId, old.port],
      [53, 'This broker has no transactions yet.', -1, -1],
    )
    const odd = await assembly.ask('FindCoordinator', 1, { key: 'x', keyType: 9 })
    assert.deepEqual([odd.errorCode, odd.errorMessage], [42, 'There is no key type 9.'])
    const share = await assembly.ask('FindCoordinator', 3, { key: 'x', keyType: 2 })
    assert.deepEqual([share.errorCode, share.errorMessage], [42, ERRORS.INVALID_REQUEST.meaning])
    const ask = async (version: number, keyType: number) =>
      (await assembly.ask('FindCoordinator', version, { coordinatorKeys: ['x'], keyType })).coordinators[0]!.errorCode
    assert.equal(await ask(4, 1), 53)
    assert.equal(await ask(5, 2), 42)
    assert.equal(await ask(6, 2), 15)
    assert.equal(await ask(6, 9), 42)
    assert.equal(assembly.image.topic('__consumer_offsets'), undefined)
  })

  it('name the setting that keeps the offsets topic from being made, not too often (A-046)', async () => {
    const assembly = new Assembly()
    assembly.canCreate = false
    assert.equal((await assembly.findCoordinator()).errorCode, 15)
    assert.equal((await assembly.findCoordinator()).errorCode, 15)
    assert.equal(assembly.lines.length, 1)
    assert.match(assembly.lines[0]!, /offsets\.topic\.replication\.factor/)
    await assembly.time.advance(30_000)
    await assembly.findCoordinator()
    assert.equal(assembly.lines.length, 2)
  })

  it('answer NOT_COORDINATOR before the topic is there, each where it can say so', async () => {
    const assembly = new Assembly()
    for (const version of versions('JoinGroup')) {
      const request = { groupId: 'g', sessionTimeoutMs: 10_000, memberId: '', protocolType: 'c', protocols: [] }
      const answer = await assembly.ask('JoinGroup', version, request)
      assert.deepEqual(
        [answer.errorCode, answer.generationId, answer.protocolName, answer.leader],
        [16, -1, version >= 7 ? null : '', ''],
      )
    }
    for (const version of versions('Heartbeat')) {
      assert.equal((await assembly.ask('Heartbeat', version, { groupId: 'g', generationId: 1, memberId: 'm' })).errorCode, 16)
    }
    for (const version of versions('SyncGroup')) {
      const named = version >= 5 ? { protocolType: 'consumer', protocolName: 'range' } : {}
      assert.equal(
        (await assembly.ask('SyncGroup', version, { groupId: 'g', generationId: 1, memberId: 'm', ...named })).errorCode,
        16,
      )
    }
    for (const version of versions('LeaveGroup')) {
      const who = version >= 3 ? { members: [{ memberId: 'm' }] } : { memberId: 'm' }
      assert.equal((await assembly.ask('LeaveGroup', version, { groupId: 'g', ...who })).errorCode, 16)
    }
    for (const version of versions('OffsetFetch').slice(1)) {
      const topics = [{ name: 't', partitionIndexes: [0] }]
      const answer = await assembly.ask(
        'OffsetFetch',
        version,
        version >= 8 ? { groups: [{ groupId: 'g', topics }] } : { groupId: 'g', topics },
      )
      if (version === 1) assert.equal(answer.topics[0]!.partitions[0]!.errorCode, 16)
      else if (version < 8) assert.deepEqual([answer.errorCode, answer.topics], [16, []])
      else assert.deepEqual([answer.groups[0]!.errorCode, answer.groups[0]!.topics], [16, []])
    }
    const { groups } = await assembly.ask('DescribeGroups', 0, { groups: ['g'] })
    assert.deepEqual([groups[0]!.errorCode, groups[0]!.groupState], [16, ''])
    assert.deepEqual(await assembly.ask('DeleteGroups', 0, { groupsNames: ['g', 'g'] }), {
      throttleTimeMs: 0,
      results: [{ groupId: 'g', errorCode: 16, errorMessage: null }],
    })
  })

  it('join, sync, beat, describe and leave in every version', async () => {
    for (const version of versions('JoinGroup')) {
      const assembly = new Assembly()
      await assembly.findCoordinator()
      const joined = await joinAlone(assembly, 'g', version)
      assert.deepEqual(
        [joined.errorCode, joined.generationId, joined.protocolName, joined.leader],
        [0, 1, 'range', joined.memberId],
      )
      if (version >= 7) assert.equal(joined.protocolType, 'consumer')
      assert.deepEqual(
        joined.members.map(({ metadata }) => metadata),
        [subscription],
      )
      const { memberId } = joined
      const speaker = { groupId: 'g', generationId: 1, memberId }
      const sync = Math.min(version, 5)
      const named = sync >= 5 ? { protocolType: 'consumer', protocolName: 'range' } : {}
      const assignments = [{ memberId, assignment: Buffer.from('mine') }]
      const synced = await assembly.ask('SyncGroup', sync, { ...speaker, ...named, assignments })
      assert.deepEqual([synced.errorCode, synced.assignment.toString()], [0, 'mine'])
      assert.equal((await assembly.ask('Heartbeat', Math.min(version, 4), speaker)).errorCode, 0)
      const { groups } = await assembly.ask('DescribeGroups', Math.min(version, 5), { groups: ['g', 'none'] })
      assert.deepEqual(
        groups.map((group) => [group.groupState, group.protocolType, group.protocolData]),
        [
          ['Stable', 'consumer', 'range'],
          ['Dead', '', ''],
        ],
      )
      const member = groups[0]!.members[0]!
      assert.deepEqual([member.clientId, member.clientHost, member.memberAssignment.toString()], ['tester', '/127.0.0.1', 'mine'])
      assert.deepEqual(member.memberMetadata, subscription)
      assert.equal(groups[0]!.authorizedOperations, -2147483648)
      const leave = Math.min(version, 5)
      const who =
        leave >= 3 ? { members: [{ memberId, ...(leave >= 5 ? { reason: 'done' } : {}) }, { memberId: 'x' }] } : { memberId }
      const left = await assembly.ask('LeaveGroup', leave, { groupId: 'g', ...who })
      assert.equal(left.errorCode, 0)
      if (leave >= 3)
        assert.deepEqual(
          left.members.map(({ errorCode }) => errorByCode(errorCode)),
          ['NONE', 'UNKNOWN_MEMBER_ID'],
        )
      else assert.equal((await assembly.ask('LeaveGroup', leave, { groupId: 'g', memberId })).errorCode, 25)
    }
  })

  it('take the session timeout of JoinGroup v0 for the rebalance timeout too', async () => {
    const assembly = new Assembly()
    await assembly.findCoordinator()
    const joined = await joinAlone(assembly, 'g', 0)
    const assignments = [{ memberId: joined.memberId, assignment: Buffer.alloc(0) }]
    await assembly.ask('SyncGroup', 0, { groupId: 'g', generationId: 1, memberId: joined.memberId, assignments })
    const second = joinAlone(assembly, 'g', 0)
    // The first does not join again: it is out when its own timeout is over.
    for (let i = 0; i < 9; i++) {
      await assembly.time.advance(1000)
      await assembly.ask('Heartbeat', 0, { groupId: 'g', generationId: 1, memberId: joined.memberId })
    }
    await assembly.time.advance(1000)
    assert.equal((await second).generationId, 2)
  })

  it('want protocol type and name in SyncGroup v5, and no empty group name', async () => {
    const assembly = new Assembly()
    await assembly.findCoordinator()
    assert.equal((await assembly.ask('SyncGroup', 5, { groupId: 'g', generationId: 1, memberId: 'm' })).errorCode, 23)
    assert.equal((await assembly.ask('SyncGroup', 4, { groupId: '', generationId: 1, memberId: 'm' })).errorCode, 24)
    assert.equal((await assembly.ask('Heartbeat', 4, { groupId: '', generationId: 1, memberId: 'm' })).errorCode, 24)
    assert.equal((await assembly.ask('LeaveGroup', 4, { groupId: '', members: [] })).errorCode, 24)
    assert.equal((await assembly.ask('OffsetDelete', 0, { groupId: '', topics: [] })).errorCode, 24)
  })

  it('store offsets and give them back in every version, and none of partitions that are not there (A-045)', async () => {
    for (const version of versions('OffsetCommit')) {
      const assembly = new Assembly()
      await assembly.findCoordinator('')
      const partition = (partitionIndex: number) => ({
        partitionIndex,
        committedOffset: 7 + partitionIndex,
        committedMetadata: 'note',
        ...(version >= 6 ? { committedLeaderEpoch: 3 } : {}),
      })
      const topics = [
        { name: 't', partitions: [partition(0), partition(99)] },
        { name: 'missing', partitions: [partition(0)] },
        { name: 't', partitions: [partition(1)] },
      ]
      const answer = await assembly.ask('OffsetCommit', version, { groupId: 'g', topics })
      const errors = answer.topics.flatMap(({ name, partitions }) =>
        partitions.map(({ partitionIndex, errorCode }) => `${name}:${partitionIndex} ${errorCode}`),
      )
      assert.deepEqual(errors.sort(), ['missing:0 3', 't:0 0', 't:1 0', 't:99 3'])
      const fetch = version === 0 ? 0 : Math.min(Math.max(version, 1), 9)
      const wanted = [{ name: 't', partitionIndexes: [0, 1, 2] }]
      const fetched = await assembly.ask(
        'OffsetFetch',
        fetch,
        fetch >= 8 ? { groups: [{ groupId: 'g', topics: wanted }] } : { groupId: 'g', topics: wanted },
      )
      const found = fetch >= 8 ? fetched.groups[0]!.topics : fetched.topics
      const epoch = (known: boolean) => (known && version >= 6 && fetch >= 5 ? 3 : -1)
      // Version 0 lives in the metadata tree, without metadata; there, nothing committed is an error.
      const note = version === 0 ? '' : 'note'
      assert.deepEqual(
        found[0]!.partitions.map((p) => [p.committedOffset, p.metadata, p.errorCode, p.committedLeaderEpoch]),
        [
          [7, note, 0, epoch(true)],
          [8, note, 0, epoch(true)],
          [-1, '', version === 0 ? 3 : 0, -1],
        ],
      )
      if (version === 0) {
        const node = await assembly.broker.store.get('/consumers/g/offsets/t/1')
        assert.equal(node?.data?.toString(), '8')
        await assembly.ask('OffsetCommit', 0, {
          groupId: 'g',
          topics: [{ name: 't', partitions: [{ partitionIndex: 1, committedOffset: 20 }] }],
        })
        assert.equal((await assembly.broker.store.get('/consumers/g/offsets/t/1'))?.data?.toString(), '20')
        assert.equal((await assembly.ask('DescribeGroups', 0, { groups: ['g'] })).groups[0]!.groupState, 'Dead')
      } else {
        const all = await assembly.ask('OffsetFetch', 8, {
          groups: [
            { groupId: 'g', topics: null },
            { groupId: 'other', topics: null },
          ],
        })
        assert.deepEqual(
          all.groups.map(({ topics: ts }) => ts.flatMap(({ partitions }) => partitions.length)),
          [[2], []],
        )
      }
    }
  })

  it('keep odd group names of version 0 in their place in the tree', async () => {
    const assembly = new Assembly()
    const topics = [{ name: 't', partitions: [{ partitionIndex: 0, committedOffset: 1 }] }]
    for (const groupId of ['../../brokers', 'a/b', '..', '.', '', 'a\0b']) {
      const answer = await assembly.ask('OffsetCommit', 0, { groupId, topics })
      assert.equal(errorByCode(answer.topics[0]!.partitions[0]!.errorCode), 'INVALID_GROUP_ID', groupId)
      const fetched = await assembly.ask('OffsetFetch', 0, { groupId, topics: [{ name: 't', partitionIndexes: [0] }] })
      assert.equal(fetched.topics[0]!.partitions[0]!.errorCode, 3)
    }
    assert.equal(await assembly.broker.store.get('/consumers'), null)
  })

  it('use the time and the retention that old versions of OffsetCommit may name', async () => {
    const assembly = new Assembly()
    await assembly.findCoordinator()
    const week = 7 * 24 * 3600 * 1000
    const commit = (version: number, partitionIndex: number, extra: object, more: object) =>
      assembly.ask('OffsetCommit', version, {
        groupId: 'g',
        ...extra,
        topics: [{ name: 't', partitions: [{ partitionIndex, committedOffset: 1, ...more }] }],
      })
    await commit(1, 0, {}, { commitTimestamp: assembly.time.now() - week + 3_600_000 })
    await commit(2, 1, { retentionTimeMs: 2 * 3_600_000 }, {})
    await commit(5, 2, {}, {})
    const left = async () => {
      const { topics } = await assembly.ask('OffsetFetch', 2, { groupId: 'g', topics: null })
      return topics.flatMap(({ partitions }) => partitions.map(({ partitionIndex }) => partitionIndex)).sort()
    }
    assert.deepEqual(await left(), [0, 1, 2])
    await assembly.time.advance(3_600_000 + 600_000)
    assert.deepEqual(await left(), [1, 2])
    await assembly.time.advance(3_600_000)
    assert.deepEqual(await left(), [2])
  })

  it('list by state and type, delete groups and offsets, and tell what is allowed', async () => {
    const assembly = new Assembly()
    await assembly.findCoordinator()
    await joinAlone(assembly, 'active', 5)
    const topics = [{ name: 't', partitions: [{ partitionIndex: 0, committedOffset: 1 }] }]
    await assembly.ask('OffsetCommit', 5, { groupId: 'simple', topics })
    const list = async (version: number, filter: object = {}) =>
      (await assembly.ask('ListGroups', version, filter)).groups
        .map(({ groupId, protocolType, groupState, groupType }) => `${groupId}:${protocolType}:${groupState}:${groupType}`)
        .sort()
    assert.deepEqual(await list(0), ['active:consumer::', 'simple:::'])
    assert.deepEqual(await list(5), ['active:consumer:CompletingRebalance:classic', 'simple::Empty:classic'])
    assert.deepEqual(await list(4, { statesFilter: ['empty', 'Dead'] }), ['simple::Empty:'])
    assert.deepEqual(await list(5, { typesFilter: ['Classic'] }), await list(5))
    assert.deepEqual(await list(5, { typesFilter: ['consumer', 'nonsense'] }), [])
    const described = await assembly.ask('DescribeGroups', 5, { groups: ['simple'], includeAuthorizedOperations: true })
    assert.equal(described.groups[0]!.authorizedOperations, 328)
    const deleted = await assembly.ask('OffsetDelete', 0, {
      groupId: 'simple',
      topics: [{ name: 't', partitions: [{ partitionIndex: 0 }, { partitionIndex: 9 }] }],
    })
    assert.deepEqual(
      deleted.topics[0]!.partitions.map(({ partitionIndex, errorCode }) => [partitionIndex, errorCode]),
      [
        [9, 3],
        [0, 0],
      ],
    )
    assert.equal((await assembly.ask('OffsetDelete', 0, { groupId: 'simple', topics: [] })).errorCode, 69)
    const { results } = await assembly.ask('DeleteGroups', 2, { groupsNames: ['active', 'simple', 'simple'] })
    assert.deepEqual(
      results.map(({ groupId, errorCode }) => [groupId, errorCode]),
      [
        ['active', 68],
        ['simple', 69],
      ],
    )
  })

  it('write a client address as Java does', () => {
    assert.equal(clientHost('127.0.0.1'), '/127.0.0.1')
    assert.equal(clientHost('::1'), '/0:0:0:0:0:0:0:1')
    assert.equal(clientHost('::ffff:10.0.0.1'), '/10.0.0.1')
    assert.equal(clientHost('fe80::A00:27ff:fe4e:66a1%eth0'), '/fe80:0:0:0:a00:27ff:fe4e:66a1%eth0')
    assert.equal(clientHost('2001:0db8:0:0:0:0:0:1'), '/2001:db8:0:0:0:0:0:1')
    assert.equal(clientHost('memory'), '/memory')
  })
})
