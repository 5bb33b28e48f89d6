import assert from 'node:assert/strict'
import { PartitionHistory } from './history.js'
import { Violations } from './violations.js'

/** Values `producer-number`, each sent on a connection; what the checker says of a log that holds them in this order. */
function saidOf(log: readonly { number: number; connection: number }[], { once }: { once: boolean }): string[] {
  const violations = new Violations(() => {})
  const history = new PartitionHistory('t-0', 'page cache', violations)
  for (const { number, connection } of log) {
    history.sends(`p-${number}`, { producer: 'p', number, once })
    history.sentOn(`p-${number}`, connection)
  }
  history.holds(
    log.map(({ number }, offset) => ({ offset, value: `p-${number}` })),
    log.length,
  )
  return violations.found
}

describe('the order of what a producer wrote', () => {
  it('is kept on one connection', () => {
    const swapped = [
      { number: 2, connection: 1 },
      { number: 1, connection: 1 },
    ]
    assert.deepEqual(saidOf(swapped, { once: false }), ['out of order: t-0 p-1 at 1 after p-2'])
    assert.deepEqual(saidOf(swapped.toReversed(), { once: false }), [])
  })

  it('is not promised between the connection that was lost and the next one, but to an idempotent producer', () => {
    const late = [
      { number: 2, connection: 2 },
      { number: 1, connection: 1 },
    ]
    assert.deepEqual(saidOf(late, { once: false }), [])
    assert.deepEqual(saidOf(late, { once: true }), ['out of order: t-0 p-1 at 1 after p-2'])
  })

  it('is kept on each connection when values of two of them are mixed', () => {
    const mixed = [
      { number: 3, connection: 2 },
      { number: 2, connection: 1 },
      { number: 1, connection: 1 },
    ]
    assert.deepEqual(saidOf(mixed, { once: false }), ['out of order: t-0 p-1 at 2 after p-2'])
  })
})
