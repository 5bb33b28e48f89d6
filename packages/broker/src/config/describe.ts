/**
 * What DescribeConfigs answers: each config with its value, where the value comes from, what else could give it (synonyms), its type and
 * its meaning. Follows 3.9.1: unknown keys of the file are shown without their value, internal configs only when they are set.
 */
import {
  type ConfigRow,
  type ConfigType,
  type ConfigValue,
  configText,
  defaultText,
  effectiveValue,
  parseConfig,
} from '@mq/protocol'
import { listenerKey, type ReadConfig } from './read.js'
import { CONFIG_ROWS, configRow, topicConfigRows } from './tables.js'

/** The sources by the numbers of the protocol (DescribeConfigsResponse, KIP-226). */
export const CONFIG_SOURCE = { unknown: 0, topic: 1, dynamicBroker: 2, dynamicDefault: 3, staticBroker: 4, default: 5 } as const
const CONFIG_TYPE: Readonly<Record<ConfigType, number>> = {
  boolean: 1,
  string: 2,
  int: 3,
  short: 4,
  long: 5,
  double: 6,
  list: 7,
  class: 8,
  password: 9,
}
const UNKNOWN_TYPE = 0

export interface DescribedSynonym {
  readonly name: string
  readonly value: string | null
  readonly source: number
}

export interface DescribedConfig {
  readonly name: string
  readonly value: string | null
  readonly readOnly: boolean
  readonly configSource: number
  readonly isSensitive: boolean
  readonly synonyms: readonly DescribedSynonym[]
  readonly configType: number
  readonly documentation: string | null
}

export interface DescribeOptions {
  readonly includeSynonyms: boolean
  readonly includeDocumentation: boolean
  /** Only these; null or empty means all. */
  readonly keys: readonly string[] | null
}

/** Families whose members stand for each other, in the order in which they count. */
const FAMILIES: readonly (readonly string[])[] = [
  ['log.roll.ms', 'log.roll.hours'],
  ['log.roll.jitter.ms', 'log.roll.jitter.hours'],
  ['log.flush.interval.ms', 'log.flush.scheduler.interval.ms'],
  ['log.retention.ms', 'log.retention.minutes', 'log.retention.hours'],
]

/** The names that may give this config its value, itself among them. */
function familyOf(name: string): readonly string[] {
  const base = listenerKey(name)
  if (base !== undefined) return [name, base]
  const family = FAMILIES.find((names) => names.includes(name))
  // Only the first of the flush pair looks at the other.
  if (family === undefined || name === 'log.flush.scheduler.interval.ms') return [name]
  return family
}

/** All configs of this broker. */
export function describeBroker(config: ReadConfig, options: DescribeOptions): DescribedConfig[] {
  const wanted = options.keys?.length ? new Set(options.keys) : null
  const names = new Set<string>()
  for (const [name, row] of Object.entries<ConfigRow>(CONFIG_ROWS)) {
    if (row.update !== 'topic' && !row.own && (!row.internal || config.given.has(name))) names.add(name)
  }
  for (const name of config.given.keys()) if (!configRow(name)?.own) names.add(name)
  const described: DescribedConfig[] = []
  for (const name of names) if (wanted === null || wanted.has(name)) described.push(describeBrokerConfig(name, config, options))
  return described
}

function describeBrokerConfig(name: string, config: ReadConfig, options: DescribeOptions): DescribedConfig {
  const own = configRow(name)
  const row = own ?? rowOfListenerKey(name)
  const sensitive = row === undefined || row.type === 'password' || row.sensitive === true
  const synonyms = brokerSynonyms(name, config.given, sensitive)
  const source = synonyms[0]?.source ?? CONFIG_SOURCE.default
  return {
    name,
    value: sensitive ? null : brokerText(name, row, config),
    // A key for one listener counts as read-only, whatever it stands for.
    readOnly: own === undefined || own.update === 'read-only',
    configSource: source,
    isSensitive: sensitive,
    synonyms: options.includeSynonyms ? synonyms : [],
    configType: row === undefined ? UNKNOWN_TYPE : CONFIG_TYPE[row.type],
    documentation: options.includeDocumentation ? (own?.doc ?? null) : null,
  }
}

function rowOfListenerKey(name: string): ConfigRow | undefined {
  const base = listenerKey(name)
  return base === undefined ? undefined : configRow(base)
}

function brokerText(name: string, row: ConfigRow, config: ReadConfig): string | null {
  const given = config.given.get(name)
  if (given !== undefined) {
    const parsed = parseConfig(name, row, given)
    if (parsed.kind === 'parsed') return parsed.text
  }
  return configText(row.type, (config.values as Readonly<Record<string, ConfigValue>>)[name] ?? null)
}

/** What was set comes before the defaults; what stands before the config itself in its family is not shown. */
function brokerSynonyms(name: string, given: ReadonlyMap<string, string>, sensitive: boolean): DescribedSynonym[] {
  const family = familyOf(name)
  const synonyms: DescribedSynonym[] = []
  for (const member of family) {
    const text = given.get(member)
    if (text !== undefined) {
      synonyms.push({ name: member, value: sensitive ? null : text, source: CONFIG_SOURCE.staticBroker })
    }
  }
  for (const member of family) {
    const row = configRow(member)
    if (row === undefined || row.default === null) continue
    synonyms.push({ name: member, value: sensitive ? null : defaultText(row), source: CONFIG_SOURCE.default })
  }
  const first = synonyms.findIndex((synonym) => synonym.name === name)
  return first < 0 ? [] : synonyms.slice(first)
}

/** All configs of one topic with these overrides. */
export function describeTopic(
  overrides: Readonly<Record<string, string>>,
  config: ReadConfig,
  options: DescribeOptions,
): DescribedConfig[] {
  const wanted = options.keys?.length ? new Set(options.keys) : null
  const described: DescribedConfig[] = []
  for (const { name, broker, row } of topicConfigRows().values()) {
    if (wanted !== null && !wanted.has(name)) continue
    const override = Object.hasOwn(overrides, name) ? overrides[name] : undefined
    const value = override === undefined ? topicDefaultText(name, config) : topicText(name, row, override)
    const inherited = broker === null ? [] : brokerSynonyms(broker, config.given, false)
    const own = override === undefined ? [] : [{ name, value, source: CONFIG_SOURCE.topic }]
    const synonyms = [...own, ...inherited]
    const source = synonyms[0]?.source ?? CONFIG_SOURCE.default
    described.push({
      name,
      value,
      readOnly: false,
      configSource: source,
      isSensitive: false,
      synonyms: options.includeSynonyms ? synonyms : [],
      configType: CONFIG_TYPE[row.type],
      documentation: options.includeDocumentation ? row.doc : null,
    })
  }
  return described
}

function topicText(name: string, row: ConfigRow, text: string): string | null {
  const parsed = parseConfig(name, row, text)
  return parsed.kind === 'parsed' ? parsed.text : text
}

/** What a topic has without an override, as text. */
export function topicDefaultText(name: string, config: ReadConfig): string | null {
  const found = topicConfigRows().get(name)
  if (found === undefined) return null
  const { broker, row } = found
  if (broker === null) return defaultText(row)
  const given = config.given.get(broker)
  if (given !== undefined) {
    const parsed = parseConfig(broker, row, given)
    // The exact text, for longs that a number cannot hold.
    if (parsed.kind === 'parsed' && row.orElse === undefined) return parsed.text
  }
  const value = effectiveValue(broker, row, config.values as Readonly<Record<string, ConfigValue>>)
  return row.default !== null && given === undefined ? defaultText(row) : configText(row.type, value)
}
