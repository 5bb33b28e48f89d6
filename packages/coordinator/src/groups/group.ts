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
import { DraftMap, DraftSet, type ReadonlyDraftSet } from './draft-map.js'

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
  /** In its order of preference, each name once. */
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

/** A plain value with checks: a decision works on a draft, which takes the place of the original when it holds. */
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
  #members = new DraftMap<string, Member>()
  /** Instance id → member id. Invariant: exactly the members with an instance id. */
  #statics = new DraftMap<string, string>()
  /** Protocol name → how many members know it. */
  #knownBy = new DraftMap<string, number>()
  /** How many members have a parked JoinGroup. */
  #joiningCount = 0
  /** Ids given out with MEMBER_ID_REQUIRED that have not come back yet (KIP-394). */
  #pending = new DraftSet<string>()
  /** Members that have the present generation and did not sync yet. */
  #pendingSync = new DraftSet<string>()

  constructor(
    readonly groupId: string,
    now: number,
  ) {
    this.stateSince = now
  }

  /** The same group, to be changed, at a cost that does not grow with it. Of several drafts of it at most one may come to hold. */
  draft(): Group {
    const draft = new Group(this.groupId, 0)
    draft.state = this.state
    draft.stateSince = this.stateSince
    draft.protocolType = this.protocolType
    draft.protocolName = this.protocolName
    draft.generation = this.generation
    draft.leader = this.leader
    draft.subscribedTopics = this.subscribedTopics
    draft.round = this.round
    draft.storedAt = this.storedAt
    draft.#members = this.#members.fork()
    draft.#statics = this.#statics.fork()
    draft.#knownBy = this.#knownBy.fork()
    draft.#joiningCount = this.#joiningCount
    draft.#pending = this.#pending.fork()
    draft.#pendingSync = this.#pendingSync.fork()
    return draft
  }

  get size(): number {
    return this.#members.size
  }
  get pending(): ReadonlyDraftSet<string> {
    return this.#pending
  }
  get pendingSync(): ReadonlyDraftSet<string> {
    return this.#pendingSync
  }
  get isConsumerGroup(): boolean {
    return this.protocolType === 'consumer'
  }
  /** The longest that any member needs. */
  get rebalanceTimeoutMs(): number {
    let longest = 0
    for (const { rebalanceTimeoutMs } of this.members()) longest = Math.max(longest, rebalanceTimeoutMs)
    return longest
  }
  get joiningCount(): number {
    return this.#joiningCount
  }

  /** Whether every member can take part in this protocol; so can nobody at all. */
  isKnownToAll(protocol: string): boolean {
    return (this.#knownBy.get(protocol) ?? 0) === this.size
  }

  *members(): IterableIterator<Member> {
    for (const [, member] of this.#members) yield member
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
    this.#recount(null, member)
    this.#pending.delete(member.memberId)
  }

  update(memberId: string, change: Partial<Omit<Member, 'memberId' | 'groupInstanceId'>>): Member {
    const before = this.get(memberId)
    const member = { ...before, ...change }
    this.#members.set(memberId, member)
    this.#recount(before, member)
    return member
  }

  /** A member, or an id that was only given out. */
  remove(memberId: string): void {
    const member = this.#members.get(memberId)
    if (member !== undefined) {
      this.#members.delete(memberId)
      this.#recount(member, null)
      if (member.groupInstanceId !== null) this.#statics.delete(member.groupInstanceId)
    }
    if (this.leader === memberId) this.leader = this.members().next().value?.memberId ?? null
    this.#pending.delete(memberId)
    this.#pendingSync.delete(memberId)
  }

  /** A static member came back without its id: it goes on under a new one, which fences whoever has the old one. */
  rename(memberId: string, newMemberId: string): Member {
    const before = this.get(memberId)
    const member = { ...before, memberId: newMemberId, joining: null, syncing: null }
    if (member.groupInstanceId === null) throw new InvariantError(`${memberId} is not a static member`)
    this.#members.delete(memberId)
    this.#members.set(newMemberId, member)
    this.#recount(before, member)
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
    return this.#pending.size === 0 && this.#joiningCount === this.size
  }

  /** A member came (null before), changed, or went (null after). */
  #recount(before: Member | null, after: Member | null): void {
    this.#joiningCount += isJoining(after) - isJoining(before)
    if (before?.protocols === after?.protocols) return
    for (const { name } of before?.protocols ?? []) this.#bump(name, -1)
    for (const { name } of after?.protocols ?? []) this.#bump(name, 1)
  }

  #bump(protocol: string, by: 1 | -1): void {
    const count = (this.#knownBy.get(protocol) ?? 0) + by
    if (count === 0) this.#knownBy.delete(protocol)
    else this.#knownBy.set(protocol, count)
  }
}

const isJoining = (member: Member | null): 0 | 1 => (member === null || member.joining === null ? 0 : 1)
