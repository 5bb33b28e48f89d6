/** Pure: what AlterConfigs and IncrementalAlterConfigs make of a topic's overrides. Checks and words are those of 3.9.1. */
import type { MetadataImage } from '../metadata/image.js'
import type { ConfigOperation, ControllerResult, NamedResult, TopicConfigRules } from './api.js'
import { type Decision, failure, NO_ERROR } from './decision.js'

export interface ConfigRules {
  readonly image: MetadataImage
  readonly configs: TopicConfigRules
}

type Overrides = Readonly<Record<string, string>>

/** The overrides become exactly these. */
export function decideReplaceConfigs(
  rules: ConfigRules,
  name: string,
  configs: readonly { readonly name: string; readonly value: string | null }[],
): Decision<NamedResult> {
  const given = configs.filter((config): config is { name: string; value: string } => config.value !== null)
  return decide(rules, name, Object.fromEntries(given.map((config) => [config.name, config.value])), configs)
}

/** Single overrides change; the operations take effect one after the other. */
export function decideChangeConfigs(
  rules: ConfigRules,
  name: string,
  changes: readonly ConfigOperation[],
): Decision<NamedResult> {
  // A map: names come from outside, and an object already has some of its own.
  const overrides = new Map(Object.entries(rules.image.topic(name)?.configs ?? {}))
  for (const change of changes) {
    const problem = changeOne(rules.configs, overrides, change)
    if (problem !== null) return { result: { name, ...problem }, effect: null }
  }
  return decide(rules, name, Object.fromEntries(overrides), changes)
}

function decide(
  { image, configs }: ConfigRules,
  name: string,
  overrides: Overrides,
  named: readonly { readonly name: string }[],
): Decision<NamedResult> {
  const refused = (result: ControllerResult): Decision<NamedResult> => ({ result: { name, ...result }, effect: null })
  if (name === '') return refused(failure('INVALID_REQUEST', 'Default topic resources are not allowed.'))
  const topic = image.topic(name)
  if (topic === undefined) return refused(failure('UNKNOWN_TOPIC_OR_PARTITION', `The topic '${name}' does not exist.`))
  const problem = configs.problem(overrides)
  if (problem !== null) {
    const isUnknown = Object.keys(overrides).some((each) => !configs.isKnown(each))
    const resource = `ConfigResource(type=TOPIC, name='${name}')`
    return refused(failure('INVALID_CONFIG', isUnknown ? problem : `Invalid config value for resource ${resource}: ${problem}`))
  }
  const names = named.map((each) => each.name)
  return { result: { name, ...NO_ERROR }, effect: { kind: 'writeConfigs', topic: { ...topic, configs: overrides }, names } }
}

/** Null when done. */
function changeOne(configs: TopicConfigRules, overrides: Map<string, string>, change: ConfigOperation): ControllerResult | null {
  const { name, operation, value } = change
  if (operation === 'delete') {
    overrides.delete(name)
    return null
  }
  if (operation === 'set') {
    overrides.set(name, value ?? '')
    return null
  }
  if (!configs.isKnown(name)) return failure('INVALID_CONFIG', `Unknown config name: ${name}`)
  if (!configs.isList(name)) return failure('INVALID_CONFIG', `Config value ${operation} is not allowed for config key: ${name}`)
  const old = listOf(overrides.get(name) ?? configs.defaultOf(name))
  const given = listOf(value ?? '')
  const next =
    operation === 'append'
      ? [...old, ...given.filter((each) => !old.includes(each))]
      : old.filter((each) => !given.includes(each))
  overrides.set(name, next.join(','))
  return null
}

const listOf = (text: string): string[] => text.split(',').filter((each) => each !== '')
