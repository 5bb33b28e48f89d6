/** Operations that a client may be allowed (KIP-430), as the bit fields that answers carry. Without an authorizer all are allowed. */

/** Codes of AclOperation in the protocol. */
const OPERATION = {
  read: 3,
  write: 4,
  create: 5,
  delete: 6,
  alter: 7,
  describe: 8,
  clusterAction: 9,
  describeConfigs: 10,
  alterConfigs: 11,
  idempotentWrite: 12,
} as const

const bits = (...operations: readonly (keyof typeof OPERATION)[]) =>
  operations.reduce((field, operation) => field | (1 << OPERATION[operation]), 0)

/** What the field says when it was not asked for. */
export const OPERATIONS_NOT_ASKED = -2147483648
export const TOPIC_OPERATIONS = bits('read', 'write', 'create', 'delete', 'alter', 'describe', 'describeConfigs', 'alterConfigs')
export const GROUP_OPERATIONS = bits('read', 'describe', 'delete')
export const CLUSTER_OPERATIONS = bits(
  'create',
  'clusterAction',
  'describeConfigs',
  'alterConfigs',
  'idempotentWrite',
  'alter',
  'describe',
)
