import assert from 'node:assert/strict'
import { Mailbox } from './mailbox.js'

describe('mailbox of a shard', () => {
  it('runs at once when it is idle, and in order while a turn waits', async () => {
    const mailbox = new Mailbox(10)
    const told: string[] = []
    let finish = () => {}
    mailbox.add(() => void told.push('a'))
    assert.deepEqual(told, ['a'])
    mailbox.add(
      () =>
        new Promise<void>((resolve) => {
          finish = resolve
        }),
    )
    mailbox.add(() => void told.push('b'))
    mailbox.add(() => void told.push('c'))
    assert.deepEqual(told, ['a'])
    assert.equal(mailbox.waiting, 2)
    finish()
    await Promise.resolve()
    await Promise.resolve()
    assert.deepEqual(told, ['a', 'b', 'c'])
    assert.equal(mailbox.waiting, 0)
  })

  it('refuses what exceeds its limit, and goes on after clear', async () => {
    const mailbox = new Mailbox(1)
    let finish = () => {}
    mailbox.add(
      () =>
        new Promise<void>((resolve) => {
          finish = resolve
        }),
    )
    const told: string[] = []
    assert.equal(
      mailbox.add(() => void told.push('a')),
      true,
    )
    assert.equal(
      mailbox.add(() => void told.push('b')),
      false,
    )
    mailbox.clear()
    assert.equal(
      mailbox.add(() => void told.push('c')),
      true,
    )
    finish()
    await Promise.resolve()
    await Promise.resolve()
    assert.deepEqual(told, ['c'])
  })

  it('takes what a turn adds, after thousands of turns too', () => {
    const mailbox = new Mailbox(10)
    let count = 0
    const again = () => {
      if (++count < 5000) mailbox.add(again)
    }
    mailbox.add(again)
    assert.equal(count, 5000)
  })
})
