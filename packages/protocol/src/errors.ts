// The table of errors: code, name, whether a client may simply try again, and what it means. Codes, names and retriability are
// those of Kafka's clients 4.4.0, of which 3.9.1 is a part; error classes of the client and the docs are made from this table.

interface ErrorRow {
  readonly code: number
  readonly retriable: boolean
  readonly meaning: string
}

export const ERRORS = {
  UNKNOWN_SERVER_ERROR: { code: -1, retriable: false, meaning: 'the broker failed in a way that it did not foresee' },
  NONE: { code: 0, retriable: false, meaning: '' },
  OFFSET_OUT_OF_RANGE: { code: 1, retriable: false, meaning: 'the offset is before the log start or beyond the log end' },
  CORRUPT_MESSAGE: {
    code: 2,
    retriable: true,
    meaning: 'a batch or message is damaged: checksum, size, or no key on a compacted topic',
  },
  UNKNOWN_TOPIC_OR_PARTITION: { code: 3, retriable: true, meaning: 'this broker has no such topic or partition' },
  INVALID_FETCH_SIZE: { code: 4, retriable: false, meaning: 'the fetch size is not valid' },
  LEADER_NOT_AVAILABLE: { code: 5, retriable: true, meaning: 'the partition has no leader at the moment: refresh the metadata' },
  NOT_LEADER_OR_FOLLOWER: {
    code: 6,
    retriable: true,
    meaning: 'the broker does not lead (or follow) the partition: refresh the metadata and ask the leader',
  },
  REQUEST_TIMED_OUT: { code: 7, retriable: true, meaning: 'the request was not done within its time limit' },
  BROKER_NOT_AVAILABLE: { code: 8, retriable: false, meaning: 'the broker is not there' },
  REPLICA_NOT_AVAILABLE: { code: 9, retriable: true, meaning: 'the broker has no usable replica of the partition' },
  MESSAGE_TOO_LARGE: { code: 10, retriable: false, meaning: 'a batch is larger than message.max.bytes' },
  STALE_CONTROLLER_EPOCH: { code: 11, retriable: false, meaning: 'the request comes from a controller that was replaced' },
  OFFSET_METADATA_TOO_LARGE: { code: 12, retriable: false, meaning: 'the metadata of a committed offset is too long' },
  NETWORK_EXCEPTION: { code: 13, retriable: true, meaning: 'the connection ended before an answer came' },
  COORDINATOR_LOAD_IN_PROGRESS: { code: 14, retriable: true, meaning: 'the coordinator is still loading its partition' },
  COORDINATOR_NOT_AVAILABLE: { code: 15, retriable: true, meaning: 'there is no coordinator at the moment' },
  NOT_COORDINATOR: {
    code: 16,
    retriable: true,
    meaning: 'this broker does not coordinate that group or transaction: find the coordinator again',
  },
  INVALID_TOPIC_EXCEPTION: { code: 17, retriable: false, meaning: 'the topic name is not valid, or not open to this operation' },
  RECORD_LIST_TOO_LARGE: { code: 18, retriable: false, meaning: 'a batch is larger than a segment may be' },
  NOT_ENOUGH_REPLICAS: {
    code: 19,
    retriable: true,
    meaning: 'fewer replicas are in sync than min.insync.replicas: nothing was written',
  },
  NOT_ENOUGH_REPLICAS_AFTER_APPEND: {
    code: 20,
    retriable: true,
    meaning: 'written, but fewer replicas are in sync than min.insync.replicas',
  },
  INVALID_REQUIRED_ACKS: { code: 21, retriable: false, meaning: 'acks is none of -1, 0 and 1' },
  ILLEGAL_GENERATION: { code: 22, retriable: false, meaning: 'the generation is not the one of the group' },
  INCONSISTENT_GROUP_PROTOCOL: {
    code: 23,
    retriable: false,
    meaning: 'the member has no protocol in common with its group, or named none',
  },
  INVALID_GROUP_ID: { code: 24, retriable: false, meaning: 'the group id is not valid' },
  UNKNOWN_MEMBER_ID: { code: 25, retriable: false, meaning: 'the coordinator does not know this member: join again' },
  INVALID_SESSION_TIMEOUT: {
    code: 26,
    retriable: false,
    meaning: 'the session timeout is outside of group.min.session.timeout.ms and group.max.session.timeout.ms',
  },
  REBALANCE_IN_PROGRESS: { code: 27, retriable: false, meaning: 'the group is rebalancing: join again' },
  INVALID_COMMIT_OFFSET_SIZE: { code: 28, retriable: false, meaning: 'the offsets to commit are too large for one append' },
  TOPIC_AUTHORIZATION_FAILED: { code: 29, retriable: false, meaning: 'no right to the topic' },
  GROUP_AUTHORIZATION_FAILED: { code: 30, retriable: false, meaning: 'no right to the group' },
  CLUSTER_AUTHORIZATION_FAILED: { code: 31, retriable: false, meaning: 'no right to the cluster' },
  INVALID_TIMESTAMP: { code: 32, retriable: false, meaning: 'the timestamp of a record is out of bounds' },
  UNSUPPORTED_SASL_MECHANISM: { code: 33, retriable: false, meaning: 'the broker does not offer this SASL mechanism' },
  ILLEGAL_SASL_STATE: { code: 34, retriable: false, meaning: 'the request does not fit the state of the SASL exchange' },
  UNSUPPORTED_VERSION: { code: 35, retriable: false, meaning: 'the broker does not speak this version of the API' },
  TOPIC_ALREADY_EXISTS: { code: 36, retriable: false, meaning: 'a topic of this name exists' },
  INVALID_PARTITIONS: { code: 37, retriable: false, meaning: 'the number of partitions is not valid' },
  INVALID_REPLICATION_FACTOR: {
    code: 38,
    retriable: false,
    meaning: 'the replication factor is below one or above the number of brokers',
  },
  INVALID_REPLICA_ASSIGNMENT: { code: 39, retriable: false, meaning: 'the assignment of replicas is not valid' },
  INVALID_CONFIG: { code: 40, retriable: false, meaning: 'a config is not valid' },
  NOT_CONTROLLER: { code: 41, retriable: true, meaning: 'this broker is not the controller: refresh the metadata' },
  INVALID_REQUEST: { code: 42, retriable: false, meaning: 'the request contradicts itself or the protocol' },
  UNSUPPORTED_FOR_MESSAGE_FORMAT: { code: 43, retriable: false, meaning: 'the message format of the partition cannot do this' },
  POLICY_VIOLATION: { code: 44, retriable: false, meaning: 'a policy of the broker forbids it' },
  OUT_OF_ORDER_SEQUENCE_NUMBER: { code: 45, retriable: false, meaning: 'a sequence number leaves a gap' },
  DUPLICATE_SEQUENCE_NUMBER: {
    code: 46,
    retriable: false,
    meaning: 'a sequence number was used before and is too old to be recognised',
  },
  INVALID_PRODUCER_EPOCH: { code: 47, retriable: false, meaning: 'the producer epoch is older than the known one' },
  INVALID_TXN_STATE: { code: 48, retriable: false, meaning: 'the transaction is in no state for this operation' },
  INVALID_PRODUCER_ID_MAPPING: { code: 49, retriable: false, meaning: 'the producer id does not belong to the transactional id' },
  INVALID_TRANSACTION_TIMEOUT: {
    code: 50,
    retriable: false,
    meaning: 'the transaction timeout is above transaction.max.timeout.ms',
  },
  CONCURRENT_TRANSACTIONS: {
    code: 51,
    retriable: true,
    meaning: 'another operation on the transaction is still under way: try again',
  },
  TRANSACTION_COORDINATOR_FENCED: {
    code: 52,
    retriable: false,
    meaning: 'a marker comes from a transaction coordinator that was replaced',
  },
  TRANSACTIONAL_ID_AUTHORIZATION_FAILED: { code: 53, retriable: false, meaning: 'no right to the transactional id' },
  SECURITY_DISABLED: { code: 54, retriable: false, meaning: 'the broker has no authorizer' },
  OPERATION_NOT_ATTEMPTED: { code: 55, retriable: false, meaning: 'not tried, since another part of the request failed' },
  KAFKA_STORAGE_ERROR: { code: 56, retriable: true, meaning: 'the disk of the log failed' },
  LOG_DIR_NOT_FOUND: { code: 57, retriable: false, meaning: 'the broker has no such log directory' },
  SASL_AUTHENTICATION_FAILED: { code: 58, retriable: false, meaning: 'authentication failed' },
  UNKNOWN_PRODUCER_ID: {
    code: 59,
    retriable: false,
    meaning: 'nothing is known of the producer id, perhaps because its records are gone',
  },
  REASSIGNMENT_IN_PROGRESS: { code: 60, retriable: false, meaning: 'a reassignment of the partition is under way' },
  DELEGATION_TOKEN_AUTH_DISABLED: { code: 61, retriable: false, meaning: 'delegation tokens are switched off' },
  DELEGATION_TOKEN_NOT_FOUND: { code: 62, retriable: false, meaning: 'there is no such delegation token' },
  DELEGATION_TOKEN_OWNER_MISMATCH: {
    code: 63,
    retriable: false,
    meaning: 'the delegation token belongs to another owner or renewer',
  },
  DELEGATION_TOKEN_REQUEST_NOT_ALLOWED: {
    code: 64,
    retriable: false,
    meaning: 'delegation tokens cannot be asked for over this connection',
  },
  DELEGATION_TOKEN_AUTHORIZATION_FAILED: { code: 65, retriable: false, meaning: 'no right to the delegation token' },
  DELEGATION_TOKEN_EXPIRED: { code: 66, retriable: false, meaning: 'the delegation token has expired' },
  INVALID_PRINCIPAL_TYPE: { code: 67, retriable: false, meaning: 'this type of principal is not supported' },
  NON_EMPTY_GROUP: { code: 68, retriable: false, meaning: 'the group still has members' },
  GROUP_ID_NOT_FOUND: { code: 69, retriable: false, meaning: 'there is no such group' },
  FETCH_SESSION_ID_NOT_FOUND: { code: 70, retriable: true, meaning: 'there is no such fetch session: begin a new one' },
  INVALID_FETCH_SESSION_EPOCH: { code: 71, retriable: true, meaning: 'the fetch session expects another epoch: begin a new one' },
  LISTENER_NOT_FOUND: { code: 72, retriable: true, meaning: 'the leader has no listener of the name by which the client came' },
  TOPIC_DELETION_DISABLED: { code: 73, retriable: false, meaning: 'deletion of topics is switched off' },
  FENCED_LEADER_EPOCH: {
    code: 74,
    retriable: true,
    meaning: 'the leader epoch of the request is older than the one of the broker',
  },
  UNKNOWN_LEADER_EPOCH: {
    code: 75,
    retriable: true,
    meaning: 'the leader epoch of the request is newer than the one of the broker',
  },
  UNSUPPORTED_COMPRESSION_TYPE: {
    code: 76,
    retriable: false,
    meaning: 'the compression codec is unknown, or newer than the version of the request',
  },
  STALE_BROKER_EPOCH: { code: 77, retriable: false, meaning: 'the broker epoch is that of an earlier registration' },
  OFFSET_NOT_AVAILABLE: { code: 78, retriable: true, meaning: 'a new leader does not know its high watermark yet' },
  MEMBER_ID_REQUIRED: { code: 79, retriable: false, meaning: 'join again with the member id that came with this answer' },
  PREFERRED_LEADER_NOT_AVAILABLE: { code: 80, retriable: true, meaning: 'the preferred leader is not alive or not in sync' },
  GROUP_MAX_SIZE_REACHED: { code: 81, retriable: false, meaning: 'the group is full' },
  FENCED_INSTANCE_ID: { code: 82, retriable: false, meaning: 'another member has taken over this group instance id' },
  ELIGIBLE_LEADERS_NOT_AVAILABLE: { code: 83, retriable: true, meaning: 'no replica may become leader' },
  ELECTION_NOT_NEEDED: { code: 84, retriable: true, meaning: 'the leader is already the right one' },
  NO_REASSIGNMENT_IN_PROGRESS: { code: 85, retriable: false, meaning: 'no reassignment of the partition is under way' },
  GROUP_SUBSCRIBED_TO_TOPIC: { code: 86, retriable: false, meaning: 'the group still subscribes to the topic' },
  INVALID_RECORD: { code: 87, retriable: false, meaning: 'the broker refuses a record or batch: its content breaks a rule' },
  UNSTABLE_OFFSET_COMMIT: {
    code: 88,
    retriable: true,
    meaning: 'open transactions still hold offsets that were asked for as stable',
  },
  THROTTLING_QUOTA_EXCEEDED: { code: 89, retriable: true, meaning: 'a quota is exceeded: wait for the throttle time' },
  PRODUCER_FENCED: { code: 90, retriable: false, meaning: 'a newer producer uses the same transactional id' },
  RESOURCE_NOT_FOUND: { code: 91, retriable: false, meaning: 'the thing named does not exist' },
  DUPLICATE_RESOURCE: { code: 92, retriable: false, meaning: 'the same thing is named twice' },
  UNACCEPTABLE_CREDENTIAL: { code: 93, retriable: false, meaning: 'the credential does not meet the rules' },
  INCONSISTENT_VOTER_SET: { code: 94, retriable: false, meaning: 'sender or receiver is not among the voters' },
  INVALID_UPDATE_VERSION: { code: 95, retriable: false, meaning: 'the version to update to is not valid' },
  FEATURE_UPDATE_FAILED: { code: 96, retriable: false, meaning: 'the finalized features could not be updated' },
  PRINCIPAL_DESERIALIZATION_FAILURE: {
    code: 97,
    retriable: false,
    meaning: 'the principal of a forwarded request cannot be read',
  },
  SNAPSHOT_NOT_FOUND: { code: 98, retriable: false, meaning: 'there is no such snapshot' },
  POSITION_OUT_OF_RANGE: { code: 99, retriable: false, meaning: 'the position is outside of the snapshot' },
  UNKNOWN_TOPIC_ID: { code: 100, retriable: true, meaning: 'this broker knows no topic of this id' },
  DUPLICATE_BROKER_REGISTRATION: { code: 101, retriable: false, meaning: 'the broker id is taken' },
  BROKER_ID_NOT_REGISTERED: { code: 102, retriable: false, meaning: 'the broker id is not registered' },
  INCONSISTENT_TOPIC_ID: { code: 103, retriable: true, meaning: 'the topic id is not the one of the log' },
  INCONSISTENT_CLUSTER_ID: { code: 104, retriable: false, meaning: 'the cluster id is another one' },
  TRANSACTIONAL_ID_NOT_FOUND: { code: 105, retriable: false, meaning: 'there is no such transactional id' },
  FETCH_SESSION_TOPIC_ID_ERROR: {
    code: 106,
    retriable: true,
    meaning: 'a fetch session mixes requests with and without topic ids',
  },
  INELIGIBLE_REPLICA: { code: 107, retriable: false, meaning: 'a replica proposed for the ISR may not be in it' },
  NEW_LEADER_ELECTED: { code: 108, retriable: false, meaning: 'the partition changed as asked, and has another leader now' },
  OFFSET_MOVED_TO_TIERED_STORAGE: { code: 109, retriable: false, meaning: 'the offset has moved to remote storage' },
  FENCED_MEMBER_EPOCH: {
    code: 110,
    retriable: false,
    meaning: 'the member epoch is fenced: give up all partitions and join again',
  },
  UNRELEASED_INSTANCE_ID: { code: 111, retriable: false, meaning: 'another member of the group still uses the instance id' },
  UNSUPPORTED_ASSIGNOR: { code: 112, retriable: false, meaning: 'the group does not support the assignor' },
  STALE_MEMBER_EPOCH: { code: 113, retriable: false, meaning: 'the member epoch is old: heartbeat, then try again' },
  MISMATCHED_ENDPOINT_TYPE: {
    code: 114,
    retriable: false,
    meaning: 'the request was meant for the other type of endpoint (broker or controller)',
  },
  UNSUPPORTED_ENDPOINT_TYPE: { code: 115, retriable: false, meaning: 'this type of endpoint is not supported' },
  UNKNOWN_CONTROLLER_ID: { code: 116, retriable: false, meaning: 'the controller id is not known' },
  UNKNOWN_SUBSCRIPTION_ID: { code: 117, retriable: false, meaning: 'the telemetry subscription is outdated: ask for it again' },
  TELEMETRY_TOO_LARGE: { code: 118, retriable: false, meaning: 'the telemetry is too large' },
  INVALID_REGISTRATION: { code: 119, retriable: false, meaning: 'the registration of the broker is not valid' },
  TRANSACTION_ABORTABLE: { code: 120, retriable: false, meaning: 'the transaction failed: abort it and go on' },
  INVALID_RECORD_STATE: { code: 121, retriable: false, meaning: 'the record is in no state to be acknowledged so' },
  SHARE_SESSION_NOT_FOUND: { code: 122, retriable: true, meaning: 'there is no such share session' },
  INVALID_SHARE_SESSION_EPOCH: { code: 123, retriable: true, meaning: 'the share session expects another epoch' },
  FENCED_STATE_EPOCH: { code: 124, retriable: false, meaning: 'the state epoch of the share partition is another one' },
  INVALID_VOTER_KEY: { code: 125, retriable: false, meaning: 'the voter key is not that of the receiver' },
  DUPLICATE_VOTER: { code: 126, retriable: false, meaning: 'the voter is in the set already' },
  VOTER_NOT_FOUND: { code: 127, retriable: false, meaning: 'the voter is not in the set' },
  INVALID_REGULAR_EXPRESSION: { code: 128, retriable: false, meaning: 'the regular expression is not valid' },
  REBOOTSTRAP_REQUIRED: {
    code: 129,
    retriable: false,
    meaning: 'the metadata of the client is too old: begin again at the bootstrap servers',
  },
  STREAMS_INVALID_TOPOLOGY: { code: 130, retriable: false, meaning: 'the topology is not valid' },
  STREAMS_INVALID_TOPOLOGY_EPOCH: { code: 131, retriable: false, meaning: 'the topology epoch is not valid' },
  STREAMS_TOPOLOGY_FENCED: { code: 132, retriable: false, meaning: 'the topology epoch is outdated' },
  SHARE_SESSION_LIMIT_REACHED: { code: 133, retriable: true, meaning: 'there are as many share sessions as may be' },
  GROUP_DELETION_FAILED: { code: 134, retriable: false, meaning: 'the group could not be deleted: its error message says why' },
  STREAMS_TOPOLOGY_DESCRIPTION_UPDATE_FAILED: {
    code: 135,
    retriable: false,
    meaning: 'the topology description could not be stored: the error message says why',
  },
  CONTROLLER_ID_NOT_REGISTERED: { code: 136, retriable: false, meaning: 'the controller id is not registered' },
} as const satisfies Record<string, ErrorRow>

export type ErrorName = keyof typeof ERRORS

const rows: Readonly<Record<ErrorName, ErrorRow>> = ERRORS
const names = new Map<number, ErrorName>(Object.entries(rows).map(([name, row]) => [row.code, name as ErrorName]))

/** UNKNOWN_SERVER_ERROR for a code that we do not know. */
export function errorByCode(code: number): ErrorName {
  return names.get(code) ?? 'UNKNOWN_SERVER_ERROR'
}

export function errorCode(name: ErrorName): number {
  return rows[name].code
}

/** May the same request be sent again, perhaps after a look at fresh metadata? */
export function isRetriable(name: ErrorName): boolean {
  return rows[name].retriable
}
