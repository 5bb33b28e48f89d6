// The error table: whole, unambiguous, and with the codes that the protocol is known for.

import assert from 'node:assert/strict'
import { ERRORS, type ErrorName, errorByCode, errorCode, isRetriable } from './errors.js'

describe('the error table', () => {
  const names = Object.keys(ERRORS) as ErrorName[]

  it('has every code from -1 to 136 once', () => {
    assert.deepEqual(
      names.map(errorCode),
      Array.from({ length: 138 }, (_, index) => index - 1),
    )
  })

  it('leads from a name to its code and back', () => {
    for (const name of names) assert.equal(errorByCode(errorCode(name)), name)
  })

  it('takes a code it does not know for UNKNOWN_SERVER_ERROR', () => {
    for (const code of [137, 32767, -2, -32768]) assert.equal(errorByCode(code), 'UNKNOWN_SERVER_ERROR')
  })

  it('says what each but NONE means', () => {
    for (const name of names) assert.equal(ERRORS[name].meaning === '', name === 'NONE', name)
  })

  it('marks as retriable what fresh metadata or a moment can mend', () => {
    for (const name of ['NOT_LEADER_OR_FOLLOWER', 'COORDINATOR_NOT_AVAILABLE', 'CORRUPT_MESSAGE', 'UNKNOWN_TOPIC_ID'] as const)
      assert.equal(isRetriable(name), true, name)
    for (const name of [
      'NONE',
      'UNKNOWN_SERVER_ERROR',
      'REBALANCE_IN_PROGRESS',
      'MESSAGE_TOO_LARGE',
      'INVALID_TXN_STATE',
    ] as const)
      assert.equal(isRetriable(name), false, name)
  })
})
