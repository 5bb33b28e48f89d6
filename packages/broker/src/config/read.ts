/**
 * From texts (a file, flags, options) to checked values: unknown keys get a warning with the nearest known one, bad values and configs
 * that this version refuses stop the start.
 */
import { type ConfigRow, type ConfigValue, defaultOf, defaultText, nearestName, parseConfig } from '@mq/protocol'
import { type BrokerConfig, CONFIG_ROWS, configRow } from './tables.js'

export interface ReadConfig {
  readonly values: BrokerConfig
  /** What was set, as it was written, by name; known and unknown names alike. */
  readonly given: ReadonlyMap<string, string>
  /** What stops the start, one line each. */
  readonly problems: readonly string[]
  /** What the user should know, one line each. */
  readonly warnings: readonly string[]
}

/** `listener.name.internal.ssl.keystore.location`, `listener.name.internal.plain.sasl.jaas.config` → the key it stands for. */
export function listenerKey(name: string): string | undefined {
  const rest = /^listener\.name\.[^.]*\.(.*)$/.exec(name)?.[1]
  if (rest === undefined) return undefined
  if (configRow(rest) !== undefined) return rest
  const withoutMechanism = rest.slice(rest.indexOf('.') + 1)
  return configRow(withoutMechanism) === undefined ? undefined : withoutMechanism
}

export function readConfig(written: ReadonlyMap<string, string>): ReadConfig {
  const given = withBothIds(written)
  const values: Record<string, ConfigValue> = {}
  const problems: string[] = []
  const warnings: string[] = []
  const withoutEffect: string[] = []
  for (const [name, row] of Object.entries<ConfigRow>(CONFIG_ROWS)) values[name] = defaultOf(row)
  for (const [name, text] of given) {
    const row = configRow(name)
    if (row === undefined || row.update === 'topic') {
      const warning = unknownKey(name)
      if (warning !== null) warnings.push(warning)
      continue
    }
    const parsed = parseConfig(name, row, text)
    if (parsed.kind === 'invalid') {
      problems.push(parsed.message)
      continue
    }
    values[name] = parsed.value
    const isDefault = parsed.text === defaultText(row)
    if (row.effect === 'refused' && !isDefault && parsed.text !== '') problems.push(`${name} cannot be used: ${row.doc}`)
    if (row.effect === 'accepted' && !isDefault) withoutEffect.push(name)
  }
  if (withoutEffect.length > 0) warnings.push(`without effect in this version: ${withoutEffect.join(', ')}`)
  return { values: values as BrokerConfig, given, problems: [...problems, ...acrossKeys(values as BrokerConfig)], warnings }
}

/** `broker.id` and `node.id` are one thing: who sets one has set the other. */
function withBothIds(written: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const given = new Map(written)
  const [brokerId, nodeId] = [written.get('broker.id'), written.get('node.id')]
  if (brokerId !== undefined && nodeId === undefined) given.set('node.id', brokerId)
  if (nodeId !== undefined && brokerId === undefined) given.set('broker.id', nodeId)
  return given
}

function unknownKey(name: string): string | null {
  const meant = listenerKey(name)
  if (meant !== undefined) return `${name} has no effect: ${meant} is not set per listener in this version`
  if (name.startsWith('listener.name.')) return `${name} is not known`
  const nearest = nearestName(name, Object.keys(CONFIG_ROWS))
  return nearest === undefined ? `${name} is not known` : `${name} is not known; did you mean ${nearest}?`
}

/** Rules between configs, as 3.9.1 checks them at its start. */
function acrossKeys(config: BrokerConfig): string[] {
  const problems: string[] = []
  const id = config['broker.id']
  const nodeId = config['node.id']
  if (id >= 0 && nodeId >= 0 && id !== nodeId) {
    problems.push(`broker.id is ${id} and node.id is ${nodeId}: they name the same thing and must be equal; set only one`)
  }
  const most = config['reserved.broker.max.id']
  if (config['broker.id.generation.enable'] && (id < -1 || id > most)) {
    problems.push(`broker.id must be from -1 to reserved.broker.max.id (${most}), and is ${id}`)
  } else if (!config['broker.id.generation.enable'] && id < 0 && nodeId < 0) {
    problems.push(`broker.id must be at least 0 when broker.id.generation.enable is false, and is ${id}`)
  }
  for (const name of ['log.retention.ms', 'log.retention.minutes', 'log.retention.hours'] as const) {
    if (config[name] === 0) problems.push(`Invalid value 0 for configuration ${name}: must be -1 (no limit) or at least 1`)
  }
  return problems
}
