/**
 * Members that join, sync, beat, leave and fall silent in any order, under a log that holds back, refuses and fails, and a coordinator
 * that is loaded again in between. Whatever happens: a partition has one owner in a generation, the log tells the same as memory,
 * everybody is answered, and once there is calm the group is whole.
 */
import assert from 'node:assert/strict'
import { errorByCode, valuesOf } from '@mq/protocol'
import fc from 'fast-check'
import { COORDINATOR_CONFIG } from '../config.js'
import { SILENT } from '../runtime/ports.js'
import { ManualTime, MemoryPartition, SeededRandom, settled } from '../testing.js'
import type { JoinReply } from './commands.js'
import { Groups } from './groups.js'

const PARTITIONS = ['p0', 'p1', 'p2', 'p3', 'p4']
const CLIENTS = 4
const SESSION_MS = 6000

type Step =
  | { readonly kind: 'join' | 'sync' | 'heartbeat' | 'leave' | 'forget' | 'commit'; readonly who: number }
  | { readonly kind: 'tick'; readonly ms: number }
  | {
      readonly kind: 'log'
      readonly what: 'hold' | 'commit' | 'NOT_ENOUGH_REPLICAS' | 'MESSAGE_TOO_LARGE' | 'KAFKA_STORAGE_ERROR'
    }
  | { readonly kind: 'reload' }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constantFrom('join', 'join', 'sync', 'sync', 'heartbeat', 'leave', 'forget', 'commit' as const),
      who: fc.nat(CLIENTS - 1),
    }) as fc.Arbitrary<Step>,
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('tick' as const), ms: fc.constantFrom(1, 100, 1000, 3000, 5000, 7000) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('log' as const),
      what: fc.constantFrom(
        'hold',
        'commit',
        'commit',
        'NOT_ENOUGH_REPLICAS',
        'MESSAGE_TOO_LARGE',
        'KAFKA_STORAGE_ERROR' as const,
      ),
    }) as fc.Arbitrary<Step>,
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'reload' as const }) },
)

/** A member as a client plays it. The odd ones are static, the third speaks an old version. */
class Client {
  memberId = ''
  generation = -1
  /** Null: not synced in this generation. */
  owned: readonly string[] | null = null
  members: JoinReply['members'] = []
  open = 0
  calls = 0
  readonly instance: string | null

  constructor(
    readonly index: number,
    private readonly world: World,
  ) {
    this.instance = index % 2 === 1 ? `instance-${index}` : null
  }

  get key(): string {
    return this.instance ?? this.memberId
  }

  join(): void {
    const { groups } = this.world
    this.#ask(
      groups.run('g', {
        kind: 'join',
        groupId: 'g',
        memberId: this.memberId,
        groupInstanceId: this.instance,
        clientId: `c${this.index}`,
        clientHost: '/127.0.0.1',
        sessionTimeoutMs: SESSION_MS,
        rebalanceTimeoutMs: 5000,
        protocolType: 'consumer',
        protocols: [{ name: 'range', metadata: Buffer.from([0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]) }],
        reason: null,
        requiresKnownMemberId: this.index !== 2 && this.instance === null,
        supportsSkippingAssignment: true,
      }),
      (reply) => {
        const error = errorByCode(reply.errorCode)
        if (error === 'MEMBER_ID_REQUIRED') this.memberId = reply.memberId
        else if (error === 'UNKNOWN_MEMBER_ID' || error === 'FENCED_INSTANCE_ID') this.reset()
        if (error !== 'NONE') return
        this.memberId = reply.memberId
        this.generation = reply.generationId
        this.owned = null
        this.members = reply.leader === reply.memberId && !reply.skipAssignment ? reply.members : []
      },
    )
  }

  sync(): void {
    if (this.generation < 0) return
    const { generation, memberId, key } = this
    const assignments = this.members.map((member, i) => ({
      memberId: member.memberId,
      assignment: Buffer.from(PARTITIONS.filter((_, p) => p % this.members.length === i).join(' ')),
    }))
    this.#ask(
      this.world.groups.run('g', {
        kind: 'sync',
        ...this.#speaker(),
        protocolType: 'consumer',
        protocolName: 'range',
        assignments,
      }),
      (reply) => {
        const error = errorByCode(reply.errorCode)
        if (error === 'UNKNOWN_MEMBER_ID' || error === 'FENCED_INSTANCE_ID') this.reset()
        if (error === 'REBALANCE_IN_PROGRESS' || error === 'ILLEGAL_GENERATION') this.generation = -1
        if (error !== 'NONE') return
        const owned = reply.assignment.toString().split(' ').filter(Boolean)
        this.world.tell(generation, this.instance === null ? memberId : key, owned)
        if (this.generation === generation && this.memberId === memberId) this.owned = owned
      },
    )
  }

  heartbeat(): void {
    this.#ask(this.world.groups.run('g', { kind: 'heartbeat', ...this.#speaker() }), ({ errorCode }) => {
      const error = errorByCode(errorCode)
      if (error === 'UNKNOWN_MEMBER_ID' || error === 'FENCED_INSTANCE_ID') this.reset()
      else if (error !== 'NONE') this.generation = -1
    })
  }

  leave(): void {
    const members = [{ memberId: this.memberId, groupInstanceId: this.instance, reason: null }]
    this.#ask(this.world.groups.run('g', { kind: 'leave', groupId: 'g', members }), () => {})
    this.reset()
  }

  commit(): void {
    const partition = {
      partitionIndex: this.index,
      committedOffset: ++this.world.offset,
      committedLeaderEpoch: -1,
      committedMetadata: '',
      commitTimestamp: -1,
    }
    const topics = [{ name: 't', partitions: [partition] }]
    this.#ask(this.world.groups.run('g', { kind: 'commitOffsets', ...this.#speaker(), retentionTimeMs: -1, topics }), () => {})
  }

  reset(): void {
    this.memberId = ''
    this.generation = -1
    this.owned = null
    this.members = []
  }

  /** What a well-behaved client does next. */
  behave(): void {
    if (this.open > 0) return
    if (this.generation < 0) this.join()
    else if (this.owned === null) this.sync()
    else this.heartbeat()
  }

  #speaker() {
    return { groupId: 'g', memberId: this.memberId, groupInstanceId: this.instance, generationId: this.generation }
  }

  #ask<R>(reply: Promise<R>, take: (reply: R) => void): void {
    this.open++
    this.calls++
    void reply.then((value) => {
      this.open--
      take(value)
    })
  }
}

class World {
  readonly time = new ManualTime()
  readonly port = new MemoryPartition(0)
  readonly groups = this.#groups()
  readonly clients = Array.from({ length: CLIENTS }, (_, i) => new Client(i, this))
  /** Generation → partition → who was told to own it. */
  readonly #told = new Map<number, Map<string, string>>()
  offset = 0

  #groups(): Groups {
    const day = 24 * 3600 * 1000
    return new Groups({
      config: valuesOf(COORDINATOR_CONFIG, {
        'offsets.retention.check.interval.ms': day,
        'group.initial.rebalance.delay.ms': 100,
      }),
      clock: this.time,
      timers: this.time,
      random: new SeededRandom(7),
      logger: SILENT,
      partitionCount: () => 1,
    })
  }

  async begin(): Promise<void> {
    await this.groups.load(this.port)
    // An offset keeps the group, and with it the generation, when all members are gone.
    const partition = {
      partitionIndex: 99,
      committedOffset: 1,
      committedLeaderEpoch: -1,
      committedMetadata: '',
      commitTimestamp: -1,
    }
    const topics = [{ name: 't', partitions: [partition] }]
    const anybody = { groupId: 'g', memberId: '', groupInstanceId: null, generationId: -1, retentionTimeMs: -1 }
    await this.groups.run('g', { kind: 'commitOffsets', ...anybody, topics })
  }

  async play(action: Step): Promise<void> {
    switch (action.kind) {
      case 'tick':
        await this.time.advance(action.ms)
        break
      case 'reload':
        await this.reload()
        break
      case 'log':
        if (action.what === 'hold') this.port.mode = 'hold'
        else if (action.what === 'commit') this.calmLog()
        else this.port.failure = action.what
        break
      case 'forget':
        this.clients[action.who]!.reset()
        break
      default:
        this.clients[action.who]![action.kind]()
    }
    await settled()
  }

  async reload(): Promise<void> {
    this.groups.unload(0)
    await settled()
    await this.groups.load(this.port)
    await settled()
  }

  calmLog(): void {
    this.port.mode = 'commit'
    this.port.commit()
  }

  tell(generation: number, member: string, owned: readonly string[]): void {
    let owners = this.#told.get(generation)
    if (!owners) {
      owners = new Map()
      this.#told.set(generation, owners)
    }
    for (const partition of owned) {
      const owner = owners.get(partition)
      assert.ok(
        owner === undefined || owner === member,
        `${partition} has two owners in generation ${generation}: ${owner}, ${member}`,
      )
      owners.set(partition, member)
    }
  }

  /** What the log alone tells, read by a coordinator of its own. */
  async fromLog() {
    const other = this.#groups()
    await other.load(this.port)
    const seen = { group: other.describe('g'), offsets: other.fetchOffsets({ groupId: 'g', topics: null, requireStable: false }) }
    other.close()
    return seen
  }
}

const byName = <T extends { readonly memberId: string }>(members: readonly T[]): T[] =>
  [...members].sort((a, b) => a.memberId.localeCompare(b.memberId))

describe('any interleaving of members', () => {
  it('keeps one owner for each partition, loses nothing that the log has, answers everybody, and ends whole', async function () {
    this.timeout(60_000)
    const seed = process.env.SEED === undefined ? undefined : Number(process.env.SEED)
    const property = fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 120 }), async (steps) => {
      const world = new World()
      await world.begin()
      for (const action of steps) {
        await world.play(action)
        const live = world.groups.describe('g')
        assert.ok(world.time.timerCount < 200, 'timers pile up')
        if (live.groupState !== 'Stable' && live.groupState !== 'Empty') continue
        const { group } = await world.fromLog()
        // A group that never had members was never written.
        if (live.protocolType !== '')
          assert.deepEqual({ ...group, members: byName(group.members) }, { ...live, members: byName(live.members) })
      }
      // Calm: the log works, and every client does what a client does.
      world.calmLog()
      world.port.failure = null
      for (let second = 0; second < 60; second++) {
        for (const client of world.clients) client.behave()
        await world.time.advance(1000)
      }
      const live = world.groups.describe('g')
      assert.equal(live.groupState, 'Stable')
      assert.deepEqual(live.members.map(({ memberId }) => memberId).sort(), world.clients.map(({ memberId }) => memberId).sort())
      assert.deepEqual(world.clients.flatMap(({ owned }) => owned ?? []).sort(), PARTITIONS)
      const { offsets } = await world.fromLog()
      assert.deepEqual(offsets, world.groups.fetchOffsets({ groupId: 'g', topics: null, requireStable: true }))
      world.groups.close()
      await settled()
      assert.equal(world.time.timerCount, 0)
      for (const { open, calls } of world.clients) assert.equal(open, 0, `${open} of ${calls} requests were never answered`)
    })
    await fc.assert(property, { numRuns: 200, ...(seed === undefined ? {} : { seed }) })
  })
})
