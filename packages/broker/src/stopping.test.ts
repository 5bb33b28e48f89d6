import assert from 'node:assert/strict'
import { ManualTime } from './manual-time.js'
import { onSignal } from './stopping.js'

describe('Signals', () => {
  const set = (isRunning = true) => {
    const time = new ManualTime()
    const ends: [number, string][] = []
    let closes = 0
    const broker = {
      close: () => {
        closes++
        return new Promise<void>(() => {})
      },
    }
    const receive = onSignal({
      broker: () => (isRunning ? broker : undefined),
      timers: time,
      end: (code, line) => ends.push([code, line]),
    })
    return { time, ends, receive, closes: () => closes }
  }

  it('stop a broker in order, and end the process when that takes more than 10 s', async () => {
    const { time, ends, receive, closes } = set()
    receive('SIGTERM')
    assert.equal(closes(), 1)
    await time.advance(9999)
    assert.deepEqual(ends, [])
    await time.advance(1)
    assert.deepEqual(ends, [[1, 'mq-broker: not stopped after 10 s, ended\n']])
  })

  it('end the process at once the second time', () => {
    const { ends, receive, closes } = set()
    receive('SIGTERM')
    receive('SIGINT')
    assert.deepEqual([closes(), ends], [1, [[1, 'mq-broker: a second signal: stopped at once\n']]])
  })

  it('end the process at once while it starts', () => {
    const { ends, receive } = set(false)
    receive('SIGINT')
    assert.deepEqual(ends, [[1, 'mq-broker: SIGINT while it started\n']])
  })
})
