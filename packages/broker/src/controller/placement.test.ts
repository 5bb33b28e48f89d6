import assert from 'node:assert/strict'
import fc from 'fast-check'
import { vectors } from '../../../../conformance/index.js'
import { ZNODES } from '../metadata/znodes.js'
import { type PlaceableBroker, placeReplicas } from './placement.js'

const plain = (count: number): PlaceableBroker[] => Array.from({ length: count }, (_, id) => ({ id, rack: null }))

const racked = (racks: Record<number, string>): PlaceableBroker[] =>
  Object.entries(racks).map(([id, rack]) => ({ id: Number(id), rack }))

function place(
  brokers: readonly PlaceableBroker[],
  partitionCount: number,
  replicationFactor: number,
  start = 0,
  shift = 0,
  firstPartition = 0,
) {
  const placement = placeReplicas({ brokers, partitionCount, replicationFactor, firstPartition, start, shift })
  assert.ok(placement.kind === 'placed', placement.kind === 'refused' ? placement.message : '')
  return placement.replicas
}

describe('placement of replicas', () => {
  it('goes round the brokers, with a shift that grows with each round', () => {
    assert.deepEqual(place(plain(5), 10, 3), [
      ...[
        [0, 1, 2],
        [1, 2, 3],
        [2, 3, 4],
        [3, 4, 0],
        [4, 0, 1],
      ], // first round
      ...[
        [0, 2, 3],
        [1, 3, 4],
        [2, 4, 0],
        [3, 0, 1],
        [4, 1, 2],
      ],
    ])
  })

  it('alternates racks, and reaches each rack before one a second time', () => {
    const brokers = racked({ 0: 'rack1', 1: 'rack3', 2: 'rack3', 3: 'rack2', 4: 'rack2', 5: 'rack1' })
    assert.deepEqual(place(brokers, 7, 3), [
      [0, 3, 1],
      [3, 1, 5],
      [1, 5, 4],
      [5, 4, 2],
      [4, 2, 0],
      [2, 0, 3],
      [0, 4, 2],
    ])
  })

  it('reproduces what a real cluster of three racks chose, for some start and shift', () => {
    const nodes = vectors.json<{ path: string; data: string | null }[]>('znodes/three-brokers-ibp-2.6.json')
    const brokers = racked({ 1: 'r1', 2: 'r2', 3: 'r3' })
    let checked = 0
    for (const { path, data } of nodes) {
      if (!/^\/brokers\/topics\/[^/]+$/.test(path) || data === null) continue
      const chosen = [...ZNODES.topic.decode(Buffer.from(data), path).partitions.values()].map((replicas) => [...replicas])
      const tries = [0, 1, 2].flatMap((start) =>
        [0, 1, 2].map((shift) => place(brokers, chosen.length, chosen[0]!.length, start, shift)),
      )
      assert.ok(
        tries.some((replicas) => JSON.stringify(replicas) === JSON.stringify(chosen)),
        `${path} ${JSON.stringify(chosen)}`,
      )
      checked++
    }
    assert.ok(checked >= 4)
  })

  it('goes on with the round when a topic grows', () => {
    const firsts = place(plain(4), 6, 2, 1, 1, 4).map(([first]) => first)
    assert.deepEqual(firsts, [1, 2, 3, 0, 1, 2])
  })

  it("refuses what cannot be placed, in Kafka's words", () => {
    const refuse = (brokers: readonly PlaceableBroker[], partitionCount: number, replicationFactor: number) => {
      const placement = placeReplicas({ brokers, partitionCount, replicationFactor, firstPartition: 0, start: 0, shift: 0 })
      return placement.kind === 'refused' ? `${placement.error} ${placement.message}` : 'placed'
    }
    assert.equal(refuse(plain(1), 0, 1), 'INVALID_PARTITIONS Number of partitions must be larger than 0.')
    assert.equal(refuse(plain(1), 1, 0), 'INVALID_REPLICATION_FACTOR Replication factor must be larger than 0.')
    assert.equal(refuse(plain(1), 1, 3), 'INVALID_REPLICATION_FACTOR Replication factor: 3 larger than available brokers: 1.')
    assert.equal(refuse([...plain(1), { id: 7, rack: 'r' }], 1, 1).split(' ')[0], 'UNKNOWN_SERVER_ERROR')
  })

  it('spreads evenly: no two replicas of a partition on one broker, first replicas within one of each other', () => {
    const shape = fc.record({
      racks: fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 12 }),
      withRacks: fc.boolean(),
      partitions: fc.integer({ min: 1, max: 40 }),
      factor: fc.integer({ min: 1, max: 12 }),
      start: fc.nat(11),
      shift: fc.nat(11),
    })
    fc.assert(
      fc.property(shape, ({ racks, withRacks, partitions, factor, start, shift }) => {
        const brokers = racks.map((rack, id) => ({ id, rack: withRacks ? `r${rack}` : null }))
        const wanted = Math.min(factor, brokers.length)
        const replicas = place(brokers, partitions, wanted, start % brokers.length, shift % brokers.length)
        const leads = new Map<number, number>(brokers.map(({ id }) => [id, 0]))
        for (const each of replicas) {
          assert.equal(new Set(each).size, wanted)
          const reached = new Set(each.map((id) => brokers[id]!.rack)).size
          if (withRacks) assert.equal(reached, Math.min(wanted, new Set(racks).size))
          leads.set(each[0]!, leads.get(each[0]!)! + 1)
        }
        assert.ok(Math.max(...leads.values()) - Math.min(...leads.values()) <= 1)
      }),
    )
  })
})
