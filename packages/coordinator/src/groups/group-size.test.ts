/** What a decision costs in a group of many, counted in entries of maps and sets that it touches. */
import assert from 'node:assert/strict'
import { valuesOf } from '@mq/protocol'
import { COORDINATOR_CONFIG } from '../config.js'
import type { JoinCommand, JoinReply, ShardCommand } from './commands.js'
import { groupRules } from './rules.js'
import { emptyState, remember } from './state.js'

const config = valuesOf(COORDINATOR_CONFIG)
const SOME = 50

/** Entries put into maps and sets, and steps of walks through them, while `work` runs. */
function entriesTouched(work: () => void): number {
  let count = 0
  const steps = (iterator: object) => Object.getPrototypeOf(iterator)
  const counted: [prototype: Record<string, unknown>, method: string][] = [
    [Map.prototype as never, 'set'],
    [Set.prototype as never, 'add'],
    [steps(new Map().values()), 'next'],
    [steps(new Set().values()), 'next'],
  ]
  const real = counted.map(([prototype, method]) => prototype[method] as (...args: unknown[]) => unknown)
  counted.forEach(([prototype, method], at) => {
    prototype[method] = function (...args: unknown[]) {
      count++
      return real[at]!.apply(this, args)
    }
  })
  try {
    work()
  } finally {
    counted.forEach(([prototype, method], at) => {
      prototype[method] = real[at]
    })
  }
  return count
}

class World {
  readonly state = emptyState()
  readonly #rules = groupRules({ config, offsetsExpireNotBefore: () => 0 })
  #request = 0

  tell(command: ShardCommand): unknown {
    const request = ++this.#request
    const { changes = [], replies = [] } = this.#rules.decide(this.state, command, { now: 1, request })
    for (const change of changes) remember(this.state, change)
    return replies.find(([to]) => to === request)?.[1]
  }

  /** A newcomer's first JoinGroup: the id that it was given, or null if it is parked. */
  join(requiresKnownMemberId: boolean): string | null {
    const join: JoinCommand = {
      kind: 'join',
      groupId: 'g',
      memberId: '',
      groupInstanceId: null,
      clientId: 'c',
      clientHost: '/127.0.0.1',
      sessionTimeoutMs: 10_000,
      rebalanceTimeoutMs: 10_000,
      protocolType: 'consumer',
      protocols: [{ name: 'range', metadata: Buffer.alloc(0) }],
      reason: null,
      requiresKnownMemberId,
      supportsSkippingAssignment: true,
      uniquePart: String(this.#request),
    }
    return (this.tell(join) as JoinReply | undefined)?.memberId ?? null
  }
}

/** What it costs to do `one` some times in a group in which it was done `before` times. */
function cost(before: number, one: (world: World) => void): number {
  const world = new World()
  for (let at = 0; at < before; at++) one(world)
  return entriesTouched(() => {
    for (let at = 0; at < SOME; at++) one(world)
  })
}

describe('a decision in a large group', () => {
  const cases: Record<string, (world: World) => void> = {
    'to give out an id': (world) => void world.join(true),
    'to take in a member': (world) => void world.join(false),
    'to let an id go': (world) => {
      const memberId = world.join(true)!
      world.join(true)
      world.tell({ kind: 'leave', groupId: 'g', members: [{ memberId, groupInstanceId: null, reason: null }] })
    },
  }
  for (const [what, one] of Object.entries(cases)) {
    it(`${what} costs as much as in a small one`, () => {
      const small = cost(10, one)
      assert.ok(small > 0)
      const large = cost(2000, one)
      assert.ok(large <= small, `${large} entries after 2000, ${small} after 10`)
    })
  }

  it('to sync costs as much as in a small one', () => {
    const syncs = (size: number) => {
      const world = new World()
      for (let at = 0; at < size; at++) world.join(false)
      const group = () => world.state.groups.get('g')!
      while (group().state !== 'CompletingRebalance') world.tell({ kind: 'joinDeadline', groupId: 'g' })
      const { generation, leader } = group()
      const followers = [...group().members()].filter(({ memberId }) => memberId !== leader)
      const sync = ({ memberId }: { readonly memberId: string }) => {
        const speaker = { groupId: 'g', memberId, groupInstanceId: null, generationId: generation }
        world.tell({ kind: 'sync', ...speaker, protocolType: null, protocolName: null, assignments: [] })
      }
      // The first decision after a round takes over what the round changed, of everybody.
      sync(followers[0]!)
      return entriesTouched(() => followers.slice(-SOME).forEach(sync))
    }
    const small = syncs(2 * SOME)
    assert.ok(small > 0)
    assert.ok(syncs(2000) <= small)
  })
})
