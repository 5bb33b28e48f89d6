import assert from 'node:assert/strict'
import { endTransactionMarker, iterateBatches } from '@mq/protocol'
import fc from 'fast-check'
import type { PartitionLog } from './log.js'
import { batch, type Harness, harness, produce } from './log.test.support.js'
import { propertyOptions } from './property-options.test.support.js'

/** The obvious slow twin of a log: one entry for each record. */
interface Entry {
  readonly value: string
  readonly timestamp: number
  readonly producerId: number
  readonly transactional: boolean
  readonly marker: 'commit' | 'abort' | null
  /** First and last offset of its batch. */
  readonly batchStart: number
  readonly batchEnd: number
}

type Step =
  | {
      readonly kind: 'append'
      readonly producerId: number
      readonly transactional: boolean
      readonly timestamps: readonly number[]
      readonly size: number
    }
  | { readonly kind: 'end'; readonly producerId: number; readonly commit: boolean }
  | { readonly kind: 'roll' | 'restart' | 'kill' }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('append' as const),
      producerId: fc.constantFrom(-1, 1, 2, 3),
      transactional: fc.boolean(),
      timestamps: fc.array(fc.integer({ min: 0, max: 300 }), { minLength: 1, maxLength: 4 }),
      size: fc.nat(80),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('end' as const), producerId: fc.constantFrom(1, 2, 3), commit: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('roll' as const, 'restart' as const, 'kill' as const) }) },
)

class Twin {
  readonly entries: Entry[] = []
  readonly sequences = new Map<number, number>()
  readonly open = new Map<number, number>()

  append(values: readonly string[], producerId: number, transactional: boolean, timestamps: readonly number[]): void {
    const batchStart = this.entries.length
    const batchEnd = batchStart + values.length - 1
    if (transactional && !this.open.has(producerId)) this.open.set(producerId, batchStart)
    for (const [at, value] of values.entries()) {
      this.entries.push({ value, timestamp: timestamps[at]!, producerId, transactional, marker: null, batchStart, batchEnd })
    }
    if (producerId >= 0) this.sequences.set(producerId, (this.sequences.get(producerId) ?? 0) + values.length)
  }

  end(producerId: number, commit: boolean): void {
    const at = this.entries.length
    const marker = commit ? 'commit' : 'abort'
    this.entries.push({ value: '', timestamp: 500, producerId, transactional: true, marker, batchStart: at, batchEnd: at })
    this.open.delete(producerId)
  }

  get lastStableOffset(): number {
    return Math.min(this.entries.length, ...this.open.values())
  }

  /** Values that a read_committed consumer gets. */
  committed(): string[] {
    const fate = new Map<number, boolean>()
    const seen: string[] = []
    for (let at = this.entries.length - 1; at >= 0; at--) {
      const { producerId, marker, transactional, value } = this.entries[at]!
      if (marker !== null) fate.set(producerId, marker === 'commit')
      else if (at < this.lastStableOffset && (!transactional || fate.get(producerId) === true)) seen.unshift(value)
    }
    return seen
  }

  firstAt(timestamp: number): { offset: number; timestamp: number } | null {
    const offset = this.entries.findIndex((entry) => entry.timestamp >= timestamp)
    return offset < 0 ? null : { offset, timestamp: this.entries[offset]!.timestamp }
  }
}

async function run(made: Harness, twin: Twin, one: Step): Promise<void> {
  switch (one.kind) {
    case 'append': {
      const { producerId, timestamps, size } = one
      const transactional = producerId >= 0 && (one.transactional || twin.open.has(producerId))
      const values = timestamps.map((_, at) => `${twin.entries.length + at}${'.'.repeat(size)}`)
      const producer =
        producerId < 0 ? {} : { producerId, producerEpoch: 0, baseSequence: twin.sequences.get(producerId) ?? 0, transactional }
      const outcome = await produce(made.log, batch({ values, timestamps, ...producer }))
      assert.equal(outcome.kind === 'appended' && outcome.firstOffset, twin.entries.length, JSON.stringify(outcome))
      twin.append(values, producerId, transactional, timestamps)
      return
    }
    case 'end': {
      if (!twin.open.has(one.producerId)) return
      const marker = endTransactionMarker({
        producerId: one.producerId,
        producerEpoch: 0,
        commit: one.commit,
        coordinatorEpoch: 0,
        timestamp: 500,
      })
      await made.log.append(marker, { origin: 'coordinator', leaderEpoch: 0 })
      twin.end(one.producerId, one.commit)
      return
    }
    case 'roll':
      return made.log.roll()
    case 'restart':
      await made.directories.close()
      await made.reopen()
      return
    case 'kill':
      await made.directories.abandon()
      await made.reopen()
  }
}

async function compare(log: PartitionLog, twin: Twin, maxBytes: number): Promise<void> {
  const { entries } = twin
  assert.equal(log.logEndOffset, entries.length)
  log.updateHighWatermark(entries.length)
  assert.equal(log.lastStableOffset, twin.lastStableOffset)
  for (const [offset, entry] of entries.entries()) {
    const read = await log.read(offset, { maxBytes, minOneMessage: true, upTo: 'logEnd' })
    assert.ok(read.kind === 'read')
    const batches = [...iterateBatches(Buffer.concat(read.slices))]
    assert.equal(batches[0]?.baseOffset, entry.batchStart)
    assert.ok(read.sizeInBytes <= maxBytes || batches.length === 1)
    for (const one of batches) {
      for (const record of one.records()) if (!one.isControl) assert.equal(String(record.value), entries[record.offset]!.value)
    }
  }
  for (const timestamp of [0, 50, 150, 299, 300, 301, 500, 501]) {
    const found = await log.offsetForTimestamp(timestamp)
    assert.ok(found === null || 'offset' in found)
    assert.deepEqual(found === null ? null : { offset: found.offset, timestamp: found.timestamp }, twin.firstAt(timestamp))
  }
  assert.deepEqual(await committedValues(log, maxBytes), twin.committed())
}

/** As a consumer does it: a list of aborted transactions, and markers that end them. */
async function committedValues(log: PartitionLog, maxBytes: number): Promise<string[]> {
  const values: string[] = []
  for (let offset = 0; offset < log.lastStableOffset; ) {
    const read = await log.read(offset, { maxBytes, minOneMessage: true, upTo: 'lastStable' })
    assert.ok(read.kind === 'read' && read.sizeInBytes > 0)
    const aborted = [...read.abortedTransactions].sort((a, b) => a.firstOffset - b.firstOffset)
    const skipping = new Set<number>()
    for (const one of iterateBatches(Buffer.concat(read.slices))) {
      while (aborted.length > 0 && aborted[0]!.firstOffset <= one.lastOffset) skipping.add(aborted.shift()!.producerId)
      if (one.isControl) skipping.delete(one.producerId)
      else if (!one.isTransactional || !skipping.has(one.producerId))
        for (const record of one.records()) values.push(String(record.value))
      offset = one.nextOffset
    }
  }
  return values
}

describe('a log and its slow twin', () => {
  it('agree on reads by offset and time, the last stable offset and what is aborted, over rolls, restarts and kills', async function () {
    this.timeout(60_000)
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 40, size: 'max' }),
        fc.constantFrom(0, 300, 1 << 20),
        fc.constantFrom(1, 200, 100_000),
        async (steps, tailCacheBytes, maxBytes) => {
          const config = { 'segment.bytes': 900, 'index.interval.bytes': 120, 'segment.index.bytes': 200 }
          const expiration = { 'producer.id.expiration.ms': 2 ** 60 }
          const made = await harness({ config, directories: { tailCacheBytes, config: expiration } })
          const twin = new Twin()
          for (const one of steps) await run(made, twin, one)
          await compare(made.log, twin, maxBytes)
          await made.directories.close()
        },
      ),
      propertyOptions(150),
    )
  })
})
