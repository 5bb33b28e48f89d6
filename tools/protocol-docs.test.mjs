// The pages of messages and errors are what the tables say.
import assert from 'node:assert/strict'
import { errorDocs, protocolDocs, stalePages } from './protocol-docs.mjs'

describe('docs/protocol.md and docs/errors.md', () => {
  it('are fresh', () => assert.deepEqual(stalePages(), []))

  it('name every API and every error', () => {
    assert.match(protocolDocs(), /\n## Produce\n/)
    assert.match(protocolDocs(), /\n## UnregisterController\n/)
    assert.match(errorDocs(), /\| 87 \| `INVALID_RECORD` \|/)
  })
})
