/**
 * One classic group: its states, its legal moves and its members.
 *
 *              first member joins            all joined, or time is up         leader's assignment is stored
 *     Empty ──────────────────▶ PreparingRebalance ──────────▶ CompletingRebalance ──────────▶ Stable
 *       ▲                         │   ▲   ▲                            │                         │
 *       └── nobody is left ───────┘   │   └── member in or out, ───────┘                         │
 *                                     │       changed, or late to sync                           │
 *                                     └── member in or out, or changed; leader joins again ──────┘
 *     any ──▶ Dead: deleted, or its last offset expired, or its partition is led elsewhere. A dead group is forgotten at once.
 *
 *                          JoinGroup          SyncGroup             Heartbeat     OffsetCommit of a member
 *     Empty                begins a round     25                    25            stored (without a generation)
 *     PreparingRebalance   parked             27                    27            stored
 *     CompletingRebalance  new round (1)      parked                0             27
 *     Stable               new round (1)      own assignment        0             stored
 *     (1) a known member that brings nothing new gets the present generation; in Stable the leader always begins a new round.
 */
import { InvariantError } from '@mq/protocol'
import type { RequestId } from '../runtime/shard.js'

export const CAN_BECOME = {
  Empty: ['PreparingRebalance', 'Dead'],
  PreparingRebalance: ['CompletingRebalance', 'Empty', 'Dead'],
  CompletingRebalance: ['Stable', 'PreparingRebalance', 'Dead'],
  Stable: ['PreparingRebalance', 'Dead'],
  Dead: [],
} as const satisfies Record<string, readonly string[]>

export type GroupState = keyof typeof CAN_BECOME

/** One way to divide the work that a member can take part in (an assignor), and what it wants to say to the leader then. */
export interface Protocol {
  readonly name: string
  readonly metadata: Buffer
}

export interface Member {
  readonly memberId: string
  /** Not null: a static member (KIP-345), who may come back under the same name. */
  readonly groupInstanceId: string | null
  readonly clientId: string
  /** As Kafka writes it: `/127.0.0.1`. */
  readonly clientHost: string
  readonly rebalanceTimeoutMs: number
  readonly sessionTimeoutMs: number
  /** In its order of preference. */
  readonly protocols: readonly Protocol[]
  /** What it owns in the present generation: empty until that is stored. */
  readonly assignment: Buffer
  /** Its parked JoinGroup. */
  readonly joining: RequestId | null
  /** Its parked SyncGroup. */
  readonly syncing: RequestId | null
  /** Has not got an answer to its first JoinGroup yet, so it cannot send heartbeats. */
  readonly isNew: boolean
}

/** The round under way: the first of an empty group waits for more members, the others for those that are known. */
export type Round =
  | { readonly kind: 'first'; readonly delayMs: number; readonly remainingMs: number; readonly newcomer: boolean }
  | { readonly kind: 'again' }

export const NO_ASSIGNMENT = Buffer.alloc(0)

/** A plain value with checks: a decision works on a copy, which takes the place of the original when it holds. */
export class Group {
  state: GroupState = 'Empty'
  /** Wall clock of the last move, null when an old record did not say. */
  stateSince: number | null
  /** Null: nobody ever joined; the group only stores offsets. */
  protocolType: string | null = null
  /** The protocol of the present generation. */
  protocolName: string | null = null
  generation = 0
  leader: string | null = null
  /** Null: not known. Of consumers only, as they said in the present generation. */
  subscribedTopics: ReadonlySet<string> | null = null
  round: Round | null = null
  /** Where its last group record stands, -1 when there is none. */
  storedAt = -1
  /** Invariant: the leader is one of them, if there are any. */
  #members = new Map<string, Member>()
  /** Instance id → member id. Invariant: exactly the members with an instance id. */
  #statics = new Map<string, string>()
  /** Ids given out with MEMBER_ID_REQUIRED that have not come back yet (KIP-394). */
  #pending = new Set<string>()
  /** Members that have the present generation and did not sync yet. */
  #pendingSync = new Set<string>()

  constructor(
    readonly groupId: string,
    now: number,
  ) {
    this.stateSince = now
  }

  copy(): Group {
    const copy = new Group(this.groupId, 0)
    copy.state = this.state
    copy.stateSince = this.stateSince
    copy.protocolType = this.protocolType
    copy.protocolName = this.protocolName
    copy.generation = this.generation
    copy.leader = this.leader
    copy.subscribedTopics = this.subscribedTopics
    copy.round = this.round
    copy.storedAt = this.storedAt
    copy.#members = new Map(this.#members)
    copy.#statics = new Map(this.#statics)
    copy.#pending = new Set(this.#pending)
    copy.#pendingSync = new Set(this.#pendingSync)
    return copy
  }

  get size(): number {
    return this.#members.size
  }
  get pending(): ReadonlySet<string> {
    return this.#pending
  }
  get pendingSync(): ReadonlySet<string> {
    return this.#pendingSync
  }
  get isConsumerGroup(): boolean {
    return this.protocolType === 'consumer'
  }
  /** The longest that any member needs. */
  get rebalanceTimeoutMs(): number {
    let longest = 0
    for (const { rebalanceTimeoutMs } of this.#members.values()) longest = Math.max(longest, rebalanceTimeoutMs)
    return longest
  }
  get joiningCount(): number {
    let count = 0
    for (const { joining } of this.#members.values()) if (joining !== null) count++
    return count
  }

  members(): IterableIterator<Member> {
    return this.#members.values()
  }

  has(memberId: string): boolean {
    return this.#members.has(memberId)
  }

  get(memberId: string): Member {
    const member = this.#members.get(memberId)
    if (!member) throw new InvariantError(`group ${this.groupId} has no member ${memberId}`)
    return member
  }

  staticMember(groupInstanceId: string): string | undefined {
    return this.#statics.get(groupInstanceId)
  }

  become(state: GroupState, now: number): void {
    if (!(CAN_BECOME[this.state] as readonly string[]).includes(state)) {
      throw new InvariantError(`group ${this.groupId} cannot go from ${this.state} to ${state}`)
    }
    this.state = state
    this.stateSince = now
  }

  add(member: Member, protocolType: string): void {
    if (this.#members.has(member.memberId)) throw new InvariantError(`${member.memberId} is in ${this.groupId} already`)
    if (member.groupInstanceId !== null) {
      if (this.#statics.has(member.groupInstanceId)) {
        throw new InvariantError(`static member ${member.groupInstanceId} is in ${this.groupId} already`)
      }
      this.#statics.set(member.groupInstanceId, member.memberId)
    }
    if (this.#members.size === 0) this.protocolType = protocolType
    this.leader ??= member.memberId
    this.#members.set(member.memberId, member)
    this.#pending.delete(member.memberId)
  }

  update(memberId: string, change: Partial<Omit<Member, 'memberId' | 'groupInstanceId'>>): Member {
    const member = { ...this.get(memberId), ...change }
    this.#members.set(memberId, member)
    return member
  }

  /** A member, or an id that was only given out. */
  remove(memberId: string): void {
    const member = this.#members.get(memberId)
    this.#members.delete(memberId)
    if (member !== undefined && member.groupInstanceId !== null) this.#statics.delete(member.groupInstanceId)
    if (this.leader === memberId) this.leader = this.#members.keys().next().value ?? null
    this.#pending.delete(memberId)
    this.#pendingSync.delete(memberId)
  }

  /** A static member came back without its id: it goes on under a new one, which fences whoever has the old one. */
  rename(memberId: string, newMemberId: string): Member {
    const member = { ...this.get(memberId), memberId: newMemberId, joining: null, syncing: null }
    if (member.groupInstanceId === null) throw new InvariantError(`${memberId} is not a static member`)
    this.#members.delete(memberId)
    this.#members.set(newMemberId, member)
    this.#statics.set(member.groupInstanceId, newMemberId)
    if (this.leader === memberId) this.leader = newMemberId
    if (this.#pendingSync.delete(memberId)) this.#pendingSync.add(newMemberId)
    return member
  }

  expect(memberId: string): void {
    this.#pending.add(memberId)
  }

  expectSync(memberId: string): void {
    this.#pendingSync.add(memberId)
  }

  synced(memberId: string): void {
    this.#pendingSync.delete(memberId)
  }

  expectNoSync(): void {
    this.#pendingSync.clear()
  }

  get allHaveJoined(): boolean {
    return this.#pending.size === 0 && this.joiningCount === this.#members.size
  }
}
