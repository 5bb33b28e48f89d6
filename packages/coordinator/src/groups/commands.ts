/** What a group shard can be told, and what it answers: commands with the fields of Kafka's requests, replies with those of its responses. */
import type { Protocol } from './group.js'

export interface JoinCommand {
  readonly kind: 'join'
  readonly groupId: string
  /** Empty: unknown yet. */
  readonly memberId: string
  readonly groupInstanceId: string | null
  readonly clientId: string
  /** `/127.0.0.1` */
  readonly clientHost: string
  readonly sessionTimeoutMs: number
  readonly rebalanceTimeoutMs: number
  readonly protocolType: string
  readonly protocols: readonly Protocol[]
  readonly reason: string | null
  /** KIP-394: a newcomer is first given its id, and counts when it comes back with it. */
  readonly requiresKnownMemberId: boolean
  /** KIP-814: a static leader that comes back can be told not to assign again. */
  readonly supportsSkippingAssignment: boolean
  /** The random part of a new member's id: what is drawn at random comes with the command, so that deciding is repeatable. */
  readonly uniquePart: string
}

export interface SyncCommand {
  readonly kind: 'sync'
  readonly groupId: string
  readonly memberId: string
  readonly groupInstanceId: string | null
  readonly generationId: number
  /** Null in old versions: not compared. */
  readonly protocolType: string | null
  readonly protocolName: string | null
  readonly assignments: readonly { readonly memberId: string; readonly assignment: Buffer }[]
}

export interface HeartbeatCommand {
  readonly kind: 'heartbeat'
  readonly groupId: string
  readonly memberId: string
  readonly groupInstanceId: string | null
  readonly generationId: number
}

export interface LeavingMember {
  /** Empty, with an instance id: whoever has that instance (an administrator removes it). */
  readonly memberId: string
  readonly groupInstanceId: string | null
  readonly reason: string | null
}

export interface LeaveCommand {
  readonly kind: 'leave'
  readonly groupId: string
  readonly members: readonly LeavingMember[]
}

export interface PartitionToCommit {
  readonly partitionIndex: number
  readonly committedOffset: number
  /** -1: not said. */
  readonly committedLeaderEpoch: number
  readonly committedMetadata: string | null
  /** -1: now. */
  readonly commitTimestamp: number
}

export interface CommitOffsetsCommand {
  readonly kind: 'commitOffsets'
  readonly groupId: string
  readonly memberId: string
  readonly groupInstanceId: string | null
  /** -1: the client does not use group management. */
  readonly generationId: number
  /** -1: as configured. */
  readonly retentionTimeMs: number
  readonly topics: readonly { readonly name: string; readonly partitions: readonly PartitionToCommit[] }[]
}

export interface DeleteOffsetsCommand {
  readonly kind: 'deleteOffsets'
  readonly groupId: string
  readonly topics: readonly { readonly name: string; readonly partitions: readonly { readonly partitionIndex: number }[] }[]
}

export interface DeleteGroupCommand {
  readonly kind: 'deleteGroup'
  readonly groupId: string
}

/** What requests ask for. */
export type GroupCommand =
  | JoinCommand
  | SyncCommand
  | HeartbeatCommand
  | LeaveCommand
  | CommitOffsetsCommand
  | DeleteOffsetsCommand
  | DeleteGroupCommand

/** What a shard tells itself: timers, and work that follows from other work. */
export type InnerCommand =
  | { readonly kind: 'sessionExpired'; readonly groupId: string; readonly memberId: string }
  | { readonly kind: 'pendingExpired'; readonly groupId: string; readonly memberId: string }
  | { readonly kind: 'abandoned'; readonly groupId: string; readonly memberId: string }
  | { readonly kind: 'joinDeadline'; readonly groupId: string }
  | { readonly kind: 'syncDeadline'; readonly groupId: string; readonly generationId: number }
  | { readonly kind: 'assignmentNotStored'; readonly groupId: string; readonly generationId: number; readonly errorCode: number }
  | { readonly kind: 'expireOffsets' }
  | { readonly kind: 'partitionsDeleted'; readonly topic: string; readonly partitions: readonly number[] | null }

export type ShardCommand = GroupCommand | InnerCommand

/** As many characters of a name are at most 30,000 bytes: the rest of a member id still fits the 32,767 bytes that a string may have. */
const MOST_NAME_CHARACTERS = 10_000

/**
 * The id of a new member: what it is called by others, and something that no other has. A name is cut before the id grows beyond what a
 * string may have: no answer could hold it, and its group could not be described.
 */
export const newMemberId = ({ groupInstanceId, clientId, uniquePart }: JoinCommand): string =>
  `${(groupInstanceId ?? clientId).slice(0, MOST_NAME_CHARACTERS)}-${uniquePart}`

export interface JoinReply {
  readonly errorCode: number
  readonly generationId: number
  readonly protocolType: string | null
  readonly protocolName: string | null
  readonly leader: string
  readonly skipAssignment: boolean
  readonly memberId: string
  readonly members: readonly { readonly memberId: string; readonly groupInstanceId: string | null; readonly metadata: Buffer }[]
}

export interface SyncReply {
  readonly errorCode: number
  readonly protocolType: string | null
  readonly protocolName: string | null
  readonly assignment: Buffer
}

export interface HeartbeatReply {
  readonly errorCode: number
}

export interface LeaveReply {
  readonly errorCode: number
  readonly members: readonly { readonly memberId: string; readonly groupInstanceId: string | null; readonly errorCode: number }[]
}

export interface PartitionErrors {
  readonly name: string
  readonly partitions: readonly { readonly partitionIndex: number; readonly errorCode: number }[]
}

export interface CommitOffsetsReply {
  readonly topics: readonly PartitionErrors[]
}

export interface DeleteOffsetsReply {
  readonly errorCode: number
  readonly topics: readonly PartitionErrors[]
}

export interface DeleteGroupReply {
  readonly errorCode: number
}

/** The answer to each command. */
export interface Replies {
  readonly join: JoinReply
  readonly sync: SyncReply
  readonly heartbeat: HeartbeatReply
  readonly leave: LeaveReply
  readonly commitOffsets: CommitOffsetsReply
  readonly deleteOffsets: DeleteOffsetsReply
  readonly deleteGroup: DeleteGroupReply
}

export type ReplyTo<C extends GroupCommand> = Replies[C['kind']]
export type GroupReply = Replies[keyof Replies]

export interface FetchedOffsets {
  readonly errorCode: number
  readonly topics: readonly {
    readonly name: string
    readonly partitions: readonly {
      readonly partitionIndex: number
      readonly committedOffset: number
      readonly committedLeaderEpoch: number
      readonly metadata: string
      readonly errorCode: number
    }[]
  }[]
}

export interface DescribedGroup {
  readonly errorCode: number
  readonly groupId: string
  readonly groupState: string
  readonly protocolType: string
  readonly protocolData: string
  readonly members: readonly {
    readonly memberId: string
    readonly groupInstanceId: string | null
    readonly clientId: string
    readonly clientHost: string
    readonly memberMetadata: Buffer
    readonly memberAssignment: Buffer
  }[]
}

export interface ListedGroup {
  readonly groupId: string
  readonly protocolType: string
  readonly groupState: string
  readonly groupType: string
}
