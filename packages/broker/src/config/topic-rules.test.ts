// What a topic may set, and what it ends up with.
import assert from 'node:assert/strict'
import { partitionConfigOf } from '../partition-channel.js'
import { readConfig } from './read.js'
import { topicConfigOf, topicConfigRules } from './topic-rules.js'

const settings = readConfig(new Map([['log.retention.minutes', '5']]))
const rules = topicConfigRules(settings)

describe('Topic configs', () => {
  it('inherit from the broker unless they are set', () => {
    assert.equal(topicConfigOf({}, settings)['retention.ms'], 300_000)
    assert.equal(topicConfigOf({ 'retention.ms': ' 7 ' }, settings)['retention.ms'], 7)
    assert.deepEqual(topicConfigOf({ 'cleanup.policy': 'compact, delete' }, settings)['cleanup.policy'], ['compact', 'delete'])
    assert.equal(rules.defaultOf('retention.ms'), '300000')
    assert.equal(rules.defaultOf('flush.ms'), '9223372036854775807')
  })

  for (const [name, value, expected] of [
    ['retention.ms', '-2', /Invalid value -2 for configuration retention\.ms: must be at least -1/],
    ['retention.ms', 'x', /whole number/],
    ['segment.bytes', '13', /at least 14/],
    ['cleanup.policy', 'compact,erase', /one of compact, delete/],
    ['preallocate', 'maybe', /true or false/],
    ['message.format.version', '7.7', /must be a release/],
    ['leader.replication.throttled.replicas', 'x', /partition:broker/],
    ['remote.storage.enable', 'true', /Tiered Storage functionality is disabled/],
    ['no.such.config', '1', /Unknown topic config name: no\.such\.config/],
    ['log.retention.ms', '1', /Unknown topic config name/],
  ] as const) {
    it(`refuse ${name}=${value}`, () => assert.match(rules.problem({ [name]: value }) ?? 'accepted', expected))
  }

  it('refuse a shortest compaction lag above the longest', () => {
    const problem = rules.problem({ 'min.compaction.lag.ms': '100', 'max.compaction.lag.ms': '10' })
    assert.match(problem ?? 'accepted', /min\.compaction\.lag\.ms \(100\) > max\.compaction\.lag\.ms \(10\)/)
  })

  it('accept what 3.9.1 accepts', () => {
    const overrides = {
      'retention.ms': '-1',
      'cleanup.policy': '',
      'message.format.version': '2.8',
      'leader.replication.throttled.replicas': '*',
    }
    assert.equal(rules.problem(overrides), null)
  })

  it('know which of them are lists', () => {
    assert.deepEqual([rules.isList('cleanup.policy'), rules.isList('retention.ms'), rules.isKnown('nope')], [true, false, false])
  })

  it('take the old limit of timestamps where the new ones are not set', () => {
    const config = partitionConfigOf(
      { 'message.timestamp.difference.max.ms': '1000', 'message.timestamp.after.max.ms': '5' },
      settings,
    )
    assert.equal(config['message.timestamp.before.max.ms'], 1000)
    assert.equal(config['message.timestamp.after.max.ms'], 5)
  })
})
