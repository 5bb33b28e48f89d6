// What DescribeConfigs answers is compared, name by name, with what a real 3.9.1 broker answered for the same file and topic.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type DescribedConfig, describeBroker, describeTopic } from './describe.js'
import { readConfig } from './read.js'

interface Recorded {
  readonly given: Record<string, string>
  readonly topicOverrides: Record<string, string>
  readonly broker: readonly RecordedConfig[]
  readonly topic: readonly RecordedConfig[]
}
interface RecordedConfig {
  readonly name: string
  readonly documented: boolean
}

const recorded: Recorded = JSON.parse(readFileSync(join(__dirname, '../../fixtures/describe-configs-3.9.1.json'), 'utf8'))
const settings = readConfig(new Map(Object.entries(recorded.given)))
const everything = { includeSynonyms: true, includeDocumentation: true, keys: null }

/** Ours in the shape of the recording, by name. */
const shaped = (configs: readonly DescribedConfig[]) =>
  new Map(
    configs.map((config) => [
      config.name,
      {
        name: config.name,
        value: config.value,
        readOnly: config.readOnly,
        configSource: config.configSource,
        isSensitive: config.isSensitive,
        configType: config.configType,
        synonyms: config.synonyms.map(({ name, value, source }) => [name, value, source]),
        documented: config.documentation !== null && config.documentation !== '',
      },
    ]),
  )

describe('DescribeConfigs against the recording of 3.9.1', () => {
  for (const [resource, ours, theirs] of [
    ['broker', shaped(describeBroker(settings, everything)), recorded.broker],
    ['topic', shaped(describeTopic(recorded.topicOverrides, settings, everything)), recorded.topic],
  ] as const) {
    it(`has the same ${resource} configs`, () => {
      assert.deepEqual([...ours.keys()].sort(), theirs.map(({ name }) => name).sort())
    })
    for (const expected of theirs) {
      it(`answers ${expected.name} of a ${resource} as 3.9.1 does`, () => assert.deepEqual(ours.get(expected.name), expected))
    }
  }

  it('takes names that every object has for what they are: unknown keys of the file', () => {
    const odd = ['constructor', 'listener.name.x.toString', '__proto__']
    const described = describeBroker(readConfig(new Map(odd.map((name) => [name, '1']))), { ...everything, keys: odd })
    const unknown = { value: null, readOnly: true, configSource: 4, isSensitive: true, configType: 0, documentation: null }
    for (const name of odd) {
      const { synonyms, ...config } = described.find((one) => one.name === name)!
      assert.deepEqual(config, { name, ...unknown })
    }
  })

  it('answers only the asked keys, without synonyms and documentation when they were not asked for', () => {
    const options = { includeSynonyms: false, includeDocumentation: false, keys: ['retention.ms', 'no.such.key'] }
    const [config, ...more] = describeTopic(recorded.topicOverrides, settings, options)
    assert.deepEqual([config?.name, config?.synonyms, config?.documentation, more], ['retention.ms', [], null, []])
    assert.deepEqual(
      describeBroker(settings, { ...options, keys: ['log.retention.ms'] }).map(({ name }) => name),
      ['log.retention.ms'],
    )
  })
})
