/** A mailbox: at once when idle, else in order, and never without a limit. */
import assert from 'node:assert/strict'
import { Mailbox } from './mailbox.js'

describe('a mailbox', () => {
  it('runs a turn at once when nothing runs, without a promise', () => {
    const mailbox = new Mailbox(10)
    assert.equal(
      mailbox.run(() => 7),
      7,
    )
    assert.ok(mailbox.isIdle)
  })

  it('keeps the order and lets turns never overlap', async () => {
    const mailbox = new Mailbox(10)
    const told: string[] = []
    let release = () => {}
    const first = mailbox.run(async () => {
      told.push('first begins')
      await new Promise<void>((resolve) => {
        release = resolve
      })
      told.push('first ends')
    })
    const second = mailbox.run(() => {
      told.push('second')
      return 2
    })
    const third = mailbox.run(async () => {
      told.push('third')
    })
    assert.deepEqual(told, ['first begins'])
    release()
    await Promise.all([first, second, third])
    assert.deepEqual(told, ['first begins', 'first ends', 'second', 'third'])
    assert.equal(await second, 2)
    assert.ok(mailbox.isIdle)
  })

  it('goes on after a turn that failed', async () => {
    const mailbox = new Mailbox(10)
    assert.throws(() =>
      mailbox.run(() => {
        throw new Error('at once')
      }),
    )
    const failing = mailbox.run(async () => {
      throw new Error('later')
    })
    const next = mailbox.run(() => 'next')
    await assert.rejects(failing as Promise<never>, /later/)
    assert.equal(await next, 'next')
  })

  it('says that it is full', async () => {
    const mailbox = new Mailbox(1)
    let release = () => {}
    const first = mailbox.run(
      () =>
        new Promise<void>((resolve) => {
          release = resolve
        }),
    )
    const second = mailbox.run(() => 2)
    assert.equal(
      mailbox.run(() => 3),
      'full',
    )
    release()
    await first
    assert.equal(await second, 2)
  })

  it('runs as many turns as it holds behind a slow one', async function () {
    this.timeout(20_000)
    const mailbox = new Mailbox(6000)
    let release = () => {}
    void mailbox.run(
      () =>
        new Promise<void>((resolve) => {
          release = resolve
        }),
    )
    const turns = Array.from({ length: 6000 }, (_, i) => mailbox.run(() => i))
    release()
    const results = await Promise.all(turns)
    assert.deepEqual([results.length, results[5999]], [6000, 5999])
    assert.ok(mailbox.isIdle)
  })
})
