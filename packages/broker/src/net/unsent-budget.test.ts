// Answers that nobody reads are bounded over all connections: who waits, who is closed, who goes on.
import assert from 'node:assert/strict'
import { ManualTime } from '../manual-time.js'
import { type Reader, UnsentBudget } from './unsent-budget.js'

describe('The budget of unsent answers', () => {
  let time: ManualTime
  let budget: UnsentBudget
  let story: string[]
  beforeEach(() => {
    time = new ManualTime()
    story = []
    budget = new UnsentBudget({ limitBytes: 100, patienceMs: 10_000, clock: time, timers: time })
  })
  const reader = (name: string, unsentBytes: number): Reader => {
    const self: Reader = {
      unsentBytes,
      goOn: () => story.push(`${name} goes on`),
      close(reason) {
        story.push(`${name} is closed: ${reason.split(',')[0]}`)
        budget.gone(self)
      },
    }
    return self
  }

  it('lets everybody begin while there is room', () => {
    budget.stalled(reader('a', 99))
    assert.equal(budget.mayBegin(reader('b', 0)), true)
    assert.equal(time.pendingTimers, 0)
  })

  it('holds back when it is spent, and goes on when a client has read', () => {
    const slow = reader('slow', 60)
    budget.stalled(slow)
    budget.stalled(reader('other', 50))
    const [first, second] = [reader('first', 0), reader('second', 0)]
    assert.deepEqual([budget.mayBegin(first), budget.mayBegin(second)], [false, false])
    budget.flowing(slow)
    assert.deepEqual(story, ['first goes on', 'second goes on'])
    assert.equal(budget.totalBytes, 50)
    assert.equal(time.pendingTimers, 0)
  })

  it('closes those that have been stuck longest, and no more than needed', async () => {
    budget.stalled(reader('old', 70))
    await time.advance(4000)
    budget.stalled(reader('young', 70))
    assert.equal(budget.mayBegin(reader('waiting', 0)), false)
    await time.advance(5999)
    assert.deepEqual(story, [])
    await time.advance(1)
    assert.deepEqual(story, ['old is closed: it does not read its answers', 'waiting goes on'])
    assert.deepEqual([budget.totalBytes, time.pendingTimers], [70, 0])
  })

  it('waits on for the next one when closing one was not enough', async () => {
    budget.stalled(reader('old', 50))
    await time.advance(4000)
    budget.stalled(reader('young', 150))
    assert.equal(budget.mayBegin(reader('waiting', 0)), false)
    await time.advance(6000)
    assert.deepEqual(story, ['old is closed: it does not read its answers'])
    await time.advance(4000)
    assert.deepEqual(story.slice(1), ['young is closed: it does not read its answers', 'waiting goes on'])
  })

  it('holds back again when the first one that goes on fills it up', () => {
    const slow = reader('slow', 150)
    budget.stalled(slow)
    const greedy: Reader = { ...reader('greedy', 200), goOn: () => budget.stalled(greedy) }
    budget.mayBegin(greedy)
    budget.mayBegin(reader('patient', 0))
    budget.flowing(slow)
    assert.deepEqual(story, [])
    budget.flowing(greedy)
    assert.deepEqual(story, ['patient goes on'])
  })

  it('forgets a client that is gone, and has no timer left', () => {
    const slow = reader('slow', 150)
    budget.stalled(slow)
    const waiting = reader('waiting', 0)
    budget.mayBegin(waiting)
    budget.gone(waiting)
    budget.gone(slow)
    assert.deepEqual([story, budget.totalBytes, time.pendingTimers], [[], 0, 0])
    budget.stalled(slow)
    budget.mayBegin(waiting)
    budget.close()
    assert.equal(time.pendingTimers, 0)
  })
})
