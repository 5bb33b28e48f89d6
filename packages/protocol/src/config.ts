/**
 * The language of Kafka's configs: one row per config says its type, default, bounds, how it may change and what it means. Parsing,
 * validation, DescribeConfigs, topic overrides and docs/config.md derive from the rows; each package owns its rows, the broker joins them.
 */

/** The types of Kafka's ConfigDef, by the names that DescribeConfigs and the documentation use (lower case). */
export type ConfigType = 'boolean' | 'string' | 'int' | 'short' | 'long' | 'double' | 'list' | 'class' | 'password'

/** A parsed value. A long beyond 2^53 is the nearest number (it only ever means "no limit"); its exact text is kept beside it. */
export type ConfigValue = number | boolean | string | readonly string[] | null

/** What a value must be. `text` is shown in errors and in the docs; `check` says what is wrong, or null. */
export interface Rule {
  readonly text: string
  check(value: Exclude<ConfigValue, null>): string | null
}

/** One config of a topic that inherits from a broker config, where the topic's own row differs in more than its name. */
export interface TopicRow {
  readonly name: string
  readonly valid?: Rule
  readonly importance?: 'high' | 'medium' | 'low'
}

export interface ConfigRow {
  readonly type: ConfigType
  /** As Kafka 3.9.1 has it; bigint for longs beyond 2^53; null when there is none. */
  readonly default: number | bigint | boolean | string | readonly string[] | null
  readonly valid?: Rule
  readonly importance: 'high' | 'medium' | 'low'
  /** Who may change it while the broker runs; `topic` marks a row that exists only on topics. */
  readonly update: 'read-only' | 'per-broker' | 'cluster-wide' | 'topic'
  /** The topic config that inherits from this one. */
  readonly topic?: string | TopicRow
  /** Where the value comes from when this one is not set: other configs, in order, each with the factor to this one's unit. */
  readonly orElse?: readonly (readonly [name: string, factor: number])[]
  /** Never shown in answers or logs. Every password is. */
  readonly sensitive?: boolean
  /** Kafka does not document it, and DescribeConfigs lists it all the same. */
  readonly internal?: boolean
  /** Ours: Kafka does not know it, so DescribeConfigs leaves it out. */
  readonly own?: boolean
  readonly doc: string
  /** honoured: read by the code; accepted: without effect, logged once when set; refused: the broker does not start when it is set. */
  readonly effect: 'honoured' | 'accepted' | 'refused'
}

export type ConfigTable = Readonly<Record<string, ConfigRow>>

type PlainValue<R extends ConfigRow> = R['type'] extends 'int' | 'long' | 'short' | 'double'
  ? number
  : R['type'] extends 'boolean'
    ? boolean
    : R['type'] extends 'list'
      ? readonly string[]
      : string
/** The value of one row: null is possible where the default is null. */
export type ConfigValueOf<R extends ConfigRow> = null extends R['default'] ? PlainValue<R> | null : PlainValue<R>

/** Values by their documented names: `ConfigValues<typeof LOG_CONFIG>['log.segment.bytes']` is a number. */
export type ConfigValues<T extends ConfigTable> = { readonly [N in keyof T]: ConfigValueOf<T[N]> }

type TopicName<N, R extends ConfigRow> = R extends { topic: infer U extends string }
  ? U
  : R extends { topic: { name: infer U extends string } }
    ? U
    : R extends { update: 'topic' }
      ? N
      : never
/** Values by their topic names: `TopicConfigValues<typeof LOG_CONFIG>['segment.bytes']` is a number. Topics have no null values. */
export type TopicConfigValues<T extends ConfigTable> = {
  readonly [N in keyof T as TopicName<N, T[N]> & PropertyKey]: PlainValue<T[N]>
}

/** Declares rows; the literal types stay, so that the values can be inferred from them. */
export function configs<const T extends ConfigTable>(rows: T): T {
  return rows
}

// --- rules -------------------------------------------------------------------------------------------------------------------------

/** `[least,...]` */
export function atLeast(least: number): Rule {
  return { text: `[${least},...]`, check: (value) => (Number(value) >= least ? null : `must be at least ${least}`) }
}

/** `[least,...,most]`, both included. */
export function between(least: number, most: number): Rule {
  const check = (value: ConfigValue) =>
    Number(value) >= least && Number(value) <= most ? null : `must be at least ${least} and at most ${most}`
  return { text: `[${least},...,${most}]`, check }
}

/** One of these words, or for a list only these words. */
export function oneOf(...words: readonly string[]): Rule {
  const check = (value: ConfigValue) => {
    const wrong = (Array.isArray(value) ? value : [value]).find((word) => !words.includes(String(word)))
    return wrong === undefined ? null : `must be one of ${words.join(', ')}`
  }
  return { text: `[${words.join(', ')}]`, check }
}

/** One of these words in any letter case. */
export function oneOfIgnoringCase(...words: readonly string[]): Rule {
  const lower = words.map((word) => word.toLowerCase())
  const check = (value: ConfigValue) =>
    lower.includes(String(value).toLowerCase()) ? null : `must be one of ${words.join(', ')} (in any letter case)`
  return { text: `(case insensitive) [${words.join(', ')}]`, check }
}

/** A range, or one number outside it that has a meaning of its own. */
export function betweenOr(least: number, most: number, special: number): Rule {
  const check = (value: ConfigValue) =>
    value === special || (Number(value) >= least && Number(value) <= most)
      ? null
      : `must be at least ${least} and at most ${most}, or ${special}`
  return { text: `[${least},...,${most}] or ${special}`, check }
}

/** A string or list that is not empty. */
export function notEmpty(): Rule {
  return { text: 'not empty', check: (value) => ((value as string | readonly string[]).length > 0 ? null : 'must not be empty') }
}

// --- values ------------------------------------------------------------------------------------------------------------------------

/** A row's default as a value (a bigint becomes the nearest number). */
export function defaultOf(row: ConfigRow): ConfigValue {
  return typeof row.default === 'bigint' ? Number(row.default) : row.default
}

/** All values of a table: the defaults, and what is given. */
export function valuesOf<T extends ConfigTable>(rows: T, given: Partial<ConfigValues<T>> = {}): ConfigValues<T> {
  const values: Record<string, ConfigValue> = {}
  for (const [name, row] of Object.entries(rows)) values[name] = defaultOf(row)
  return Object.assign(values, given) as ConfigValues<T>
}

/** The values a topic has when nothing was set on it: the broker's, by their topic names. */
export function topicValuesOf<T extends ConfigTable>(
  rows: T,
  broker: Readonly<Record<string, ConfigValue>>,
  given: Partial<TopicConfigValues<T>> = {},
): TopicConfigValues<T> {
  const values: [string, ConfigValue][] = []
  for (const [name, row] of Object.entries(rows)) {
    const topic = topicNameOf(name, row)
    if (topic === undefined) continue
    values.push([topic, row.update === 'topic' ? defaultOf(row) : effectiveValue(name, row, broker)])
  }
  // Each append looks at them: made in one go they are plain fields, set one by one V8 would keep them in a hash table.
  return { ...Object.fromEntries(values), ...given } as TopicConfigValues<T>
}

/** The topic config that this row stands for, if any. */
export function topicNameOf(name: string, row: ConfigRow): string | undefined {
  if (row.update === 'topic') return name
  return typeof row.topic === 'string' ? row.topic : row.topic?.name
}

/**
 * The value that counts, when several configs may give it in different units: `log.retention.ms`, else `log.retention.minutes`, else
 * `log.retention.hours`. A negative one means "no limit" in every unit and becomes -1.
 */
export function effectiveValue(name: string, row: ConfigRow, values: Readonly<Record<string, ConfigValue>>): ConfigValue {
  const own = values[name] ?? null
  if (row.orElse === undefined) return own
  if (own !== null) return Math.max(-1, Number(own))
  for (const [other, factor] of row.orElse) {
    const value = values[other] ?? null
    if (value !== null) return Math.max(-1, Number(value) * factor)
  }
  return null
}

// --- text to value and back --------------------------------------------------------------------------------------------------------

/** A value with the text that Kafka would print for it, or why the text is not one. */
export type Parsed =
  | { readonly kind: 'parsed'; readonly value: ConfigValue; readonly text: string | null }
  | { readonly kind: 'invalid'; readonly message: string }

const INTEGER_LIMITS = { short: 1n << 15n, int: 1n << 31n, long: 1n << 63n } as const

/** Reads one value in Kafka's syntax and checks it against its row. The message of an invalid one names the key and what is allowed. */
export function parseConfig(name: string, row: Pick<ConfigRow, 'type' | 'valid' | 'sensitive'>, text: string): Parsed {
  const shown = row.type === 'password' || row.sensitive ? '[hidden]' : text
  const invalid = (why: string): Parsed => ({
    kind: 'invalid',
    message: `Invalid value ${shown} for configuration ${name}: ${why}`,
  })
  const parsed = parseText(row.type, text)
  if (parsed.kind === 'invalid') return invalid(parsed.message)
  const wrong = parsed.value === null ? null : (row.valid?.check(parsed.value) ?? null)
  return wrong === null ? parsed : invalid(wrong)
}

function parseText(type: ConfigType, text: string): Parsed {
  const word = text.trim()
  switch (type) {
    case 'boolean': {
      const lower = word.toLowerCase()
      if (lower !== 'true' && lower !== 'false') return { kind: 'invalid', message: 'must be true or false' }
      return { kind: 'parsed', value: lower === 'true', text: lower }
    }
    case 'short':
    case 'int':
    case 'long': {
      const limit = INTEGER_LIMITS[type]
      const exact = /^[+-]?\d{1,40}$/.test(word) ? BigInt(word.replace('+', '')) : undefined
      if (exact === undefined || exact < -limit || exact >= limit) {
        return { kind: 'invalid', message: `must be a whole number from ${-limit} to ${limit - 1n}` }
      }
      return { kind: 'parsed', value: Number(exact), text: String(exact) }
    }
    case 'double': {
      if (!/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?[dDfF]?$/.test(word)) return { kind: 'invalid', message: 'must be a number' }
      const value = Number(word.replace(/[dDfF]$/, ''))
      return { kind: 'parsed', value, text: doubleText(value) }
    }
    case 'list': {
      const value = word === '' ? [] : word.split(/\s*,\s*/)
      return { kind: 'parsed', value, text: value.join(',') }
    }
    case 'password':
      return { kind: 'parsed', value: text, text }
    case 'string':
    case 'class':
      return { kind: 'parsed', value: word, text: word }
  }
}

/** A row's default as the text that Kafka prints. */
export function defaultText(row: ConfigRow): string | null {
  return configText(row.type, row.default)
}

/** The text of a value, as Kafka prints it in DescribeConfigs. */
export function configText(type: ConfigType, value: ConfigRow['default']): string | null {
  if (value === null) return null
  if (Array.isArray(value)) return value.join(',')
  if (type === 'double') return doubleText(Number(value))
  // The one long that a number cannot hold and that stands in many defaults.
  if (type === 'long' && value === 2 ** 63) return '9223372036854775807'
  return String(value)
}

/** Java's text of a double: at least one digit after the point, and an exponent outside 10^-3 … 10^7. */
function doubleText(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? 'Infinity' : '-Infinity'
  const size = Math.abs(value)
  if (size === 0 || (size >= 1e-3 && size < 1e7)) return Number.isInteger(value) ? value.toFixed(1) : String(value)
  const [digits = '', exponent = ''] = value.toExponential().split('e')
  return `${digits.includes('.') ? digits : `${digits}.0`}E${Number(exponent)}`
}

/** The known name nearest to an unknown one, by edit distance; undefined when none is near. */
export function nearestName(unknown: string, known: Iterable<string>): string | undefined {
  const asked = unknown.slice(0, 200)
  let nearest: string | undefined
  let least = Math.max(2, Math.floor(asked.length / 4)) + 1
  for (const name of known) {
    if (Math.abs(name.length - asked.length) >= least) continue
    const distance = editDistance(asked, name)
    if (distance < least) {
      least = distance
      nearest = name
    }
  }
  return nearest
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const change = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(change, row[j]! + 1, next[j - 1]! + 1))
    }
    row = next
  }
  return row[b.length]!
}
