/** Rules of topic configs: what an override must be, and the values a topic ends up with. */
import { type ConfigValue, MAX_STRING_BYTES, parseConfig, topicValuesOf } from '@mq/protocol'
import type { TopicConfigRules } from '../controller/api.js'
import { topicDefaultText } from './describe.js'
import type { ReadConfig } from './read.js'
import { CONFIG_ROWS, type TopicConfig, topicConfigRows } from './tables.js'

/** What topics have without overrides: the same object for all of them, made once for each broker. */
const inherited = new WeakMap<ReadConfig, TopicConfig>()

function inheritedOf(config: ReadConfig): TopicConfig {
  const known = inherited.get(config)
  if (known !== undefined) return known
  const broker: Readonly<Record<string, ConfigValue>> = config.values
  const values = topicValuesOf(CONFIG_ROWS, broker)
  inherited.set(config, values)
  return values
}

/** The values of a topic with these overrides. An override that does not parse (written by other hands) counts as not set. */
export function topicConfigOf(overrides: Readonly<Record<string, string>>, config: ReadConfig): TopicConfig {
  const given: Record<string, ConfigValue> = {}
  let isOverridden = false
  for (const [name, text] of Object.entries(overrides)) {
    const found = topicConfigRows().get(name)
    if (found === undefined) continue
    const parsed = parseConfig(name, found.row, text)
    if (parsed.kind !== 'parsed') continue
    given[name] = parsed.value
    isOverridden = true
  }
  const values = inheritedOf(config)
  return isOverridden ? { ...values, ...(given as Partial<TopicConfig>) } : values
}

/** What the controller asks before it writes overrides. */
export function topicConfigRules(config: ReadConfig): TopicConfigRules {
  const rows = topicConfigRows()
  return {
    problem(overrides) {
      for (const [name, text] of Object.entries(overrides)) {
        const found = rows.get(name)
        if (found === undefined) return `Unknown topic config name: ${name}`
        const parsed = parseConfig(name, found.row, text)
        if (parsed.kind === 'invalid') return parsed.message
        const size = Buffer.byteLength(parsed.text ?? '')
        if (size > MAX_STRING_BYTES) return `Invalid value for configuration ${name}: ${size} bytes, no answer could tell it`
      }
      return acrossKeys(topicConfigOf(overrides, config))
    },
    isKnown: (name) => rows.has(name),
    isList: (name) => rows.get(name)?.row.type === 'list',
    defaultOf: (name) => topicDefaultText(name, config) ?? '',
  }
}

/** As LogConfig of 3.9.1 checks values against each other. */
function acrossKeys(topic: TopicConfig): string | null {
  const least = topic['min.compaction.lag.ms']
  const most = topic['max.compaction.lag.ms']
  if (least > most) {
    return `conflict topic config setting min.compaction.lag.ms (${least}) > max.compaction.lag.ms (${most})`
  }
  if (topic['remote.storage.enable'])
    return 'Tiered Storage functionality is disabled in the broker. Topic cannot be configured with remote log storage.'
  return null
}
