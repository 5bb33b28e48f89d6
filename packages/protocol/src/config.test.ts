// The config language: Kafka's value syntax, bounds, inheritance of topic values, nearest names.
import assert from 'node:assert/strict'
import {
  atLeast,
  between,
  betweenOr,
  type ConfigType,
  configs,
  configText,
  defaultText,
  effectiveValue,
  nearestName,
  oneOf,
  parseConfig,
  topicValuesOf,
  valuesOf,
} from './config.js'

const ROWS = configs({
  'log.segment.bytes': {
    type: 'int',
    default: 1 << 30,
    valid: atLeast(14),
    importance: 'high',
    update: 'cluster-wide',
    topic: 'segment.bytes',
    doc: '',
    effect: 'honoured',
  },
  'log.retention.ms': {
    type: 'long',
    default: null,
    importance: 'high',
    update: 'cluster-wide',
    topic: { name: 'retention.ms', valid: atLeast(-1) },
    orElse: [
      ['log.retention.minutes', 60_000],
      ['log.retention.hours', 3_600_000],
    ],
    doc: '',
    effect: 'honoured',
  },
  'log.retention.minutes': { type: 'int', default: null, importance: 'high', update: 'read-only', doc: '', effect: 'honoured' },
  'log.retention.hours': { type: 'int', default: 168, importance: 'high', update: 'read-only', doc: '', effect: 'honoured' },
  'remote.storage.enable': {
    type: 'boolean',
    default: false,
    importance: 'medium',
    update: 'topic',
    doc: '',
    effect: 'accepted',
  },
  'log.flush.interval.messages': {
    type: 'long',
    default: 9223372036854775807n,
    importance: 'high',
    update: 'cluster-wide',
    doc: '',
    effect: 'honoured',
  },
})

const parse = (type: ConfigType, text: string) => {
  const parsed = parseConfig('key', { type }, text)
  return parsed.kind === 'parsed' ? [parsed.value, parsed.text] : parsed.message
}

describe('The config language', () => {
  it('reads each type in Kafka syntax and prints it as Kafka prints it', () => {
    assert.deepEqual(parse('boolean', ' TRUE '), [true, 'true'])
    assert.deepEqual(parse('int', '+007'), [7, '7'])
    assert.deepEqual(parse('int', '-2147483648'), [-2147483648, '-2147483648'])
    assert.deepEqual(parse('long', '9223372036854775807'), [2 ** 63, '9223372036854775807'])
    assert.deepEqual(parse('double', '0.50'), [0.5, '0.5'])
    assert.deepEqual(parse('double', '1'), [1, '1.0'])
    assert.deepEqual(parse('double', '1.7976931348623157e308'), [Number.MAX_VALUE, '1.7976931348623157E308'])
    assert.deepEqual(parse('double', '1e7'), [1e7, '1.0E7'])
    assert.deepEqual(parse('list', ' a , b,c '), [['a', 'b', 'c'], 'a,b,c'])
    assert.deepEqual(parse('list', '  '), [[], ''])
    assert.deepEqual(parse('string', ' x y '), ['x y', 'x y'])
    assert.deepEqual(parse('password', ' kept as it is '), [' kept as it is ', ' kept as it is '])
  })

  it('says key, value and what is allowed when a value is wrong', () => {
    assert.equal(parse('boolean', 'yes'), 'Invalid value yes for configuration key: must be true or false')
    assert.match(String(parse('int', '2147483648')), /key: must be a whole number from -2147483648 to 2147483647$/)
    assert.match(String(parse('short', '1.5')), /must be a whole number/)
    assert.match(String(parse('double', 'many')), /must be a number/)
    const bounded = (valid: ReturnType<typeof atLeast>, text: string) => {
      const parsed = parseConfig('k', { type: 'int', valid }, text)
      return parsed.kind === 'parsed' ? 'ok' : parsed.message
    }
    assert.equal(bounded(atLeast(14), '13'), 'Invalid value 13 for configuration k: must be at least 14')
    assert.equal(bounded(atLeast(14), '14'), 'ok')
    assert.equal(bounded(between(1, 9), '10'), 'Invalid value 10 for configuration k: must be at least 1 and at most 9')
    assert.equal(bounded(betweenOr(1, 9, -1), '-1'), 'ok')
    const policy = parseConfig('cleanup.policy', { type: 'list', valid: oneOf('compact', 'delete') }, 'compact,erase')
    assert.equal(policy.kind === 'invalid' && policy.message.endsWith('must be one of compact, delete'), true)
  })

  it('never shows a secret in a message', () => {
    const parsed = parseConfig('k', { type: 'int', sensitive: true }, 'hunter2')
    assert.equal(parsed.kind === 'invalid' && !parsed.message.includes('hunter2'), true)
  })

  it('gives a topic the values of the broker, by precedence and unit', () => {
    const values = valuesOf(ROWS)
    assert.equal(topicValuesOf(ROWS, values)['retention.ms'], 168 * 3_600_000)
    assert.equal(topicValuesOf(ROWS, { ...values, 'log.retention.minutes': 5 })['retention.ms'], 300_000)
    assert.equal(topicValuesOf(ROWS, { ...values, 'log.retention.minutes': 5, 'log.retention.ms': 7 })['retention.ms'], 7)
    assert.equal(topicValuesOf(ROWS, { ...values, 'log.retention.hours': -1 })['retention.ms'], -1)
    assert.equal(topicValuesOf(ROWS, values, { 'segment.bytes': 99 })['segment.bytes'], 99)
    assert.equal(topicValuesOf(ROWS, values)['remote.storage.enable'], false)
    assert.equal(effectiveValue('log.retention.ms', ROWS['log.retention.ms'], values), 168 * 3_600_000)
  })

  it('prints defaults as Kafka prints them', () => {
    assert.equal(defaultText(ROWS['log.flush.interval.messages']), '9223372036854775807')
    assert.equal(configText('long', valuesOf(ROWS)['log.flush.interval.messages']), '9223372036854775807')
    assert.equal(defaultText(ROWS['log.retention.ms']), null)
  })

  it('finds the nearest known name, and none when nothing is near', () => {
    assert.equal(nearestName('log.retetion.hours', Object.keys(ROWS)), 'log.retention.hours')
    assert.equal(nearestName('entirely.else', Object.keys(ROWS)), undefined)
  })
})
