import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { ProducerBatch } from './producer-entry.js'
import { readProducerSnapshot, writeProducerSnapshot } from './producer-snapshot.js'
import { ProducerStates } from './producer-state.js'
import { propertyOptions } from './property-options.test.support.js'

const NEVER = 2 ** 60

interface Given {
  readonly producerId?: number
  readonly producerEpoch?: number
  readonly baseSequence?: number
  readonly count?: number
  readonly baseOffset?: number
  readonly transactional?: boolean
  readonly timestamp?: number
  readonly marker?: { readonly commit: boolean; readonly coordinatorEpoch?: number }
}

const LARGEST_SEQUENCE = 0x7fffffff

function wrap(sequence: number): number {
  return sequence > LARGEST_SEQUENCE ? sequence - LARGEST_SEQUENCE - 1 : sequence
}

function given({
  producerId = 1,
  producerEpoch = 0,
  baseSequence = 0,
  count = 1,
  baseOffset = 0,
  transactional = false,
  timestamp = 5,
  marker,
}: Given): ProducerBatch {
  return {
    producerId,
    producerEpoch,
    baseSequence: marker ? -1 : baseSequence,
    lastSequence: marker ? -1 : wrap(baseSequence + count - 1),
    baseOffset,
    lastOffset: baseOffset + count - 1,
    maxTimestamp: timestamp,
    isTransactional: transactional || marker !== undefined,
    isControl: marker !== undefined,
    marker: marker === undefined ? null : { commit: marker.commit, coordinatorEpoch: marker.coordinatorEpoch ?? 0, timestamp },
  }
}

const verdict = (
  states: ProducerStates,
  batch: ProducerBatch,
  origin: 'client' | 'coordinator' | 'replication' = 'client',
): string => {
  const found = states.check(batch, origin)
  return found === null ? 'fine' : found.kind === 'duplicate' ? `duplicate of ${found.firstOffset}` : found.error
}

describe('the state of producers', () => {
  it('knows the last five batches of each producer, and only these', () => {
    const states = new ProducerStates()
    for (let at = 0; at < 7; at++) states.apply(given({ baseSequence: at * 2, count: 2, baseOffset: at * 2 }))
    assert.deepEqual(
      [0, 1, 2, 6].map((at) => verdict(states, given({ baseSequence: at * 2, count: 2 }))),
      ['OUT_OF_ORDER_SEQUENCE_NUMBER', 'OUT_OF_ORDER_SEQUENCE_NUMBER', 'duplicate of 4', 'duplicate of 12'],
    )
    assert.equal(
      verdict(states, given({ baseSequence: 12, count: 1 })),
      'OUT_OF_ORDER_SEQUENCE_NUMBER',
      'a part of a batch is none',
    )
    assert.equal(verdict(states, given({ baseSequence: 14 })), 'fine')
  })

  it('lets sequences wrap to 0', () => {
    const states = new ProducerStates()
    states.apply(given({ baseSequence: LARGEST_SEQUENCE - 1, count: 3 }))
    assert.equal(states.entry(1)!.lastSequence, 0)
    assert.equal(verdict(states, given({ baseSequence: LARGEST_SEQUENCE - 1, count: 3 })), 'duplicate of 0')
    assert.equal(verdict(states, given({ baseSequence: 1 })), 'fine')
    const other = new ProducerStates()
    other.apply(given({ baseSequence: LARGEST_SEQUENCE }))
    assert.equal(verdict(other, given({ baseSequence: 0 })), 'fine')
  })

  it('begins a new epoch at sequence 0 and forgets the batches of the old one', () => {
    const states = new ProducerStates()
    states.apply(given({ baseSequence: 3 }))
    assert.equal(verdict(states, given({ producerEpoch: 1, baseSequence: 4 })), 'OUT_OF_ORDER_SEQUENCE_NUMBER')
    assert.equal(verdict(states, given({ producerEpoch: 1, baseSequence: 0 })), 'fine')
    states.apply(given({ producerEpoch: 1, baseSequence: 0, baseOffset: 9 }))
    assert.equal(verdict(states, given({ baseSequence: 3 })), 'INVALID_PRODUCER_EPOCH')
    assert.equal(verdict(states, given({ producerEpoch: 1, baseSequence: 0 })), 'duplicate of 9')
  })

  it('a marker may bump the epoch; the next batch of it begins at 0', () => {
    const states = new ProducerStates()
    states.apply(given({ baseSequence: 0, transactional: true }))
    states.apply(given({ producerEpoch: 1, baseOffset: 1, marker: { commit: false } }))
    assert.equal(verdict(states, given({ baseSequence: 1 })), 'INVALID_PRODUCER_EPOCH')
    assert.equal(verdict(states, given({ producerEpoch: 1, baseSequence: 1 })), 'OUT_OF_ORDER_SEQUENCE_NUMBER')
    assert.equal(verdict(states, given({ producerEpoch: 1, baseSequence: 0 })), 'fine')
  })

  it('refuses what is outside of the open transaction, and coordinators that were replaced', () => {
    const states = new ProducerStates()
    states.apply(given({ transactional: true }))
    assert.equal(verdict(states, given({ baseSequence: 1 })), 'INVALID_TXN_STATE')
    assert.equal(verdict(states, given({ baseSequence: 1, transactional: true })), 'fine')
    states.apply(given({ baseOffset: 1, marker: { commit: true, coordinatorEpoch: 5 } }))
    const old = given({ marker: { commit: true, coordinatorEpoch: 4 } })
    assert.equal(verdict(states, old, 'coordinator'), 'TRANSACTION_COORDINATOR_FENCED')
    assert.equal(verdict(states, old, 'replication'), 'fine', 'a follower copies what the leader has')
    assert.equal(verdict(states, given({ baseSequence: 1, marker: undefined })), 'fine')
  })

  it('keeps a transaction unstable until the high watermark has passed its marker', () => {
    const states = new ProducerStates()
    states.apply(given({ producerId: 1, baseOffset: 10, transactional: true }))
    states.apply(given({ producerId: 2, baseOffset: 11, transactional: true }))
    const aborted = states.apply(given({ producerId: 1, baseOffset: 12, marker: { commit: false } }))
    assert.deepEqual(aborted, { producerId: 1, firstOffset: 10, lastOffset: 12, lastStableOffset: 11 })
    assert.deepEqual([states.firstUndecidedOffset, states.firstUnstableOffset], [11, 10])
    states.highWatermarkMovedTo(12)
    assert.equal(states.firstUnstableOffset, 10)
    states.highWatermarkMovedTo(13)
    assert.equal(states.firstUnstableOffset, 11)
    assert.equal(states.apply(given({ producerId: 2, baseOffset: 13, marker: { commit: true } })), null)
    states.highWatermarkMovedTo(14)
    assert.equal(states.firstUnstableOffset, null)
  })

  it('forgets idle producers, but none with an open transaction', () => {
    const states = new ProducerStates()
    states.apply(given({ producerId: 1, timestamp: 100 }))
    states.apply(given({ producerId: 2, timestamp: 100, transactional: true }))
    states.apply(given({ producerId: 3, timestamp: 101 }))
    states.expire(1100, 1000)
    assert.deepEqual(
      states.views().map(({ producerId }) => producerId),
      [2, 3],
    )
  })

  it('answers any row of appends as a twin that remembers everything, and the same after a snapshot', () => {
    const sent = fc.record({
      producerId: fc.constantFrom(1, 2),
      producerEpoch: fc.constantFrom(0, 0, 0, 1),
      baseSequence: fc.nat(6),
      count: fc.integer({ min: 1, max: 2 }),
    })
    fc.assert(
      fc.property(fc.array(sent, { maxLength: 60, size: 'max' }), fc.nat(59), (batches, snapshotAt) => {
        let states = new ProducerStates()
        const history: ProducerBatch[] = []
        let next = 0
        for (const [at, one] of batches.entries()) {
          if (at === snapshotAt) {
            const read = readProducerSnapshot(writeProducerSnapshot(states.entries))
            assert.ok(Array.isArray(read))
            const again = new ProducerStates()
            again.load(read, next, 0, NEVER)
            assert.deepEqual(
              again.views(),
              states.views().sort((a, b) => a.producerId - b.producerId),
            )
            states = again
            history.splice(0, history.length, ...lastOfEach(history))
          }
          const batch = given({ ...one, baseOffset: next })
          assert.equal(verdict(states, batch), slowVerdict(history, batch), JSON.stringify(one))
          if (verdict(states, batch) !== 'fine') continue
          states.apply(batch)
          history.push(batch)
          next += one.count
        }
      }),
      propertyOptions(300),
    )
  })
})

/** A snapshot keeps the last batch of each producer. */
function lastOfEach(history: readonly ProducerBatch[]): ProducerBatch[] {
  return history.filter((batch, at) => !history.slice(at + 1).some(({ producerId }) => producerId === batch.producerId))
}

function slowVerdict(history: readonly ProducerBatch[], batch: ProducerBatch): string {
  const mine = history.filter(({ producerId }) => producerId === batch.producerId)
  const last = mine.at(-1)
  if (last === undefined) return 'fine'
  const ofEpoch = mine.filter(({ producerEpoch }) => producerEpoch === last.producerEpoch)
  const known =
    batch.producerEpoch !== last.producerEpoch
      ? undefined
      : ofEpoch.slice(-5).find((one) => one.baseSequence === batch.baseSequence && one.lastSequence === batch.lastSequence)
  if (known !== undefined) return `duplicate of ${known.baseOffset}`
  if (batch.producerEpoch < last.producerEpoch) return 'INVALID_PRODUCER_EPOCH'
  if (batch.producerEpoch > last.producerEpoch) return batch.baseSequence === 0 ? 'fine' : 'OUT_OF_ORDER_SEQUENCE_NUMBER'
  return batch.baseSequence === last.lastSequence + 1 ? 'fine' : 'OUT_OF_ORDER_SEQUENCE_NUMBER'
}

describe('a producer snapshot', () => {
  const states = new ProducerStates()
  states.apply(given({ producerId: 0, baseSequence: 96, count: 13, baseOffset: 96, timestamp: 1700001001990 }))
  states.apply(given({ producerId: 1, baseSequence: 0, count: 2, transactional: true, baseOffset: 5 }))

  it('has 10 bytes and 46 for each producer', () => {
    assert.equal(writeProducerSnapshot([]).length, 10)
    assert.equal(writeProducerSnapshot(states.entries).length, 102)
  })

  it('is refused when any byte of it is not as written', () => {
    const good = writeProducerSnapshot(states.entries)
    assert.ok(Array.isArray(readProducerSnapshot(good)))
    for (let at = 0; at < good.length; at++) {
      const damaged = Buffer.from(good)
      damaged[at]! ^= 0x04
      assert.ok('problem' in readProducerSnapshot(damaged), `byte ${at}`)
    }
    for (let length = 0; length < good.length; length++) assert.ok('problem' in readProducerSnapshot(good.subarray(0, length)))
    assert.ok('problem' in readProducerSnapshot(Buffer.concat([good, Buffer.alloc(46)])))
  })
})
