import assert from 'node:assert/strict'
import { type JoinCommand, newMemberId } from './commands.js'

const join = (names: { clientId: string; groupInstanceId: string | null }): JoinCommand =>
  ({ ...names, uniquePart: '0f8fad5b-d9cb-469f-a165-70867728950e' }) as JoinCommand

describe('the id of a new member', () => {
  it('begins with the instance id, or else with the client id', () => {
    assert.equal(newMemberId(join({ clientId: 'c', groupInstanceId: null })), 'c-0f8fad5b-d9cb-469f-a165-70867728950e')
    assert.equal(newMemberId(join({ clientId: 'c', groupInstanceId: 'i' })), 'i-0f8fad5b-d9cb-469f-a165-70867728950e')
  })

  it('fits a string of the protocol, however long the name is', () => {
    for (const name of ['x'.repeat(32_767), '€'.repeat(10_922), '🦊'.repeat(8_191)]) {
      const id = newMemberId(join({ clientId: name, groupInstanceId: null }))
      assert.ok(Buffer.byteLength(id) <= 32_767, `${Buffer.byteLength(id)}`)
      assert.ok(id.endsWith('-0f8fad5b-d9cb-469f-a165-70867728950e'))
    }
  })
})
