/**
 * Members that join, sync, beat, leave and fall silent in any order, under a log that holds back, refuses and fails, and a coordinator
 * that is loaded again in between. Whatever happens: a partition has one owner in a generation, the log tells the same as memory,
 * everybody is answered, and once there is calm the group is whole.
 */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { settled } from '../testing.js'
import { type Step, World } from './simulated-members.test.support.js'

const CLIENTS = 4

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constantFrom('join', 'join', 'sync', 'sync', 'heartbeat', 'leave', 'forget', 'commit' as const),
      who: fc.nat(CLIENTS - 1),
    }) as fc.Arbitrary<Step>,
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('tick' as const), ms: fc.constantFrom(1, 100, 1000, 3000, 5000, 7000) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('log' as const),
      what: fc.constantFrom(
        'hold',
        'commit',
        'commit',
        'NOT_ENOUGH_REPLICAS',
        'MESSAGE_TOO_LARGE',
        'KAFKA_STORAGE_ERROR' as const,
      ),
    }) as fc.Arbitrary<Step>,
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'reload' as const }) },
)

const byName = <T extends { readonly memberId: string }>(members: readonly T[]): T[] =>
  [...members].sort((a, b) => a.memberId.localeCompare(b.memberId))

describe('any interleaving of members', () => {
  it('keeps one owner for each partition, loses nothing that the log has, answers everybody, and ends whole', async function () {
    this.timeout(600_000)
    const seed = process.env.SEED === undefined ? undefined : Number(process.env.SEED)
    const property = fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 120 }), async (steps) => {
      const world = new World(CLIENTS, 5)
      await world.begin()
      for (const action of steps) {
        await world.play(action)
        const live = world.groups.describe('g')
        assert.ok(world.time.timerCount < 200, 'timers pile up')
        if (live.groupState !== 'Stable' && live.groupState !== 'Empty') continue
        const { group } = await world.fromLog()
        // A group that never had members was never written.
        if (live.protocolType !== '')
          assert.deepEqual({ ...group, members: byName(group.members) }, { ...live, members: byName(live.members) })
      }
      await world.calm(60)
      world.assertWhole()
      const { offsets } = await world.fromLog()
      assert.deepEqual(offsets, world.groups.fetchOffsets({ groupId: 'g', topics: null, requireStable: true }))
      world.groups.close()
      await settled()
      assert.equal(world.time.timerCount, 0)
      for (const { open, calls } of world.clients) assert.equal(open, 0, `${open} of ${calls} requests were never answered`)
    })
    await fc.assert(property, { numRuns: Number(process.env.RUNS ?? 200), ...(seed === undefined ? {} : { seed }) })
  })
})
