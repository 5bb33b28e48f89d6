/**
 * One partition on this broker: leader or offline. It asks the rules (`leader.ts`, `acks.ts`), carries their effects out on
 * the log, and tells who waits when something moved.
 */
import type { Appended, AppendOrigin, LogPartition, ReadLimit, TopicConfig } from '@mq/log'
import { hold, release } from '@mq/protocol'
import { type Acks, acknowledge, admit } from './acks.js'
import type { ReplicaTopicConfig } from './config.js'
import { begin, type LeaderEffect, type LeaderState, type LeaderTerms, step } from './leader.js'
import { Mailbox } from './mailbox.js'
import { type PartitionError, type PartitionLog, type ReadResult, type Refusal, refusal } from './ports.js'
import type { Purgatory } from './purgatory.js'

/** A topic's configs as far as its partitions obey them. */
export type PartitionConfig = TopicConfig &
  ReplicaTopicConfig & {
    /** Whether old clients are served at the cost of converting what they fetch (KIP-283). */
    readonly 'message.downconversion.enable': boolean
  }

/** What one client's append asks for. `timeoutMs` counts for acks=-1 alone. */
export interface AppendOptions {
  readonly acks: Acks
  readonly origin: AppendOrigin
  readonly timeoutMs: number
}

export interface ReadOptions {
  /** The epoch that the reader believes in (KIP-320); -1: it does not say. */
  readonly currentLeaderEpoch: number
  readonly maxBytes: number
  readonly minOneMessage: boolean
  readonly upTo: ReadLimit
}

type Role =
  | { readonly kind: 'leader'; readonly state: LeaderState; readonly log: PartitionLog }
  | { readonly kind: 'offline'; readonly error: PartitionError; readonly message: string }

/** A committed-offset waiter: a coordinator that answers once its records are committed. */
interface Waiter {
  readonly offset: number
  readonly done: (outcome: 'committed' | 'lost') => void
}

export interface PartitionHooks {
  /** The high watermark, or what may be read, moved; or the role changed. */
  readonly moved: (partition: Partition) => void
  /** Where acks=all waits. */
  readonly delayedProduces: Purgatory
}

/** The leader epoch of a reader that names none. */
const NOT_SAID = -1

/** Turns that may wait behind a change of role. */
const MAILBOX_LIMIT = 10_000

export class Partition {
  readonly topicPartition: LogPartition
  readonly brokerId: number
  readonly #hooks: PartitionHooks
  readonly #mailbox = new Mailbox(MAILBOX_LIMIT)
  #config: PartitionConfig
  #role: Role = { kind: 'offline', error: 'NOT_LEADER_OR_FOLLOWER', message: 'this broker does not lead the partition yet' }
  #topicId: string | null = null
  #bytesAppended = 0
  #waiters: Waiter[] = []

  constructor(topicPartition: LogPartition, brokerId: number, config: PartitionConfig, hooks: PartitionHooks) {
    this.topicPartition = topicPartition
    this.brokerId = brokerId
    this.#config = config
    this.#hooks = hooks
  }

  get isLeader(): boolean {
    return this.#role.kind === 'leader'
  }
  /** base64url; null until a log is there, or when the log has none. */
  get topicId(): string | null {
    return this.#topicId
  }
  get config(): PartitionConfig {
    return this.#config
  }
  /** -1 when not the leader. */
  get leaderEpoch(): number {
    return this.#role.kind === 'leader' ? this.#role.state.leaderEpoch : -1
  }
  get isr(): readonly number[] {
    return this.#role.kind === 'leader' ? this.#role.state.isr : []
  }
  /** Undefined while offline. */
  get log(): PartitionLog | undefined {
    return this.#role.kind === 'leader' ? this.#role.log : undefined
  }
  /** Grows with every append: what a waiting fetch counts its bytes by. */
  get bytesAppended(): number {
    return this.#bytesAppended
  }

  configure(config: PartitionConfig): void {
    this.#config = config
  }

  /** Begins an epoch as leader; resolves when the epoch is noted on disk and appends may come. */
  async becomeLeader(log: PartitionLog, terms: LeaderTerms): Promise<void> {
    await this.#exclusively(async () => {
      const { state, effects } = begin(this.brokerId, terms, log)
      this.#topicId = log.topicId
      await this.#carryOutOnLog(log, effects)
      this.#role = { kind: 'leader', state, log }
      this.#moved()
    })
  }

  /** No longer serves: its directory failed, it is being deleted, or another broker leads. */
  async goOffline(error: PartitionError, message: string): Promise<void> {
    await this.#exclusively(() => {
      this.#role = { kind: 'offline', error, message }
      const waiters = this.#waiters
      this.#waiters = []
      for (const waiter of waiters) waiter.done('lost')
      this.#moved()
    })
  }

  /** Appended, once as many replicas as `acks` asks for have it; without a promise when the log wrote at once. */
  append(records: Buffer, options: AppendOptions): Appended | Refusal | Promise<Appended | Refusal> {
    if (this.#mailbox.isIdle) return this.#append(records, options)
    hold(records)
    const result = this.#mailbox.run(() => {
      try {
        return this.#append(records, options)
      } finally {
        release(records)
      }
    })
    if (result !== 'full') return result
    release(records)
    return refusal('REQUEST_TIMED_OUT', 'too many requests wait for this partition')
  }

  #append(records: Buffer, options: AppendOptions): Appended | Refusal | Promise<Appended | Refusal> {
    const role = this.#role
    if (role.kind === 'offline') return refusal(role.error, role.message)
    const admitted = admit(role.state, options.acks, this.#config['min.insync.replicas'])
    if (admitted !== 'admitted') {
      return refusal(
        admitted,
        `the ISR [${role.state.isr}] is smaller than min.insync.replicas ${this.#config['min.insync.replicas']}`,
      )
    }
    const result = role.log.append(records, { origin: options.origin, leaderEpoch: role.state.leaderEpoch })
    if (result instanceof Promise) {
      return result.then((written) =>
        written.kind === 'appended' ? this.#acknowledge(role, records.length, written, options) : written,
      )
    }
    return result.kind === 'appended' ? this.#acknowledge(role, records.length, result, options) : result
  }

  #acknowledge(
    role: Extract<Role, { kind: 'leader' }>,
    sizeInBytes: number,
    appended: Appended,
    options: AppendOptions,
  ): Appended | Refusal | Promise<Appended | Refusal> {
    if (this.#role !== role) return refusal('NOT_LEADER_OR_FOLLOWER', 'the leader changed during the append')
    if (!appended.duplicate) this.#bytesAppended += sizeInBytes
    this.#carryOut(role, step(role.state, { kind: 'appended', logEndOffset: appended.lastOffset + 1 }))
    if (options.acks !== -1) return appended
    const outcome = acknowledge(role.state, appended.lastOffset + 1, this.#config['min.insync.replicas'])
    if (outcome === 'acknowledged') return appended
    if (outcome !== 'waiting') return refusal(outcome, 'the ISR shrank below min.insync.replicas after the append')
    return this.#whenAcknowledged(role, appended, options.timeoutMs)
  }

  #whenAcknowledged(role: Extract<Role, { kind: 'leader' }>, appended: Appended, timeoutMs: number): Promise<Appended | Refusal> {
    return new Promise((resolve) => {
      this.#hooks.delayedProduces.add(
        {
          tryComplete: () => {
            if (this.#role !== role) {
              resolve(refusal('NOT_LEADER_OR_FOLLOWER', 'the leader changed before the record was replicated'))
              return true
            }
            const outcome = acknowledge(role.state, appended.lastOffset + 1, this.#config['min.insync.replicas'])
            if (outcome === 'waiting') return false
            resolve(outcome === 'acknowledged' ? appended : refusal(outcome, 'the ISR shrank after the append'))
            return true
          },
          giveUp: () => resolve(refusal('REQUEST_TIMED_OUT', 'not all in-sync replicas have the record in time')),
        },
        [this],
        timeoutMs,
      )
    })
  }

  /** Bytes from `offset`, as far as this reader may see. */
  read(offset: number, options: ReadOptions): ReadResult | Promise<ReadResult> {
    const log = this.logFor(options.currentLeaderEpoch)
    if (log.kind === 'refused') return log
    return log.log.read(offset, options)
  }

  /** The log, if the reader's epoch is ours (KIP-320): an older one is fenced, a newer one means that we are behind. */
  logFor(
    currentLeaderEpoch: number,
  ): { readonly kind: 'log'; readonly log: PartitionLog; readonly leader: LeaderState } | Refusal {
    const role = this.#role
    if (role.kind === 'offline') return refusal(role.error, role.message)
    const epoch = role.state.leaderEpoch
    if (currentLeaderEpoch !== NOT_SAID && currentLeaderEpoch < epoch) {
      return refusal('FENCED_LEADER_EPOCH', `leader epoch ${currentLeaderEpoch} is over, now it is ${epoch}`)
    }
    if (currentLeaderEpoch > epoch) {
      return refusal('UNKNOWN_LEADER_EPOCH', `leader epoch ${currentLeaderEpoch} is not known here, now it is ${epoch}`)
    }
    return { kind: 'log', log: role.log, leader: role.state }
  }

  /** Resolves when the record at `offset` is committed, or when this broker stops leading. */
  whenCommitted(offset: number): Promise<'committed' | 'lost'> {
    const role = this.#role
    if (role.kind === 'offline') return Promise.resolve('lost')
    if (role.state.highWatermark > offset) return Promise.resolve('committed')
    return new Promise((done) => {
      this.#waiters.push({ offset, done })
    })
  }

  /** Moves the log start up to `offset` (-1: the high watermark). Answers the low watermark of the replicas. */
  async deleteRecordsBefore(offset: number): Promise<{ readonly kind: 'deleted'; readonly lowWatermark: number } | Refusal> {
    const role = this.#role
    if (role.kind === 'offline') return refusal(role.error, role.message)
    if (!this.#config['cleanup.policy'].includes('delete')) {
      return refusal('POLICY_VIOLATION', 'records of a topic without cleanup.policy=delete cannot be deleted')
    }
    const to = offset === -1 ? role.state.highWatermark : offset
    if (to < 0 || to > role.state.highWatermark) {
      return refusal('OFFSET_OUT_OF_RANGE', `offset ${to} is not between 0 and the high watermark ${role.state.highWatermark}`)
    }
    const result = await role.log.deleteRecordsBefore(to)
    return result.kind === 'deleted' ? { kind: 'deleted', lowWatermark: result.logStartOffset } : result
  }

  /** Runs a change of role when no other is under way. */
  async #exclusively(turn: () => void | Promise<void>): Promise<void> {
    const result = this.#mailbox.run(turn)
    if (result === 'full')
      throw new Error(`partition ${this.topicPartition.topic}-${this.topicPartition.partition}: mailbox full`)
    await result
  }

  async #carryOutOnLog(log: PartitionLog, effects: readonly LeaderEffect[]): Promise<void> {
    for (const effect of effects) {
      if (effect.kind === 'noteEpoch') await log.assignEpoch(effect.leaderEpoch, effect.startOffset)
      else log.updateHighWatermark(effect.to)
    }
  }

  #carryOut(role: Extract<Role, { kind: 'leader' }>, effects: readonly LeaderEffect[]): void {
    for (const effect of effects) {
      if (effect.kind !== 'moveHighWatermark') continue
      role.log.updateHighWatermark(effect.to)
      this.#moved()
      if (this.#waiters.length > 0) this.#answerWaiters(effect.to)
    }
  }

  #answerWaiters(highWatermark: number): void {
    const waiting = this.#waiters
    this.#waiters = waiting.filter((waiter) => waiter.offset >= highWatermark)
    for (const waiter of waiting) if (waiter.offset < highWatermark) waiter.done('committed')
  }

  #moved(): void {
    this.#hooks.moved(this)
  }
}
