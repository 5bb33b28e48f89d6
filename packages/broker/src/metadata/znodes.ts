/**
 * Kafka's tree as one table: where each node stands, what its data means, and how it is written. Field order is that of Kafka 3.9.1, so
 * that nodes written here and there are the same bytes. Sources: conformance/znodes, KIP-35, 497, 516 and the readers of 3.9's tools.
 */

import type { ScanMark } from './disk-scan.js'
import { ZERO_TOPIC_ID } from './image.js'
import { type Json, JsonValue, toBytes, ZnodeError } from './znode-json.js'

/** A kind of node. `{name}` parts of the pattern are its parameters, in order. */
export interface Znode<Keys extends readonly unknown[], Value> {
  readonly pattern: string
  readonly ephemeral: boolean
  path(...keys: Keys): string
  encode(value: Value): Buffer | null
  /** Throws ZnodeError. */
  decode(data: Buffer | null, path: string): Value
}

type Key = string | number

function znode<Keys extends readonly Key[], Value>(
  pattern: string,
  codec: Pick<Znode<Keys, Value>, 'encode' | 'decode'> & { readonly ephemeral?: true },
): Znode<Keys, Value> {
  const parts = pattern.split(/\{\w+\}/)
  const path = (...keys: Keys) => parts.map((part, index) => (index === 0 ? part : `${keys[index - 1]}${part}`)).join('')
  return { pattern, ephemeral: codec.ephemeral ?? false, path, encode: codec.encode, decode: codec.decode }
}

/** A node that is only a folder, or whose mere presence says something: null data. */
const folder = <Keys extends readonly Key[] = []>(pattern: string): Znode<Keys, null> =>
  znode<Keys, null>(pattern, { encode: () => null, decode: () => null })

/** A JSON node. */
function json<Keys extends readonly Key[], Value>(
  pattern: string,
  codec: { toJson: (value: Value) => Json; fromJson: (json: JsonValue) => Value; ephemeral?: true },
): Znode<Keys, Value> {
  return znode<Keys, Value>(pattern, {
    encode: (value) => toBytes(codec.toJson(value)),
    decode: (data, path) => codec.fromJson(JsonValue.parse(data, path)),
    ...(codec.ephemeral ? { ephemeral: true } : {}),
  })
}

export interface Endpoint {
  readonly listenerName: string
  readonly securityProtocol: string
  readonly host: string
  readonly port: number
}

export interface BrokerRegistration {
  readonly endpoints: readonly Endpoint[]
  readonly rack: string | null
  readonly timestamp: number
  readonly jmxPort: number
  /** Null where the version has none (before 5). */
  readonly features: { readonly [feature: string]: { readonly [bound: string]: number } } | null
}

export interface TopicAssignment {
  /** Null for a topic that an inter-broker protocol before 2.8 made. */
  readonly topicId: string | null
  /** Replicas by partition index. */
  readonly partitions: ReadonlyMap<number, readonly number[]>
  readonly addingReplicas: ReadonlyMap<number, readonly number[]>
  readonly removingReplicas: ReadonlyMap<number, readonly number[]>
}

export interface PartitionState {
  readonly controllerEpoch: number
  readonly leader: number
  readonly leaderEpoch: number
  readonly isr: readonly number[]
  /** After an unclean election, until the leader is consistent with itself again (KIP-704). */
  readonly isRecovering: boolean
}

export interface ProducerIdBlock {
  readonly broker: number
  readonly firstId: number
  readonly lastId: number
}

export interface AclEntry {
  readonly principal: string
  readonly permissionType: string
  readonly operation: string
  readonly host: string
}

export interface TopicAndPartition {
  readonly topic: string
  readonly partition: number
}

export type ConfigEntityType = 'topics' | 'brokers' | 'clients' | 'users' | 'ips'

/** Stands for the default of all brokers, users, clients or addresses. */
export const DEFAULT_ENTITY = '<default>'

export const ZNODES = {
  brokers: folder('/brokers'),
  brokerIds: folder('/brokers/ids'),
  broker: json<[brokerId: number], BrokerRegistration>('/brokers/ids/{brokerId}', {
    toJson: registrationToJson,
    fromJson: registrationFromJson,
    ephemeral: true,
  }),
  brokerSequence: folder('/brokers/seqid'),
  topics: folder('/brokers/topics'),
  topic: json<[topic: string], TopicAssignment>('/brokers/topics/{topic}', { toJson: topicToJson, fromJson: topicFromJson }),
  partitions: folder<[topic: string]>('/brokers/topics/{topic}/partitions'),
  partition: folder<[topic: string, index: number]>('/brokers/topics/{topic}/partitions/{index}'),
  partitionState: json<[topic: string, index: number], PartitionState>('/brokers/topics/{topic}/partitions/{index}/state', {
    toJson: ({ controllerEpoch, leader, leaderEpoch, isr, isRecovering }) => ({
      controller_epoch: controllerEpoch,
      leader,
      version: 1,
      leader_epoch: leaderEpoch,
      isr,
      ...(isRecovering ? { leader_recovery_state: 1 } : {}),
    }),
    fromJson: (state) => ({
      controllerEpoch: state.at('controller_epoch').int(),
      leader: state.at('leader').int(),
      leaderEpoch: state.at('leader_epoch').int(),
      isr: state.at('isr').ints(),
      isRecovering: state.at('leader_recovery_state').isThere && state.at('leader_recovery_state').int() === 1,
    }),
  }),

  controller: json<[], { brokerId: number; timestamp: number }>('/controller', {
    toJson: ({ brokerId, timestamp }) => ({
      version: 2,
      brokerid: brokerId,
      timestamp: String(timestamp),
      kraftControllerEpoch: -1,
    }),
    fromJson: (node) => ({ brokerId: node.at('brokerid').int(), timestamp: node.at('timestamp').digits() }),
    ephemeral: true,
  }),
  controllerEpoch: digits<[]>('/controller_epoch'),

  cluster: folder('/cluster'),
  clusterId: json<[], string>('/cluster/id', {
    toJson: (id) => ({ version: '1', id }),
    fromJson: (node) => node.at('id').text(),
  }),
  /** Finalised features. Version 2 knows only the highest level. */
  feature: json<[], { version: number; status: number; features: Readonly<Record<string, number>> }>('/feature', {
    toJson: ({ version, status, features }) => ({
      features: Object.fromEntries(Object.entries(features).map(([name, level]) => [name, levelsOf(version, level)])),
      version,
      status,
    }),
    fromJson: (node) => ({
      version: node.at('version').int(),
      status: node.at('status').int(),
      features: Object.fromEntries(
        node
          .at('features')
          .entries()
          .map(([name, levels]) => [name, levels.at('max_version_level').int()]),
      ),
    }),
  }),

  config: folder('/config'),
  configs: folder<[type: ConfigEntityType]>('/config/{type}'),
  entityConfig: json<[type: ConfigEntityType, entity: string], Readonly<Record<string, string>>>('/config/{type}/{entity}', {
    toJson: configToJson,
    fromJson: configFromJson,
  }),
  userClients: folder<[user: string]>('/config/users/{user}/clients'),
  userClientConfig: json<[user: string, client: string], Readonly<Record<string, string>>>(
    '/config/users/{user}/clients/{client}',
    {
      toJson: configToJson,
      fromJson: configFromJson,
    },
  ),
  configChanges: folder('/config/changes'),
  /** `create` it sequentially with the path of an empty number. The entity is `topics/T`, `users/U/clients/C` … */
  configChange: json<[number: string], { entityPath: string }>('/config/changes/config_change_{number}', {
    toJson: ({ entityPath }) => ({ version: 2, entity_path: entityPath }),
    fromJson: (node) =>
      node.at('version').int() === 1
        ? { entityPath: `${node.at('entity_type').text()}/${node.at('entity_name').text()}` }
        : { entityPath: node.at('entity_path').text() },
  }),

  producerIdBlock: znode<[], ProducerIdBlock | null>('/latest_producer_id_block', {
    encode: (block) => block && toBytes(blockToJson(block)),
    decode: (data, path) => (data === null || data.length === 0 ? null : blockFromJson(JsonValue.parse(data, path))),
  }),

  isrChanges: folder('/isr_change_notification'),
  isrChange: json<[number: string], readonly TopicAndPartition[]>('/isr_change_notification/isr_change_{number}', {
    toJson: (partitions) => ({ version: 1, partitions: partitions.map(({ topic, partition }) => ({ topic, partition })) }),
    fromJson: partitionsFromJson,
  }),
  logDirEvents: folder('/log_dir_event_notification'),
  logDirEvent: json<[number: string], { broker: number }>('/log_dir_event_notification/log_dir_event_{number}', {
    toJson: ({ broker }) => ({ version: 1, broker, event: 1 }),
    fromJson: (node) => ({ broker: node.at('broker').int() }),
  }),

  admin: folder('/admin'),
  deleteTopics: folder('/admin/delete_topics'),
  deleteTopic: folder<[topic: string]>('/admin/delete_topics/{topic}'),
  reassignPartitions: json<[], readonly (TopicAndPartition & { replicas: readonly number[] })[]>('/admin/reassign_partitions', {
    toJson: (partitions) => ({
      version: 1,
      partitions: partitions.map(({ topic, partition, replicas }) => ({ topic, partition, replicas })),
    }),
    fromJson: (node) =>
      node
        .at('partitions')
        .list()
        .map((each) => ({ ...partitionFromJson(each), replicas: each.at('replicas').ints() })),
  }),
  preferredElection: json<[], readonly TopicAndPartition[]>('/admin/preferred_replica_election', {
    toJson: (partitions) => ({ version: 1, partitions: partitions.map(({ topic, partition }) => ({ topic, partition })) }),
    fromJson: partitionsFromJson,
  }),

  /** Offsets of OffsetCommit v0: Kafka keeps them here, and nowhere else. */
  consumers: folder('/consumers'),
  consumerGroup: folder<[group: string]>('/consumers/{group}'),
  consumerOffsets: folder<[group: string]>('/consumers/{group}/offsets'),
  consumerTopic: folder<[group: string, topic: string]>('/consumers/{group}/offsets/{topic}'),
  consumerOffset: digits<[group: string, topic: string, partition: number]>('/consumers/{group}/offsets/{topic}/{partition}'),

  acls: folder('/kafka-acl'),
  aclType: folder<[resourceType: string]>('/kafka-acl/{type}'),
  acl: json<[resourceType: string, name: string], readonly AclEntry[]>('/kafka-acl/{type}/{name}', {
    toJson: aclsToJson,
    fromJson: aclsFromJson,
  }),
  aclChanges: folder('/kafka-acl-changes'),
  aclChange: znode<[number: string], { resourceType: string; name: string }>('/kafka-acl-changes/acl_changes_{number}', {
    encode: ({ resourceType, name }) => Buffer.from(`${resourceType}:${name}`, 'utf8'),
    decode: (data, path) => {
      const text = (data ?? Buffer.alloc(0)).toString('utf8')
      const colon = text.indexOf(':')
      if (colon < 0) throw new ZnodeError(path, 'it is not TYPE:NAME')
      return { resourceType: text.slice(0, colon), name: text.slice(colon + 1) }
    },
  }),
  extendedAcls: folder('/kafka-acl-extended'),
  extendedAclPattern: folder<[pattern: string]>('/kafka-acl-extended/{pattern}'),
  extendedAclType: folder<[pattern: string, resourceType: string]>('/kafka-acl-extended/{pattern}/{type}'),
  extendedAcl: json<[pattern: string, resourceType: string, name: string], readonly AclEntry[]>(
    '/kafka-acl-extended/{pattern}/{type}/{name}',
    { toJson: aclsToJson, fromJson: aclsFromJson },
  ),
  extendedAclChanges: folder('/kafka-acl-extended-changes'),
  extendedAclChange: json<[number: string], { resourceType: string; name: string; patternType: string }>(
    '/kafka-acl-extended-changes/acl_changes_{number}',
    {
      toJson: ({ resourceType, name, patternType }) => ({ version: 1, resourceType, name, patternType }),
      fromJson: (node) => ({
        resourceType: node.at('resourceType').text(),
        name: node.at('name').text(),
        patternType: node.at('patternType').text(),
      }),
    },
  ),

  /** Ours, in the embedded store only, and left out of exports: what adoption must remember. */
  own: folder('/mq'),
  adoption: json<[], { time: number }>('/mq/adoption', {
    toJson: ({ time }) => ({ version: 1, time: String(time) }),
    fromJson: (node) => ({ time: node.at('time').digits() }),
  }),
  held: folder('/mq/held'),
  heldTopic: folder<[topic: string]>('/mq/held/{topic}'),
  scanned: folder('/mq/scanned'),
  scannedTopic: json<[topic: string], ReadonlyMap<number, ScanMark>>('/mq/scanned/{topic}', {
    toJson: (marks) => ({
      version: 1,
      partitions: Object.fromEntries(
        Array.from(marks, ([index, { offset, segment, position }]) => [index, [offset, segment, position]]),
      ),
    }),
    fromJson: (node) => new Map(node.at('partitions').entries().map(markFromJson)),
  }),
} as const

/** Folder of what is ours and no business of Kafka's tools. */
export const OWN_FOLDER = '/mq'

/** What a broker of 3.9 makes at its start when it is missing. Order: parents first. */
export const PERSISTENT_PATHS: readonly string[] = [
  ...[
    '/consumers',
    '/brokers',
    '/brokers/ids',
    '/brokers/topics',
    '/config',
    '/config/changes',
    '/admin',
    '/admin/delete_topics',
  ],
  ...['/brokers/seqid', '/isr_change_notification', '/latest_producer_id_block', '/log_dir_event_notification'],
  ...['/config/topics', '/config/clients', '/config/users', '/config/brokers', '/config/ips', '/cluster'],
  ...['/kafka-acl', '/kafka-acl-changes', '/kafka-acl-extended', '/kafka-acl-extended/prefixed', '/kafka-acl-extended-changes'],
  ...['Topic', 'Group', 'Cluster', 'TransactionalId', 'DelegationToken', 'User'].flatMap((type) => [
    `/kafka-acl/${type}`,
    `/kafka-acl-extended/prefixed/${type}`,
  ]),
]

const MATCHERS = Object.values(ZNODES).map((row) => ({
  row: row as Znode<never, unknown>,
  matches: new RegExp(`^${row.pattern.replace(/\{\w+\}/g, '([^/]+)')}$`),
  /** Fewer parameters first: `/config/changes` is itself, not `/config/{type}`. */
  keys: row.pattern.split('{').length,
}))
MATCHERS.sort((a, b) => a.keys - b.keys)

/** The row that a path belongs to, with its parameters; undefined for a path that Kafka 3.9 does not have. */
export function rowOf(path: string): { row: Znode<never, unknown>; keys: string[] } | undefined {
  for (const { row, matches } of MATCHERS) {
    const found = matches.exec(path)
    if (found !== null) return { row, keys: found.slice(1) }
  }
  return undefined
}

/** How Kafka puts users and client ids into paths: as in a query string, with spaces and stars written out as well. */
export const sanitize = (name: string): string =>
  encodeURIComponent(name).replace(/[!'()*~]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)

function digits<Keys extends readonly Key[]>(pattern: string): Znode<Keys, number> {
  return znode<Keys, number>(pattern, {
    encode: (value) => Buffer.from(String(value), 'latin1'),
    decode: (data, path) => {
      const text = (data ?? Buffer.alloc(0)).toString('latin1')
      if (!/^-?\d+$/.test(text) || !Number.isSafeInteger(Number(text))) throw new ZnodeError(path, 'it is not a number')
      return Number(text)
    },
  })
}

function registrationToJson(broker: BrokerRegistration): Json {
  const plain = broker.endpoints.find(({ securityProtocol }) => securityProtocol === 'PLAINTEXT') // for readers of version 1
  return {
    ...(broker.features === null ? {} : { features: broker.features }),
    listener_security_protocol_map: Object.fromEntries(
      broker.endpoints.map((each) => [each.listenerName, each.securityProtocol]),
    ),
    endpoints: broker.endpoints.map(({ listenerName, host, port }) => {
      return `${listenerName}://${host.includes(':') ? `[${host}]` : host}:${port}`
    }),
    ...(broker.rack === null ? {} : { rack: broker.rack }),
    jmx_port: broker.jmxPort,
    port: plain?.port ?? -1,
    host: plain?.host ?? null,
    version: broker.features === null ? 4 : 5,
    timestamp: String(broker.timestamp),
  }
}

function registrationFromJson(node: JsonValue): BrokerRegistration {
  const version = node.at('version').int()
  const common = {
    rack: node.at('rack').isThere ? node.at('rack').text() : null,
    timestamp: node.at('timestamp').isThere ? node.at('timestamp').digits() : 0,
    jmxPort: node.at('jmx_port').int(),
    features: version >= 5 ? Object.fromEntries(node.at('features').entries().map(featureFromJson)) : null,
  }
  if (version === 1) {
    const only = {
      listenerName: 'PLAINTEXT',
      securityProtocol: 'PLAINTEXT',
      host: node.at('host').text(),
      port: node.at('port').int(),
    }
    return { ...common, endpoints: [only] }
  }
  const protocols = node.at('listener_security_protocol_map')
  const endpoints = node
    .at('endpoints')
    .list()
    .map((each) => endpointFromJson(each, protocols))
  return { ...common, endpoints }
}

const levelsOf = (version: number, level: number): Json =>
  version === 1 ? { max_version_level: level, min_version_level: level } : { max_version_level: level }

function featureFromJson([name, bounds]: [string, JsonValue]): [string, Record<string, number>] {
  return [name, Object.fromEntries(bounds.entries().map(([bound, level]) => [bound, level.int()]))]
}

function endpointFromJson(each: JsonValue, protocols: JsonValue): Endpoint {
  const [, listenerName, , v6, v4, port] = /^([^:]*):\/\/((?:\[([^\]]*)\])|([^:]*)):(-?\d+)$/.exec(each.text()) ?? []
  if (listenerName === undefined) throw new ZnodeError(each.path, `${each.place} is not NAME://HOST:PORT`)
  const securityProtocol = protocols.isThere ? protocols.at(listenerName).text() : listenerName
  return { listenerName, securityProtocol, host: v6 ?? v4 ?? '', port: Number(port) }
}

function topicToJson(topic: TopicAssignment): Json {
  return {
    partitions: replicasToJson(topic.partitions),
    ...(topic.topicId === null ? {} : { topic_id: topic.topicId }),
    adding_replicas: replicasToJson(topic.addingReplicas),
    removing_replicas: replicasToJson(topic.removingReplicas),
    version: 3,
  }
}

function topicFromJson(node: JsonValue): TopicAssignment {
  const topicId = node.at('topic_id')
  const replicas = (key: string) => (node.at(key).isThere ? replicasFromJson(node.at(key)) : new Map<number, number[]>())
  return {
    topicId: topicId.isThere && topicId.text() !== ZERO_TOPIC_ID ? topicId.text() : null,
    partitions: replicas('partitions'),
    addingReplicas: replicas('adding_replicas'),
    removingReplicas: replicas('removing_replicas'),
  }
}

const replicasToJson = (replicas: ReadonlyMap<number, readonly number[]>): Json => Object.fromEntries(replicas)

function replicasFromJson(node: JsonValue): Map<number, number[]> {
  const replicas = node.entries().map(([index, each]): [number, number[]] => {
    if (!/^\d+$/.test(index) || Number(index) > 2 ** 31 - 1) throw new ZnodeError(node.path, `${index} is no partition`)
    return [Number(index), each.ints()]
  })
  return new Map(replicas.sort(([a], [b]) => a - b))
}

function configToJson(config: Readonly<Record<string, string>>): Json {
  return { version: 1, config }
}

function configFromJson(node: JsonValue): Record<string, string> {
  if (!node.at('config').isThere) return {}
  return Object.fromEntries(
    node
      .at('config')
      .entries()
      .map(([name, value]) => [name, value.text()]),
  )
}

const blockToJson = ({ broker, firstId, lastId }: ProducerIdBlock): Json => ({
  version: 1,
  broker,
  block_start: String(firstId),
  block_end: String(lastId),
})

const blockFromJson = (node: JsonValue): ProducerIdBlock => ({
  broker: node.at('broker').int(),
  firstId: node.at('block_start').digits(),
  lastId: node.at('block_end').digits(),
})

function partitionFromJson(node: JsonValue): TopicAndPartition {
  return { topic: node.at('topic').text(), partition: node.at('partition').int() }
}

function partitionsFromJson(node: JsonValue): TopicAndPartition[] {
  return node.at('partitions').list().map(partitionFromJson)
}

function markFromJson([index, node]: [string, JsonValue]): [number, ScanMark] {
  const [offset, segment, position] = node.ints()
  if (position === undefined) throw new ZnodeError(node.path, `${node.place} is no mark`)
  return [Number(index), { offset: offset!, segment: segment!, position }]
}

function aclsToJson(entries: readonly AclEntry[]): Json {
  const acls = entries.map(({ principal, permissionType, host, operation }) => ({ principal, permissionType, host, operation }))
  return { acls, version: 1 }
}

function aclsFromJson(node: JsonValue): AclEntry[] {
  return node
    .at('acls')
    .list()
    .map((acl) => ({
      principal: acl.at('principal').text(),
      permissionType: acl.at('permissionType').text(),
      operation: acl.at('operation').text(),
      host: acl.at('host').text(),
    }))
}
