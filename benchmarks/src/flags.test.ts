import assert from 'node:assert/strict'
import { type Flag, readFlags } from './flags.js'

const TABLE = {
  quick: { kind: 'switch' },
  only: { kind: 'choice', names: ['produce', 'fetch'] },
  rounds: { kind: 'number' },
  dir: { kind: 'text' },
} as const satisfies Record<string, Flag>

describe('The flags of a benchmark', () => {
  it('have their values, or say that they were not given', () => {
    const none = readFlags(TABLE, [])
    assert.deepEqual(none, { quick: false, only: new Set(['produce', 'fetch']), rounds: undefined, dir: undefined })
    const given = readFlags(TABLE, ['--only', 'fetch', '--quick', '--rounds', '3', '--dir', 'x'])
    assert.deepEqual(given, { quick: true, only: new Set(['fetch']), rounds: 3, dir: 'x' })
  })

  for (const [args, problem] of [
    [['--help'], /--help/],
    [['--only', 'produce,start'], /--only start: there are produce, fetch/],
    [['--rounds', 'many'], /--rounds many: not a number above 0/],
    [['fetch'], /fetch/],
  ] as const)
    it(`that are wrong are named: ${args.join(' ')}`, () => {
      assert.throws(() => readFlags(TABLE, args), problem)
    })
})
