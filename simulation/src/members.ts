/**
 * A consumer group: members join, share the partitions of a topic, commit where they are, leave, die and come back. Checked: in one
 * generation no partition has two owners, generations rise, and a committed offset never goes back, over any restart.
 */
import { ConsumerProtocolAssignment, ConsumerProtocolSubscription, decodeVersioned, encodeVersioned } from '@mq/protocol'
import type { Client } from './client.js'
import { type Link, LinkLost } from './link.js'
import { nameOfError } from './requests.js'
import type { Violations } from './violations.js'

/** What is known of one group, by all its members together. */
export class GroupHistory {
  readonly #owners = new Map<string, string>()
  /** Partition → what was acknowledged last, and the highest that was asked for. */
  readonly #acknowledged: number[]
  readonly #asked: number[]
  commits = 0
  /** A group that was lost with unsynced data counts its generations anew. */
  #losses = 0
  rounds = 0

  constructor(
    readonly groupId: string,
    readonly topic: string,
    readonly partitions: number,
    private readonly violations: Violations,
  ) {
    this.#acknowledged = Array.from({ length: partitions }, () => -1)
    this.#asked = Array.from({ length: partitions }, () => -1)
  }

  owns(generation: number, member: string, partition: number): void {
    const key = `${this.#losses} ${generation} ${partition}`
    const owner = this.#owners.get(key)
    if (owner !== undefined && owner !== member) {
      this.violations.note(
        'two owners',
        `${this.groupId} generation ${generation}, ${this.topic}-${partition}: ${owner} and ${member}`,
      )
    }
    this.#owners.set(key, member)
  }

  /** What a member commits next: higher than anything asked for before. */
  nextFor(partition: number): number {
    this.#asked[partition] = this.#asked[partition]! + 1
    return this.#asked[partition]!
  }

  committed(partition: number, offset: number): void {
    this.commits++
    this.#acknowledged[partition] = Math.max(this.#acknowledged[partition]!, offset)
  }

  acknowledged(partition: number): number {
    return this.#acknowledged[partition]!
  }

  /** @param atLeast what had been acknowledged when it was asked for */
  found(partition: number, offset: number, atLeast: number): void {
    const where = `${this.groupId}, ${this.topic}-${partition}`
    if (offset < atLeast) this.violations.note('a committed offset went back', `${where}: ${atLeast}, now ${offset}`)
    if (offset > this.#asked[partition]!) this.violations.note('an offset that nobody committed', `${where}: ${offset}`)
  }

  /** After a power cut without syncs the last commits may be gone. */
  lostBehind(partition: number, offset: number): void {
    this.#acknowledged[partition] = Math.min(this.#acknowledged[partition]!, offset)
  }

  async inspect(link: Link, loss: 'possible' | 'none'): Promise<void> {
    // Before the first round there may be no topic of offsets.
    if (this.rounds === 0) return
    const offsets = await fetchOffsets(link, this)
    if (loss === 'possible') this.#losses++
    for (const [partition, offset] of offsets) {
      if (loss === 'possible') this.lostBehind(partition, offset)
      this.found(partition, offset, this.acknowledged(partition))
    }
  }
}

/** Errors that pass: the coordinator is being loaded, or its topic is being made. */
const PASSING = new Set(['COORDINATOR_LOAD_IN_PROGRESS', 'COORDINATOR_NOT_AVAILABLE', 'NOT_COORDINATOR'])

const MOST_TRIES = 500

async function fetchOffsets(link: Link, { groupId, topic, partitions }: GroupHistory): Promise<[number, number][]> {
  const partitionIndexes = Array.from({ length: partitions }, (_, at) => at)
  for (let tries = 0; ; tries++) {
    const answer = await link.ask('OffsetFetch', 7, { groupId, topics: [{ name: topic, partitionIndexes }] })
    const error = nameOfError(answer.errorCode)
    if (PASSING.has(error) && tries < MOST_TRIES) {
      await link.process.world.sleep(20)
      continue
    }
    if (error !== 'NONE') throw new Error(`offsets of ${groupId}: ${error}`)
    return answer.topics[0]!.partitions.map(({ partitionIndex, committedOffset }) => [partitionIndex, committedOffset])
  }
}

export class Member {
  #memberId = ''

  constructor(
    readonly client: Client,
    readonly history: GroupHistory,
  ) {}

  async run(isOver: () => boolean): Promise<void> {
    const { client } = this
    while (!isOver()) {
      try {
        const link = await client.link()
        await this.#coordinator(link)
        await this.#round(link, isOver)
      } catch (error) {
        if (!(error instanceof LinkLost)) throw error
        client.hangUp()
        // Some come back as who they were, some as somebody new.
        if (client.chance.happens(0.3)) this.#memberId = ''
      }
      await client.sleep(5, 300)
    }
    client.hangUp()
  }

  async #coordinator(link: Link): Promise<void> {
    const answer = await link.ask('FindCoordinator', 4, { keyType: 0, coordinatorKeys: [this.history.groupId] })
    const error = nameOfError(answer.coordinators[0]!.errorCode)
    if (error !== 'NONE') throw new LinkLost(error)
  }

  async #join(link: Link) {
    const { groupId, topic } = this.history
    const metadata = encodeVersioned(ConsumerProtocolSubscription, 1, { topics: [topic] })
    const protocols = [{ name: 'simple', metadata }]
    const request = { groupId, sessionTimeoutMs: 6000, rebalanceTimeoutMs: 3000, protocolType: 'consumer', protocols }
    const joined = await link.ask('JoinGroup', 7, { ...request, memberId: this.#memberId })
    const error = nameOfError(joined.errorCode)
    if (error === 'MEMBER_ID_REQUIRED') this.#memberId = joined.memberId
    else if (error === 'UNKNOWN_MEMBER_ID') this.#memberId = ''
    if (error !== 'NONE') throw new LinkLost(error)
    this.#memberId = joined.memberId
    return joined
  }

  async #round(link: Link, isOver: () => boolean): Promise<void> {
    const { client, history } = this
    const { generationId, members } = await this.#join(link)
    const { groupId, topic, partitions } = history
    const assignments = members.map(({ memberId }, at) => {
      const mine = Array.from({ length: partitions }, (_, index) => index).filter((index) => index % members.length === at)
      const assignedPartitions = mine.length === 0 ? [] : [{ topic, partitions: mine }]
      return { memberId, assignment: encodeVersioned(ConsumerProtocolAssignment, 1, { assignedPartitions }) }
    })
    const me = { groupId, generationId, memberId: this.#memberId }
    const synced = await link.ask('SyncGroup', 3, { ...me, assignments })
    const error = nameOfError(synced.errorCode)
    if (error !== 'NONE') return this.#refused(error)
    const { body } = decodeVersioned(ConsumerProtocolAssignment, synced.assignment)
    const owned = body.assignedPartitions.flatMap((of) => of.partitions)
    history.rounds++
    client.tell(`is ${this.#memberId.slice(-6)} in generation ${generationId} and owns ${owned.join(' ') || 'nothing'}`)
    for (const partition of owned) history.owns(generationId, this.#memberId, partition)
    while (!isOver()) {
      await client.sleep(20, 400)
      if (client.chance.happens(0.05)) return this.#leave(link)
      const beat = nameOfError((await link.ask('Heartbeat', 3, me)).errorCode)
      if (beat !== 'NONE') return this.#refused(beat)
      if (owned.length > 0) {
        const said = await this.#commit(link, me, client.chance.one(owned))
        if (said !== 'NONE') return this.#refused(said)
      }
    }
  }

  async #commit(link: Link, me: { groupId: string; generationId: number; memberId: string }, partition: number): Promise<string> {
    const { history } = this
    const atLeast = history.acknowledged(partition)
    const [, found] = (await fetchOffsets(link, history)).find(([index]) => index === partition)!
    history.found(partition, found, atLeast)
    const offset = history.nextFor(partition)
    const partitions = [{ partitionIndex: partition, committedOffset: offset, committedMetadata: '' }]
    const { groupId, memberId, generationId } = me
    const topics = [{ name: history.topic, partitions }]
    const request = { groupId, memberId, generationIdOrMemberEpoch: generationId, topics }
    const answer = await link.ask('OffsetCommit', 7, request)
    const error = nameOfError(answer.topics[0]!.partitions[0]!.errorCode)
    if (error === 'NONE') history.committed(partition, offset)
    return error
  }

  async #leave(link: Link): Promise<void> {
    const { groupId } = this.history
    await link.ask('LeaveGroup', 3, { groupId, members: [{ memberId: this.#memberId, groupInstanceId: null }] })
    this.client.tell('leaves')
    this.#memberId = ''
    await this.client.sleep(0, 800)
  }

  /** Joins again, with its id or without; on anything else over another connection. */
  #refused(error: string): void {
    this.client.tell(`must join again: ${error}`)
    if (error === 'UNKNOWN_MEMBER_ID' || error === 'FENCED_INSTANCE_ID') this.#memberId = ''
    else if (error !== 'REBALANCE_IN_PROGRESS' && error !== 'ILLEGAL_GENERATION') throw new LinkLost(error)
  }
}
