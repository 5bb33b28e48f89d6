import assert from 'node:assert/strict'
import { InvariantError } from '@mq/protocol'
import fc from 'fast-check'
import { CAN_BECOME, Group, type GroupState, type Member, NO_ASSIGNMENT } from './group.js'
import { areSame, selectProtocol, subscribedTopics, supports } from './protocols.js'

function member(memberId: string, protocols: readonly string[], change: Partial<Member> = {}): Member {
  return {
    memberId,
    groupInstanceId: null,
    clientId: 'c',
    clientHost: '/127.0.0.1',
    rebalanceTimeoutMs: 1000,
    sessionTimeoutMs: 1000,
    protocols: protocols.map((name) => ({ name, metadata: Buffer.from(name) })),
    assignment: NO_ASSIGNMENT,
    joining: null,
    syncing: null,
    isNew: false,
    ...change,
  }
}

const named = (...names: readonly string[]) => names.map((name) => ({ name, metadata: Buffer.from(name) }))

describe('a group', () => {
  it('makes the legal moves and no others', () => {
    const states = Object.keys(CAN_BECOME) as GroupState[]
    for (const from of states) {
      for (const to of states) {
        const group = new Group('g', 0)
        group.state = from
        if ((CAN_BECOME[from] as readonly string[]).includes(to)) {
          group.become(to, 5)
          assert.deepEqual([group.state, group.stateSince], [to, 5])
        } else assert.throws(() => group.become(to, 5), InvariantError, `${from} to ${to}`)
      }
    }
  })

  it('always has a leader among its members, and knows its static members by their instances', () => {
    const action = fc.record({ what: fc.constantFrom('add', 'remove', 'rename'), id: fc.nat(5), isStatic: fc.boolean() })
    fc.assert(
      fc.property(fc.array(action, { maxLength: 40 }), (actions) => {
        const group = new Group('g', 0)
        let renamed = 0
        for (const { what, id, isStatic } of actions) {
          const instance = `i${id}`
          const current = group.staticMember(instance)
          if (what === 'add' && !group.has(`m${id}`) && !(isStatic && current)) {
            group.add(member(`m${id}`, ['range'], isStatic ? { groupInstanceId: instance } : {}), 'consumer')
          } else if (what === 'remove') group.remove(current ?? `m${id}`)
          else if (what === 'rename' && current !== undefined) group.rename(current, `r${renamed++}`)
          const members = [...group.members()]
          assert.equal(group.leader === null, members.length === 0)
          if (group.leader !== null) assert.ok(group.has(group.leader))
          for (const one of members) {
            if (one.groupInstanceId !== null) assert.equal(group.staticMember(one.groupInstanceId), one.memberId)
          }
          const statics = members.filter(({ groupInstanceId }) => groupInstanceId !== null)
          const known = Array.from({ length: 6 }, (_, i) => group.staticMember(`i${i}`)).filter((one) => one !== undefined)
          assert.equal(known.length, statics.length)
        }
      }),
    )
  })

  it('is not touched by what happens to its draft', () => {
    const group = new Group('g', 0)
    group.add(member('a', ['range']), 'consumer')
    group.expect('b')
    const draft = group.draft()
    draft.update('a', { joining: 7 })
    draft.remove('b')
    draft.add(member('c', ['range']), 'consumer')
    draft.expectSync('a')
    assert.deepEqual(
      [...group.members()].map(({ memberId, joining }) => [memberId, joining]),
      [['a', null]],
    )
    assert.deepEqual([...group.pending], ['b'])
    assert.equal(group.pendingSync.size, 0)
  })

  it('counts who is joining and who knows a protocol, in drafts that hold and in drafts that do not', () => {
    const names = fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { minLength: 1 })
    const what = fc.constantFrom('come', 'change', 'wait', 'go', 'rename')
    const action = fc.record({ what, id: fc.nat(5), names, holds: fc.boolean() })
    fc.assert(
      fc.property(fc.array(action, { maxLength: 40 }), (actions) => {
        let group = new Group('g', 0)
        let renamed = 0
        for (const { what, id, names, holds } of actions) {
          const draft = group.draft()
          const memberId = draft.staticMember(`i${id}`) ?? `m${id}`
          if (what === 'come') {
            if (!draft.has(memberId)) draft.add(member(memberId, names, { groupInstanceId: `i${id}`, joining: 1 }), 'consumer')
          } else if (what === 'go') draft.remove(memberId)
          else if (draft.has(memberId)) {
            if (what === 'change') draft.update(memberId, { protocols: named(...names) })
            else if (what === 'wait') draft.update(memberId, { joining: draft.get(memberId).joining === null ? 1 : null })
            else draft.rename(memberId, `r${renamed++}`)
          }
          if (holds) group = draft
          const members = [...group.members()]
          assert.equal(group.size, members.length)
          assert.equal(group.joiningCount, members.filter(({ joining }) => joining !== null).length)
          for (const name of ['a', 'b', 'c']) {
            const isKnown = members.every(({ protocols }) => protocols.some((protocol) => protocol.name === name))
            assert.equal(group.isKnownToAll(name), isKnown)
          }
        }
      }),
    )
  })
})

describe('the protocol of a group', () => {
  it('is one that all members know, and the favourite of most', () => {
    const names: fc.Arbitrary<string[]> = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1 })
    fc.assert(
      fc.property(fc.array(names, { minLength: 1, maxLength: 6 }), (lists) => {
        const group = new Group('g', 0)
        lists.forEach((list, i) => {
          group.add(member(`m${i}`, list), 'consumer')
        })
        const common = ['a', 'b', 'c', 'd'].filter((name) => lists.every((list) => list.includes(name)))
        const chosen = selectProtocol(group)
        if (common.length === 0) return assert.equal(chosen, null)
        const votes = (name: string) => lists.filter((list) => list.find((one) => common.includes(one)) === name).length
        assert.ok(chosen !== null && common.includes(chosen))
        assert.equal(votes(chosen!), Math.max(...common.map(votes)))
        group.state = 'Stable'
        group.protocolType = 'consumer'
        for (const name of ['a', 'b', 'c', 'd']) assert.equal(supports(group, 'consumer', named(name)), common.includes(name))
        assert.equal(supports(group, 'connect', named(common[0]!)), false)
      }),
    )
  })

  it('of an empty group may be any, but not none', () => {
    const group = new Group('g', 0)
    assert.equal(supports(group, 'anything', named('x')), true)
    assert.equal(supports(group, '', named('x')), false)
    assert.equal(supports(group, 'anything', []), false)
  })

  it('says what its members subscribe to, if it is one of consumers and can be read', () => {
    const group = new Group('g', 0)
    const subscription = (...bytes: number[]) => [{ name: 'range', metadata: Buffer.from(bytes) }]
    group.add(
      member('a', [], { protocols: subscription(0, 3, 0, 0, 0, 1, 0, 1, 0x74, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0) }),
      'consumer',
    )
    group.protocolName = 'range'
    assert.deepEqual(subscribedTopics(group), new Set(['t']))
    group.add(member('b', [], { protocols: subscription(0, 0, 0, 0, 0, 1, 0, 1, 0x75, 0xff, 0xff, 0xff, 0xff) }), 'consumer')
    assert.deepEqual(subscribedTopics(group), new Set(['t', 'u']))
    group.add(member('c', [], { protocols: subscription(0, 0, 0x7f, 0xff, 0xff, 0xff) }), 'consumer')
    assert.equal(subscribedTopics(group), null)
    group.remove('c')
    group.protocolType = 'connect'
    assert.equal(subscribedTopics(group), null)
  })

  it('is compared in order and byte by byte', () => {
    assert.equal(areSame(named('a', 'b'), named('a', 'b')), true)
    assert.equal(areSame(named('a', 'b'), named('b', 'a')), false)
    assert.equal(areSame(named('a'), named('a', 'b')), false)
    assert.equal(areSame(named('a'), [{ name: 'a', metadata: Buffer.from('other') }]), false)
  })
})
