import assert from 'node:assert/strict'
import fc from 'fast-check'
import { DraftMap, DraftSet } from './draft-map.js'

const change = fc.record({ what: fc.constantFrom('set', 'delete', 'clear'), key: fc.nat(6), value: fc.nat(3) })
const draft = fc.record({ changes: fc.array(change, { maxLength: 8 }), holds: fc.boolean() })

describe('a map that decisions change', () => {
  it('says what a copied map would say, whether a draft holds or not', () => {
    fc.assert(
      fc.property(fc.array(draft, { maxLength: 12 }), (drafts) => {
        let map = new DraftMap<number, number>()
        let twin = new Map<number, number>()
        for (const { changes, holds } of drafts) {
          const fork = map.fork()
          const copy = new Map(twin)
          for (const { what, key, value } of changes) {
            if (what === 'set') {
              fork.set(key, value)
              copy.set(key, value)
            } else if (what === 'delete') assert.equal(fork.delete(key), copy.delete(key))
            else if (value === 0) {
              fork.clear()
              copy.clear()
            }
            assert.deepEqual([...fork], [...copy])
            assert.deepEqual([...map], [...twin])
          }
          if (holds) {
            map = fork
            twin = copy
          }
          assert.equal(map.size, twin.size)
          for (let key = 0; key <= 6; key++) {
            assert.equal(map.get(key), twin.get(key))
            assert.equal(map.has(key), twin.has(key))
          }
        }
      }),
    )
  })
})

describe('a set that decisions change', () => {
  it('is not touched by a draft of it', () => {
    const set = new DraftSet<string>()
    set.add('a')
    set.add('b')
    const fork = set.fork()
    fork.add('c')
    assert.equal(fork.delete('a'), true)
    assert.equal(fork.delete('a'), false)
    assert.deepEqual(
      [[...set], [...fork]],
      [
        ['a', 'b'],
        ['b', 'c'],
      ],
    )
    assert.deepEqual([set.size, fork.size, set.has('a'), fork.has('a')], [2, 2, true, false])
    fork.clear()
    assert.deepEqual([set.size, fork.size], [2, 0])
  })
})
