// docs/config.md is what the config tables say.
import assert from 'node:assert/strict'
import { configDocs, configDocsAreFresh } from './config-docs.mjs'

describe('docs/config.md', () => {
  it('is fresh', () => assert.equal(configDocsAreFresh(), true, 'run node tools/config-docs.mjs'))
  it('has a row for every config of 3.9.1 that DescribeConfigs shows', async () => {
    const { default: recorded } = await import('../packages/broker/fixtures/describe-configs-3.9.1.json', {
      with: { type: 'json' },
    })
    const page = configDocs()
    const given = new Set(['strange.key', 'listener.name.plaintext.max.connections'])
    const missing = [...recorded.broker, ...recorded.topic].filter(
      ({ name }) => !given.has(name) && !page.includes(`\`${name}\``),
    )
    assert.deepEqual(missing, [])
  })
})
