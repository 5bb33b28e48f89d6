/** All rows of the config table, joined from the packages that own them. A name stands in exactly one of them. */
import { COORDINATOR_CONFIG } from '@mq/coordinator'
import { COMPACTION_CONFIG, LOG_CONFIG } from '@mq/log'
import { type ConfigRow, type ConfigTable, type ConfigValues, type TopicConfigValues, topicNameOf } from '@mq/protocol'
import { REPLICA_CONFIG } from '@mq/replica'
import { INHERITED_CONFIG } from './inherited.js'
import { METADATA_CONFIG } from './metadata.js'
import { NETWORK_CONFIG } from './network.js'
import { REMOTE_CONFIG } from './remote.js'
import { REPLICATION_CONFIG } from './replica.js'
import { SASL_CONFIG } from './sasl.js'
import { SERVER_CONFIG } from './server.js'
import { TLS_CONFIG } from './tls.js'
import { TRANSACTION_CONFIG } from './transactions.js'

/** By owner, for the docs and the test that no name stands twice. */
export const CONFIG_TABLES = {
  network: NETWORK_CONFIG,
  server: SERVER_CONFIG,
  metadata: METADATA_CONFIG,
  log: LOG_CONFIG,
  compaction: COMPACTION_CONFIG,
  inherited: INHERITED_CONFIG,
  replication: REPLICATION_CONFIG,
  replica: REPLICA_CONFIG,
  coordinator: COORDINATOR_CONFIG,
  transactions: TRANSACTION_CONFIG,
  sasl: SASL_CONFIG,
  tls: TLS_CONFIG,
  remote: REMOTE_CONFIG,
} as const satisfies Record<string, ConfigTable>

export const CONFIG_ROWS = {
  ...NETWORK_CONFIG,
  ...SERVER_CONFIG,
  ...METADATA_CONFIG,
  ...LOG_CONFIG,
  ...COMPACTION_CONFIG,
  ...INHERITED_CONFIG,
  ...REPLICATION_CONFIG,
  ...REPLICA_CONFIG,
  ...COORDINATOR_CONFIG,
  ...TRANSACTION_CONFIG,
  ...SASL_CONFIG,
  ...TLS_CONFIG,
  ...REMOTE_CONFIG,
} as const

/** The row of a name that comes from outside, which may be one that every object has. */
export const configRow = (name: string): ConfigRow | undefined =>
  Object.hasOwn(CONFIG_ROWS, name) ? (CONFIG_ROWS as Readonly<Record<string, ConfigRow>>)[name] : undefined

/** Every broker config by its documented name. */
export type BrokerConfig = ConfigValues<typeof CONFIG_ROWS>
/** Every topic config by its documented name. */
export type TopicConfig = TopicConfigValues<typeof CONFIG_ROWS>

/** One config that a topic can set. */
export interface TopicConfigRow {
  readonly name: string
  /** The broker config it inherits from; null when it has a default of its own. */
  readonly broker: string | null
  readonly row: ConfigRow
}

let topicRows: ReadonlyMap<string, TopicConfigRow> | undefined

/** The topic configs by name, with the topic's own bounds where they differ from the broker's. */
export function topicConfigRows(): ReadonlyMap<string, TopicConfigRow> {
  if (topicRows !== undefined) return topicRows
  const rows = new Map<string, TopicConfigRow>()
  for (const [broker, row] of Object.entries<ConfigRow>(CONFIG_ROWS)) {
    const name = topicNameOf(broker, row)
    if (name === undefined) continue
    const own = typeof row.topic === 'object' ? row.topic : undefined
    rows.set(name, {
      name,
      broker: row.update === 'topic' ? null : broker,
      row: { ...row, valid: own?.valid ?? row.valid, importance: own?.importance ?? row.importance },
    })
  }
  topicRows = rows
  return rows
}
