import assert from 'node:assert/strict'
import { answerMessage } from './answer-message.js'

describe('A message of an answer', () => {
  it('is left alone up to 1,000 characters', () => {
    assert.equal(answerMessage(null), null)
    assert.equal(answerMessage('x'.repeat(1000)), 'x'.repeat(1000))
  })

  it('is cut beyond that, and once only', () => {
    const cut = answerMessage('x'.repeat(1001))
    assert.equal(cut, `${'x'.repeat(999)}…`)
    assert.equal(answerMessage(cut), cut)
  })

  it('keeps no half of a character', () => {
    assert.equal(answerMessage(`${'x'.repeat(998)}😀 and more`), `${'x'.repeat(998)}…`)
  })
})
