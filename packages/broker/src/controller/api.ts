/**
 * What the rest of the broker may ask of the controller, and what the controller tells the brokers' partitions. Both are interfaces, so
 * that a cluster can put a remote controller and remote brokers behind them.
 */
import type { MetadataImage } from '../metadata/image.js'

/** Errors that the controller answers; each is a name of the protocol's error table. */
export type ControllerError =
  | 'NONE'
  | 'UNKNOWN_SERVER_ERROR'
  | 'UNKNOWN_TOPIC_OR_PARTITION'
  | 'REQUEST_TIMED_OUT'
  | 'INVALID_TOPIC_EXCEPTION'
  | 'TOPIC_ALREADY_EXISTS'
  | 'INVALID_PARTITIONS'
  | 'INVALID_REPLICATION_FACTOR'
  | 'INVALID_REPLICA_ASSIGNMENT'
  | 'INVALID_CONFIG'
  | 'NOT_CONTROLLER'
  | 'INVALID_REQUEST'
  | 'LEADER_NOT_AVAILABLE'
  | 'BROKER_NOT_AVAILABLE'
  | 'POLICY_VIOLATION'
  | 'KAFKA_STORAGE_ERROR'
  | 'REASSIGNMENT_IN_PROGRESS'
  | 'TOPIC_DELETION_DISABLED'
  | 'UNKNOWN_TOPIC_ID'
  | 'COORDINATOR_LOAD_IN_PROGRESS'

export interface ControllerResult {
  readonly error: ControllerError
  /** Kafka's own words where clients show them; null without an error. */
  readonly message: string | null
}

export interface CreatableTopic {
  readonly name: string
  /** -1: the broker's `num.partitions` (KIP-464), or what the assignments say. */
  readonly numPartitions: number
  /** -1: the broker's `default.replication.factor`. */
  readonly replicationFactor: number
  readonly assignments: readonly { readonly partitionIndex: number; readonly brokerIds: readonly number[] }[]
  readonly configs: readonly { readonly name: string; readonly value: string | null }[]
}

export interface CreateTopicResult extends ControllerResult {
  readonly name: string
  /** Zero id unless created. */
  readonly topicId: string
  /** -1 and -1 with an error. */
  readonly numPartitions: number
  readonly replicationFactor: number
  /** The overrides as stored; empty with an error. */
  readonly configs: Readonly<Record<string, string>>
}

export interface DeletableTopic {
  /** Null when the topic is named by its id. */
  readonly name: string | null
  readonly topicId: string
}

export interface DeleteTopicResult extends ControllerResult {
  readonly name: string | null
  readonly topicId: string
}

export interface NewPartitions {
  readonly name: string
  /** The count wanted in all. */
  readonly count: number
  /** Replicas of each added partition; null: placed by the controller. */
  readonly assignments: readonly (readonly number[])[] | null
}

export interface TopicConfigChange {
  readonly topic: string
  readonly changes: readonly ConfigOperation[]
}

export interface ConfigOperation {
  readonly name: string
  readonly operation: 'set' | 'delete' | 'append' | 'subtract'
  readonly value: string | null
}

export interface NamedResult extends ControllerResult {
  readonly name: string
}

export interface Controller {
  /** The picture that handlers read; another object after each change. */
  image(): MetadataImage
  /** Topics whose deletion was under way when this broker started: nobody heard of these go. */
  readonly deletedAtStart: ReadonlySet<string>
  /** Told after each change, with what was before. Returns a function that ends it. */
  onImage(listener: (now: MetadataImage, before: MetadataImage) => void): () => void
  /** One result for each entry, in order; each of a name that stands twice gets INVALID_REQUEST. Success is answered
   * REQUEST_TIMED_OUT when timeoutMs <= 0, as Kafka does. */
  createTopics(request: {
    topics: readonly CreatableTopic[]
    validateOnly: boolean
    timeoutMs: number
  }): Promise<readonly CreateTopicResult[]>
  /** For Metadata, Produce and FindCoordinator: partitions, factor and configs from the broker's configs; internal topics get theirs.
   * LEADER_NOT_AVAILABLE when it was created or exists, as Kafka answers. */
  autoCreateTopics(names: readonly string[]): Promise<readonly NamedResult[]>
  deleteTopics(request: { topics: readonly DeletableTopic[]; timeoutMs: number }): Promise<readonly DeleteTopicResult[]>
  createPartitions(request: {
    topics: readonly NewPartitions[]
    validateOnly: boolean
    timeoutMs: number
  }): Promise<readonly NamedResult[]>
  /** AlterConfigs: the overrides become exactly these (a null value is no override). */
  alterTopicConfigs(request: {
    topics: readonly {
      readonly topic: string
      readonly configs: readonly { readonly name: string; readonly value: string | null }[]
    }[]
    validateOnly: boolean
  }): Promise<readonly NamedResult[]>
  /** IncrementalAlterConfigs. */
  incrementalAlterTopicConfigs(request: {
    topics: readonly TopicConfigChange[]
    validateOnly: boolean
  }): Promise<readonly NamedResult[]>
  /** Ends what it has begun and gives up the controllership. */
  close(): Promise<void>
}

/** State of one partition as the controller wrote it, for a broker that holds a replica (LeaderAndIsr). */
export interface PartitionAssignment {
  readonly topic: string
  readonly index: number
  readonly topicId: string
  readonly leader: number
  readonly leaderEpoch: number
  readonly partitionEpoch: number
  readonly controllerEpoch: number
  readonly replicas: readonly number[]
  readonly isr: readonly number[]
  /** `new`: no replica has data yet, the log may be created; `existing`: a missing log is a loss to report, never a new empty one. */
  readonly log: 'new' | 'existing'
  /** Why the replica here cannot serve, null when it can. */
  readonly problem: string | null
}

export interface PartitionFailure {
  readonly topic: string
  readonly index: number
  readonly error: ControllerError
}

/**
 * From the controller to one broker's partitions, in order: one call is answered before the next is made. In one process these are
 * plain calls; in a cluster LeaderAndIsr, StopReplica and UpdateMetadata requests.
 */
export interface BrokerChannel {
  /** Become leader (or follower) of these with these configs in force. Resolves with those that could not. */
  leaderAndIsr(
    partitions: readonly PartitionAssignment[],
    configs: ReadonlyMap<string, Readonly<Record<string, string>>>,
  ): Promise<readonly PartitionFailure[]>
  /** Stop serving these; with `delete`, their files go (renamed first, removed later). */
  stopReplica(
    partitions: readonly { readonly topic: string; readonly index: number }[],
    files: 'keep' | 'delete',
  ): Promise<readonly PartitionFailure[]>
  /** The overrides of a topic are now these. */
  topicConfigs(topic: string, configs: Readonly<Record<string, string>>): void
  /** The configs of an adopted topic are known now: what they say may be deleted and cleaned again. */
  releaseRetention(topic: string): void
}

/** What the controller must know of topic configs; the broker joins it from the packages' config tables. */
export interface TopicConfigRules {
  /** Null when Kafka would accept these overrides, else its words. */
  problem(overrides: Readonly<Record<string, string>>): string | null
  isKnown(name: string): boolean
  /** Whether `append` and `subtract` mean something. */
  isList(name: string): boolean
  /** What holds without an override, as text: `append` starts from it. */
  defaultOf(name: string): string
}

export interface InternalTopic {
  readonly partitions: number
  readonly replicationFactor: number
  readonly configs: Readonly<Record<string, string>>
}

/** Defaults that the controller takes from the broker's configs. */
export interface ControllerDefaults {
  readonly numPartitions: number
  readonly replicationFactor: number
  /** What internal topics are made with, by name (`__consumer_offsets`: the `offsets.topic.*` configs). */
  readonly internalTopics: Readonly<Record<string, InternalTopic>>
  readonly deleteTopicEnable: boolean
}
