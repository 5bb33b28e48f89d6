/** Members as clients play them, and the world that they live in: for the tests that let anything happen in any order. */
import assert from 'node:assert/strict'
import { errorByCode, valuesOf } from '@mq/protocol'
import { COORDINATOR_CONFIG } from '../config.js'
import { SILENT } from '../runtime/ports.js'
import { ManualTime, MemoryPartition, SeededRandom, settled } from '../testing.js'
import type { JoinReply } from './commands.js'
import { Groups } from './groups.js'

const SESSION_MS = 6000

export type Step =
  | { readonly kind: 'join' | 'sync' | 'heartbeat' | 'leave' | 'forget' | 'commit'; readonly who: number }
  | { readonly kind: 'tick'; readonly ms: number }
  | {
      readonly kind: 'log'
      readonly what: 'hold' | 'commit' | 'NOT_ENOUGH_REPLICAS' | 'MESSAGE_TOO_LARGE' | 'KAFKA_STORAGE_ERROR'
    }
  | { readonly kind: 'reload' }

/** A member as a client plays it. The odd ones are static, the third speaks an old version. */
export class Client {
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
      assignment: Buffer.from(this.world.partitions.filter((_, p) => p % this.members.length === i).join(' ')),
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

export class World {
  readonly time = new ManualTime()
  readonly port = new MemoryPartition(0)
  readonly groups = this.#groups()
  readonly partitions: readonly string[]
  readonly clients: readonly Client[]
  /** Generation → partition → who was told to own it. */
  readonly #told = new Map<number, Map<string, string>>()
  offset = 0

  constructor(clientCount: number, partitionCount: number) {
    this.partitions = Array.from({ length: partitionCount }, (_, i) => `p${i}`)
    this.clients = Array.from({ length: clientCount }, (_, i) => new Client(i, this))
  }

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

  /** Some seconds in which the log works and every client does what a client does. */
  async calm(seconds: number): Promise<void> {
    this.calmLog()
    this.port.failure = null
    for (let second = 0; second < seconds; second++) {
      for (const client of this.clients) client.behave()
      await this.time.advance(1000)
    }
  }

  /** Every client is in, and every partition has exactly one owner. */
  assertWhole(): void {
    const live = this.groups.describe('g')
    assert.equal(live.groupState, 'Stable')
    const ids = (of: readonly { readonly memberId: string }[]) => of.map(({ memberId }) => memberId).sort()
    assert.deepEqual(ids(live.members), ids(this.clients))
    assert.deepEqual(this.clients.flatMap(({ owned }) => owned ?? []).sort(), [...this.partitions].sort())
  }

  /** The highest in which anybody was told what to own. */
  get generation(): number {
    return Math.max(0, ...this.#told.keys())
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
