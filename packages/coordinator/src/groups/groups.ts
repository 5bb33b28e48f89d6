/**
 * The front of the group coordinator: finds the shard of a group and gives it the command, or says why there is none. Answers have
 * the fields of Kafka's responses.
 */
import { CODECS, type CodecName, type ErrorName, errorCode } from '@mq/protocol'
import type { CoordinatorConfig } from '../config.js'
import { fetchOffsets, type OffsetQuery, refuseFetch } from '../offsets/fetch.js'
import { shardOf } from '../runtime/placement.js'
import type { Clock, Logger, PartitionPort, Random, Timers } from '../runtime/ports.js'
import { Runtime } from '../runtime/runtime.js'
import {
  type DescribedGroup,
  type FetchedOffsets,
  type GroupCommand,
  type JoinCommand,
  type ListedGroup,
  newMemberId,
  type ReplyTo,
} from './commands.js'
import { describeGroup, type GroupFilter, listGroups } from './describe.js'
import type { GroupTypes } from './draft.js'
import { groupRules } from './rules.js'

export interface GroupsOptions {
  readonly config: CoordinatorConfig
  readonly clock: Clock
  readonly timers: Timers
  readonly random: Random
  readonly logger: Logger
  /** Partitions of `__consumer_offsets`: those that it has, or that it would be created with. */
  readonly partitionCount: () => number
  /** Wall clock: no offset counts as older than this. Default: there is no such moment. */
  readonly offsetsExpireNotBefore?: () => number
  /** Requests that may be open in one shard, parked ones among them. Default 100,000. */
  readonly requestLimit?: number
}

/** What a request brings; the groups add the random part. */
export type GroupRequest = Exclude<GroupCommand, JoinCommand> | Omit<JoinCommand, 'uniquePart'>
type AnswerTo<R extends GroupRequest> = R extends { kind: 'join' }
  ? ReplyTo<JoinCommand>
  : R extends GroupCommand
    ? ReplyTo<R>
    : never

/** Consumers that only keep offsets may have a group without a name, and tools must be able to see and delete it. */
const MAY_BE_NAMELESS: ReadonlySet<GroupCommand['kind']> = new Set(['commitOffsets', 'deleteGroup'])

export class Groups {
  readonly #options: GroupsOptions
  readonly #rules: ReturnType<typeof groupRules>
  readonly #runtime: Runtime<GroupTypes>
  #isOpen = true

  constructor(options: GroupsOptions) {
    const { config, clock, timers, logger } = options
    this.#options = options
    this.#rules = groupRules({ config, offsetsExpireNotBefore: options.offsetsExpireNotBefore ?? (() => 0) })
    this.#runtime = new Runtime({
      rules: this.#rules,
      clock,
      timers,
      logger,
      commitTimeoutMs: config['offsets.commit.timeout.ms'],
      codec: codecOf(config['offsets.topic.compression.codec']),
      ...(options.requestLimit === undefined ? {} : { requestLimit: options.requestLimit }),
    })
  }

  /** The partition of `__consumer_offsets` that a group belongs to; its leader is the coordinator. */
  partitionFor(groupId: string): number {
    return shardOf(groupId, this.#options.partitionCount())
  }

  /** This broker leads the partition: its groups and offsets are read from the log. Resolves when they are, or could not be. */
  load(partition: PartitionPort): Promise<void> {
    return this.#isOpen ? this.#runtime.load(partition) : Promise.resolve()
  }

  /** This broker does not lead the partition any more: whoever waits is answered with NOT_COORDINATOR. */
  unload(partition: number): void {
    this.#runtime.unload(partition)
  }

  get isLoading(): boolean {
    return this.#runtime.isLoading
  }

  /**
   * Gives the command to the group's shard. Resolves with the answer, which may take as long as a rebalance.
   * @param whenGone calls back once if whoever asked is gone before that; its result ends the watch. A newcomer that is gone before it
   * heard its id is not waited for.
   */
  run<R extends GroupRequest>(groupId: string, request: R, whenGone?: (gone: () => void) => () => void): Promise<AnswerTo<R>> {
    const command = (request.kind === 'join' ? { ...request, uniquePart: this.#uuid() } : request) as GroupCommand
    const error = this.#status(groupId, MAY_BE_NAMELESS.has(command.kind))
    if (error) return Promise.resolve(this.#refuse(command, error)) as Promise<AnswerTo<R>>
    const answer = this.#runtime.run(this.partitionFor(groupId), command) as Promise<AnswerTo<R>>
    if (whenGone && command.kind === 'join' && isNameless(command)) this.#watch(command, answer, whenGone)
    return answer
  }

  #watch(command: JoinCommand, answer: Promise<unknown>, whenGone: (gone: () => void) => () => void): void {
    const { groupId } = command
    const endWatch = whenGone(() => {
      void this.#runtime.run(this.partitionFor(groupId), { kind: 'abandoned', groupId, memberId: newMemberId(command) })
    })
    void answer.then(endWatch)
  }

  fetchOffsets(query: OffsetQuery): FetchedOffsets {
    const error = this.#status(query.groupId, true)
    if (error) return refuseFetch(query, error)
    return fetchOffsets(this.#runtime.stateOf(this.partitionFor(query.groupId))!, query)
  }

  describe(groupId: string): DescribedGroup {
    const error = this.#status(groupId, true)
    if (!error) return describeGroup(this.#runtime.stateOf(this.partitionFor(groupId))!, groupId)
    return { errorCode: errorCode(error), groupId, groupState: '', protocolType: '', protocolData: '', members: [] }
  }

  /** The groups of this broker; with an error beside them while some are still loading. */
  list(filter: GroupFilter): { readonly errorCode: number; readonly groups: readonly ListedGroup[] } {
    if (!this.#isOpen) return { errorCode: errorCode('COORDINATOR_NOT_AVAILABLE'), groups: [] }
    const groups = this.#runtime.activePartitions().flatMap((partition) => listGroups(this.#runtime.stateOf(partition)!, filter))
    return { errorCode: errorCode(this.isLoading ? 'COORDINATOR_LOAD_IN_PROGRESS' : 'NONE'), groups }
  }

  /** Partitions (null: all) of a topic were deleted, and with them what groups committed there. */
  partitionsDeleted(topic: string, partitions: readonly number[] | null): Promise<void> {
    return this.#runtime.runEverywhere({ kind: 'partitionsDeleted', topic, partitions })
  }

  /** Answers whoever waits with COORDINATOR_NOT_AVAILABLE. */
  close(): void {
    this.#isOpen = false
    this.#runtime.close()
  }

  #status(groupId: string, mayBeNameless: boolean): ErrorName | null {
    if (groupId === '' && !mayBeNameless) return 'INVALID_GROUP_ID'
    if (!this.#isOpen) return 'COORDINATOR_NOT_AVAILABLE'
    const status = this.#runtime.status(this.partitionFor(groupId))
    if (status === 'loading') return 'COORDINATOR_LOAD_IN_PROGRESS'
    return status === 'elsewhere' ? 'NOT_COORDINATOR' : null
  }

  #refuse(command: GroupCommand, error: ErrorName) {
    if (error === 'COORDINATOR_LOAD_IN_PROGRESS') {
      // Old clients do not know this answer here. The round that they were in is lost, so they may as well join again.
      if (command.kind === 'sync') return this.#rules.refusal(command, 'REBALANCE_IN_PROGRESS')
      // And a member lives as long as nobody has read that it is dead.
      if (command.kind === 'heartbeat') return this.#rules.refusal(command, 'NONE')
    }
    return this.#rules.refusal(command, error)
  }

  /** A random (version 4) UUID as Java writes it. */
  #uuid(): string {
    const bytes = Buffer.from(this.#options.random.bytes(16))
    bytes[6] = (bytes[6]! & 0x0f) | 0x40
    bytes[8] = (bytes[8]! & 0x3f) | 0x80
    const hex = bytes.toString('hex')
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
  }
}

/** Whether only the answer tells the member its id. */
const isNameless = ({ memberId, groupInstanceId, requiresKnownMemberId }: JoinCommand): boolean =>
  memberId === '' && groupInstanceId === null && !requiresKnownMemberId

function codecOf(id: number): CodecName {
  const codec = (Object.keys(CODECS) as CodecName[]).find((name) => CODECS[name].id === id)
  if (codec === undefined) throw new RangeError(`offsets.topic.compression.codec ${id} is not one of 0 to 4`)
  return codec
}
