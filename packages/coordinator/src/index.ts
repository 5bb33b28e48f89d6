/** Public face of @mq/coordinator: classic groups and committed offsets on an event-sourced runtime. */
export { COORDINATOR_CONFIG, type CoordinatorConfig } from './config.js'
export type {
  CommitOffsetsCommand,
  CommitOffsetsReply,
  DeleteGroupCommand,
  DeleteGroupReply,
  DeleteOffsetsCommand,
  DeleteOffsetsReply,
  DescribedGroup,
  FetchedOffsets,
  GroupCommand,
  HeartbeatCommand,
  HeartbeatReply,
  JoinCommand,
  JoinReply,
  LeaveCommand,
  LeaveReply,
  LeavingMember,
  ListedGroup,
  PartitionToCommit,
  ReplyTo,
  SyncCommand,
  SyncReply,
} from './groups/commands.js'
export type { GroupFilter } from './groups/describe.js'
export { CAN_BECOME, type GroupState, type Protocol } from './groups/group.js'
export { type GroupRequest, Groups, type GroupsOptions } from './groups/groups.js'
export { decodeRecord, encodeRecord, type GroupRecord, type StoredGroup, type StoredMember } from './groups/records.js'
export type { OffsetQuery } from './offsets/fetch.js'
export type { CommittedOffset, OffsetRecord } from './offsets/records.js'
export { shardOf } from './runtime/placement.js'
export type {
  Clock,
  Logger,
  PartitionAppended,
  PartitionCommitted,
  PartitionPort,
  PartitionRefused,
  Random,
  Timers,
} from './runtime/ports.js'
export { SILENT } from './runtime/ports.js'
export { Runtime, type RuntimeOptions, type ShardStatus } from './runtime/runtime.js'
export type {
  Decision,
  KeyAndValue,
  Moment,
  Note,
  Place,
  RequestId,
  Shard,
  ShardTypes,
  TimerChange,
  Unreadable,
} from './runtime/shard.js'
export { ManualTime, MemoryPartition, SeededRandom } from './testing.js'
