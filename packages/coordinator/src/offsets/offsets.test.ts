import assert from 'node:assert/strict'
import fc from 'fast-check'
import { Offsets } from './offsets.js'
import type { CommittedOffset } from './records.js'

const value = (offset: number): CommittedOffset => ({
  offset,
  leaderEpoch: -1,
  metadata: '',
  commitTimestamp: 0,
  expireTimestamp: null,
})

type Step =
  | { readonly kind: 'put' | 'remove'; readonly group: string; readonly partition: number; readonly producer: number | null }
  | { readonly kind: 'commit'; readonly back: number }
  | { readonly kind: 'end'; readonly producer: number; readonly outcome: 'commit' | 'abort' }

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constantFrom('put', 'put', 'remove' as const),
    group: fc.constantFrom('g', 'h'),
    partition: fc.nat(2),
    producer: fc.constant(null),
  }) as fc.Arbitrary<Step>,
  fc.record({ kind: fc.constant('commit' as const), back: fc.nat(3) }),
)

const transactional: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constantFrom('put', 'put', 'remove' as const),
    group: fc.constantFrom('g', 'h'),
    partition: fc.nat(2),
    producer: fc.constantFrom(null, 7, 8),
  }) as fc.Arbitrary<Step>,
  fc.record({
    kind: fc.constant('end' as const),
    producer: fc.constantFrom(7, 8),
    outcome: fc.constantFrom('commit', 'abort' as const),
  }),
)

interface Written {
  readonly at: number
  readonly group: string
  readonly partition: number
  readonly isPut: boolean
}

const seed = process.env.SEED === undefined ? {} : { seed: Number(process.env.SEED) }

describe('committed offsets', () => {
  it('show readers the last value before the high watermark, and rules the last one written', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const offsets = new Offsets()
        const log: Written[] = []
        let highWatermark = 0
        for (const action of steps) {
          if (action.kind === 'put' || action.kind === 'remove') {
            const { group, partition } = action
            const place = { offset: log.length, committed: false, transactionOf: null }
            if (action.kind === 'put') offsets.put(group, 't', partition, value(log.length), place)
            else offsets.remove(group, 't', partition, place)
            log.push({ at: log.length, group, partition, isPut: action.kind === 'put' })
          } else if (action.kind === 'commit') {
            highWatermark = Math.max(highWatermark, log.length - action.back)
            offsets.committed(highWatermark)
          }
          // The slow twin: the last record of the log, or of its committed part.
          const last = (group: string, partition: number, before: number) => {
            const found = log.filter((one) => one.group === group && one.partition === partition && one.at < before).at(-1)
            return found?.isPut ? found.at : undefined
          }
          for (const group of ['g', 'h']) {
            const visible: string[] = []
            for (const partition of [0, 1, 2]) {
              const latest = last(group, partition, log.length)
              const committed = last(group, partition, highWatermark)
              assert.equal(offsets.latest(group, 't', partition)?.offset, latest)
              assert.equal(offsets.visible(group, 't', partition)?.offset, committed)
              if (committed !== undefined) visible.push(`${partition} ${committed}`)
              const isWaiting = log.some((one) => one.group === group && one.partition === partition && one.at >= highWatermark)
              assert.equal(offsets.isUnstable(group, 't', partition), isWaiting && latest !== undefined)
            }
            const listed = [...offsets.visibleOfGroup(group)].map(([, partition, { offset }]) => `${partition} ${offset}`)
            assert.deepEqual(listed.sort(), visible.sort())
            assert.equal(offsets.countOf(group), [0, 1, 2].filter((p) => last(group, p, log.length) !== undefined).length)
          }
        }
      }),
      seed,
    )
  })

  it('keep what transactions stage apart, and give it its place in the order of the log when they commit', () => {
    fc.assert(
      fc.property(fc.array(transactional, { maxLength: 60 }), (steps) => {
        const offsets = new Offsets()
        const real = new Map<string, number>()
        const staged = new Map<number, Map<string, number>>()
        steps.forEach((action, at) => {
          if (action.kind === 'end') {
            offsets.endTransaction(action.producer, action.outcome)
            if (action.outcome === 'commit') {
              for (const [key, offset] of staged.get(action.producer) ?? []) {
                if ((real.get(key) ?? -1) < offset) real.set(key, offset)
              }
            }
            staged.delete(action.producer)
          } else if (action.kind !== 'commit') {
            const { group, partition, producer } = action
            const key = `${group} ${partition}`
            const place = { offset: at, committed: true, transactionOf: producer }
            let into = real
            if (producer !== null) {
              into = staged.get(producer) ?? new Map<string, number>()
              staged.set(producer, into)
            }
            if (action.kind === 'put') {
              offsets.put(group, 't', partition, value(at), place)
              into.set(key, at)
            } else {
              offsets.remove(group, 't', partition, place)
              into.delete(key)
            }
          }
          for (const group of ['g', 'h']) {
            for (const partition of [0, 1, 2]) {
              const key = `${group} ${partition}`
              assert.equal(offsets.visible(group, 't', partition)?.offset, real.get(key))
              assert.equal(
                offsets.isUnstable(group, 't', partition),
                [...staged.values()].some((one) => one.has(key)),
              )
            }
            assert.equal(
              offsets.hasStaged(group),
              [...staged.values()].some((one) => [...one.keys()].some((key) => key.startsWith(group))),
            )
          }
        })
      }),
      seed,
    )
  })
})
