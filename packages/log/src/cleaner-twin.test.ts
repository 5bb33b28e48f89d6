/** Compaction and its obvious slow twin: the same is left, whatever was written, rolled, cleaned, waited for and deleted before. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { type CompactedHarness, compacted, end, put, stored } from './cleaner.test.support.js'
import { propertyOptions } from './property-options.test.support.js'

const RETENTION = 1000

interface TwinRecord {
  readonly offset: number
  readonly key: string
  readonly value: string | null
}

interface TwinBatch {
  readonly base: number
  readonly last: number
  readonly producerId: number
  readonly epoch: number
  readonly transactional: boolean
  readonly marker: 'COMMIT' | 'ABORT' | null
  horizon: number | null
  records: readonly TwinRecord[]
}

interface TwinProducer {
  epoch: number
  sequence: number
  /** Last offset of its last batch in this epoch, -1 without one. */
  lastData: number
  open: number | null
}

class Twin {
  batches: TwinBatch[] = []
  readonly markers: { readonly producerId: number; readonly offset: number; readonly marker: 'COMMIT' | 'ABORT' }[] = []
  readonly producers = new Map<number, TwinProducer>()
  endOffset = 0
  start = 0
  highWatermark = 0
  cleanedTo: number | null = null

  producer(producerId: number): TwinProducer {
    const known = this.producers.get(producerId) ?? { epoch: 0, sequence: 0, lastData: -1, open: null }
    this.producers.set(producerId, known)
    return known
  }

  append(producerId: number, transactional: boolean, records: readonly { key: string; value: string | null }[]): void {
    const base = this.endOffset
    const last = base + records.length - 1
    const producer = producerId < 0 ? null : this.producer(producerId)
    this.batches.push({
      base,
      last,
      producerId,
      epoch: producer?.epoch ?? -1,
      transactional,
      marker: null,
      horizon: null,
      records: records.map((record, at) => ({ ...record, offset: base + at })),
    })
    this.endOffset = last + 1
    if (producer === null) return
    producer.sequence += records.length
    producer.lastData = last
    if (transactional) producer.open ??= base
  }

  end(producerId: number, marker: 'COMMIT' | 'ABORT', epoch: number): void {
    const offset = this.endOffset++
    const producer = this.producer(producerId)
    if (epoch !== producer.epoch) Object.assign(producer, { epoch, sequence: 0, lastData: -1 })
    producer.open = null
    this.batches.push({ base: offset, last: offset, producerId, epoch, transactional: true, marker, horizon: null, records: [] })
    this.markers.push({ producerId, offset, marker })
  }

  /** The marker that ended what the producer wrote at the offset. */
  #endOf(producerId: number, offset: number) {
    return this.markers.find((one) => one.producerId === producerId && one.offset > offset)
  }

  #isAborted({ transactional, marker, producerId, base }: TwinBatch): boolean {
    return transactional && marker === null && this.#endOf(producerId, base)?.marker === 'ABORT'
  }

  get lastStable(): number {
    const open = [...this.producers.values()].flatMap((producer) => producer.open ?? [])
    // What ended above the high watermark is not decided for readers.
    const undecided = this.markers.filter(({ offset }) => offset >= this.highWatermark)
    const firsts = undecided.map(({ producerId, offset }) => {
      const before = this.markers.findLast((one) => one.producerId === producerId && one.offset < offset)?.offset ?? -1
      return this.#firstOf(producerId, before, offset)
    })
    return Math.min(this.highWatermark, ...[...open, ...firsts].map((first) => Math.max(first, this.start)))
  }

  readonly transactionStarts: { readonly producerId: number; readonly offset: number }[] = []

  #firstOf(producerId: number, after: number, before: number): number {
    const found = this.transactionStarts.find((one) => one.producerId === producerId && one.offset > after && one.offset < before)
    return found?.offset ?? Number.POSITIVE_INFINITY
  }

  /** One pass over segments that begin at these offsets. @returns whether there was something to do */
  clean(
    now: number,
    segments: readonly { readonly baseOffset: number; readonly sizeInBytes: number }[],
    capacity: number,
  ): boolean {
    const active = segments.at(-1)!.baseOffset
    const known = this.cleanedTo !== null && this.cleanedTo >= this.start && this.cleanedTo <= this.endOffset
    const firstDirty = known ? this.cleanedTo! : this.start
    const limit = Math.max(firstDirty, Math.min(this.lastStable, active))
    const to = segments.findLast(({ baseOffset }) => baseOffset <= limit)?.baseOffset ?? segments[0]!.baseOffset
    const floor = segments.findLast(({ baseOffset }) => baseOffset <= firstDirty)?.baseOffset ?? 0
    const dirty = segments.filter(({ baseOffset }) => baseOffset >= floor && baseOffset < to)
    if (firstDirty >= to || dirty.every(({ sizeInBytes }) => sizeInBytes === 0)) return false
    const { latest, newest } = this.#newest(
      firstDirty,
      dirty.map(({ baseOffset }) => baseOffset),
      to,
      capacity,
    )
    this.cleanedTo = latest + 1
    const filteredTo = segments.find(({ baseOffset }) => baseOffset > latest)!.baseOffset
    const before = this.batches
    this.batches = before.filter((batch) => batch.base >= filteredTo || this.#stays(batch, before, now, newest, latest))
    return true
  }

  #newest(from: number, bases: readonly number[], to: number, capacity: number) {
    const newest = new Map<string, number>()
    let latest = -1
    for (const [at, base] of bases.entries()) {
      const next = bases[at + 1] ?? to
      for (const batch of this.batches.filter((one) => one.base >= base && one.base < next && one.last >= from)) {
        for (const { key, offset } of this.#isAborted(batch) ? [] : batch.records) {
          if (offset < from) continue
          if (newest.size >= capacity) return { latest, newest }
          newest.set(key, offset)
          latest = offset
        }
        latest = batch.last
      }
      latest = next - 1
    }
    return { latest, newest }
  }

  #stays(
    batch: TwinBatch,
    before: readonly TwinBatch[],
    now: number,
    newest: ReadonlyMap<string, number>,
    latest: number,
  ): boolean {
    const isOver = batch.horizon !== null && batch.horizon <= now
    if (batch.marker === null) {
      batch.records = this.#isAborted(batch)
        ? []
        : batch.records.filter(
            ({ offset, key, value }) => offset > latest || (offset >= (newest.get(key) ?? -1) && (value !== null || !isOver)),
          )
      if (batch.records.some(({ value }) => value === null)) batch.horizon ??= now + RETENTION
      if (batch.records.length === 0) batch.horizon = null
      return batch.records.length > 0 || this.#isLastOfProducer(batch)
    }
    const previous = this.markers.findLast((one) => one.producerId === batch.producerId && one.offset < batch.base)?.offset ?? -1
    const isOfIt = (one: TwinBatch) => one.producerId === batch.producerId && one.transactional && one.marker === null
    const endsSomething = before.some((one) => isOfIt(one) && one.base > previous && one.base < batch.base)
    if (endsSomething && !this.emptied.has(batch)) return true
    if (this.emptied.has(batch)) return this.#isLastOfProducer(batch)
    if (!isOver) {
      batch.horizon ??= now + RETENTION
      return true
    }
    if (!this.#isLastOfProducer(batch)) return false
    this.emptied.add(batch)
    batch.horizon = null
    return true
  }

  /** Markers that are headers only. */
  readonly emptied = new Set<TwinBatch>()

  #isLastOfProducer({ producerId, epoch, last, marker }: TwinBatch): boolean {
    const producer = this.producers.get(producerId)
    if (producer === undefined) return false
    return producer.lastData < 0 ? marker !== null && epoch === producer.epoch : last === producer.lastData
  }

  /** As `stored` tells it. */
  stored(): string[] {
    return this.batches
      .filter(({ last }) => last >= this.start)
      .flatMap((batch) => {
        if (batch.marker !== null)
          return [this.emptied.has(batch) ? `${batch.base}-${batch.last}:` : `${batch.base}:${batch.marker}`]
        if (batch.records.length === 0) return [`${batch.base}-${batch.last}:`]
        return batch.records
          .filter(({ offset }) => offset >= this.start)
          .map(({ offset, key, value }) => `${offset}:${key}${value === null ? '' : `=${value}`}`)
      })
  }
}

type Step =
  | {
      readonly kind: 'append'
      readonly producerId: number
      readonly transactional: boolean
      readonly records: readonly [number, boolean][]
    }
  | { readonly kind: 'end'; readonly producerId: number; readonly commit: boolean; readonly bump: boolean }
  | { readonly kind: 'roll' | 'clean' | 'restart' | 'kill' | 'lag' | 'catch up' }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'delete'; readonly share: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('append' as const),
      producerId: fc.constantFrom(-1, 1, 2),
      transactional: fc.boolean(),
      records: fc.array(fc.tuple(fc.nat(5), fc.boolean()), { minLength: 1, maxLength: 4 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('end' as const),
      producerId: fc.constantFrom(1, 2),
      commit: fc.boolean(),
      bump: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('roll' as const) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('clean' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constantFrom('restart' as const, 'kill' as const, 'lag' as const, 'catch up' as const) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(1, 400, 999, 1000, 5000) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('delete' as const), share: fc.double({ min: 0, max: 1, noNaN: true }) }),
  },
)

class Run {
  readonly twin = new Twin()
  constructor(
    readonly made: CompactedHarness,
    readonly capacity: number,
  ) {}

  async do(one: Step): Promise<void> {
    const { made, twin } = this
    switch (one.kind) {
      case 'append':
        return this.#append(one.producerId, one.transactional, one.records)
      case 'end':
        return this.#end(one.producerId, one.commit, one.bump)
      case 'roll':
        return made.log.roll()
      case 'wait':
        return made.time.advance(one.ms)
      case 'lag':
        made.lags = true
        return
      case 'catch up':
        made.lags = false
        return this.#moveHighWatermark()
      case 'delete': {
        const to = Math.floor(twin.start + one.share * (twin.highWatermark - twin.start))
        await made.log.deleteRecordsBefore(to)
        twin.start = Math.max(twin.start, to)
        return
      }
      case 'clean':
        return this.#clean()
      default:
        // What ended above the high watermark is forgotten by a restart, in Kafka too: it is decided before.
        await this.do({ kind: 'catch up' })
        if (one.kind === 'restart') await made.directories.close()
        else {
          await made.directories.checkpointAll()
          await made.directories.abandon()
        }
        await made.reopen()
        made.log.updateHighWatermark(twin.highWatermark)
        return this.#forgetProducers()
    }
  }

  /** What was deleted is not found again by a restart. */
  #forgetProducers(): void {
    const { made, twin } = this
    const known = new Map(made.log.producers().map((view) => [view.producerId, view]))
    for (const [producerId, producer] of twin.producers) {
      const lastSequence = known.get(producerId)?.lastSequence
      if (lastSequence === undefined) twin.producers.delete(producerId)
      else if (lastSequence < 0) Object.assign(producer, { sequence: 0, lastData: -1 })
    }
  }

  #moveHighWatermark(): void {
    const { made, twin } = this
    if (!made.lags) twin.highWatermark = twin.endOffset
    made.log.updateHighWatermark(twin.highWatermark)
  }

  async #append(producerId: number, wantsTransaction: boolean, records: readonly [number, boolean][]): Promise<void> {
    const { made, twin } = this
    const producer = producerId < 0 ? null : twin.producer(producerId)
    // A producer in a transaction writes nothing outside of it.
    const transactional = producer !== null && (wantsTransaction || producer.open !== null)
    const pairs = records.map(([key, hasValue], at) => ({ key: `k${key}`, value: hasValue ? `v${twin.endOffset + at}` : null }))
    const text = pairs.map(({ key, value }) => (value === null ? key : `${key}=${value}`)).join(' ')
    const of =
      producer === null ? {} : { producerId, producerEpoch: producer.epoch, baseSequence: producer.sequence, transactional }
    if (transactional && producer.open === null) twin.transactionStarts.push({ producerId, offset: twin.endOffset })
    await put(made, text, of)
    twin.append(producerId, transactional, pairs)
    this.#moveHighWatermark()
  }

  async #end(producerId: number, commit: boolean, bump: boolean): Promise<void> {
    const { made, twin } = this
    const producer = twin.producer(producerId)
    if (producer.open === null) return
    const epoch = producer.epoch + (bump ? 1 : 0)
    await end(made, producerId, commit ? 'commit' : 'abort', epoch)
    twin.end(producerId, commit ? 'COMMIT' : 'ABORT', epoch)
    this.#moveHighWatermark()
  }

  async #clean(): Promise<void> {
    const { made, twin, capacity } = this
    for (;;) {
      const due = twin.clean(made.time.now(), made.log.segmentViews(), capacity)
      assert.equal(await made.directories.cleaner!.runOnce(), due, 'something to clean')
      twin.batches = twin.batches.filter(({ last }) => last >= made.log.firstSegmentOffset)
      assert.deepEqual(await stored(made.log), twin.stored())
      if (!due) return
    }
  }

  async compare(): Promise<void> {
    const { made, twin } = this
    assert.deepEqual(await stored(made.log), twin.stored())
    assert.equal(made.log.logEndOffset, twin.endOffset)
    assert.equal(made.log.lastStableOffset, twin.lastStable)
    assert.deepEqual(
      made.said.filter(({ level }) => level === 'error'),
      [],
    )
  }
}

describe('a compacted log and its slow twin', () => {
  it('hold the same, with the same offsets, over any order of writes, transactions, rolls, cleanings, waits, deletions and restarts', async function () {
    this.timeout(120_000)
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 60, size: 'max' }),
        fc.constantFrom(0, 1 << 20),
        fc.constantFrom(2, 4, 1_000_000),
        fc.constantFrom(300, 1000),
        async (steps, tailCacheBytes, capacity, segmentBytes) => {
          const made = await compacted({
            config: { 'segment.bytes': segmentBytes, 'index.interval.bytes': 100, 'delete.retention.ms': RETENTION },
            directories: {
              tailCacheBytes,
              config: {
                'producer.id.expiration.ms': 2 ** 60,
                'log.cleaner.dedupe.buffer.size': 24 * capacity,
                'log.cleaner.io.buffer.load.factor': 1,
                'log.cleaner.io.buffer.size': 400,
              },
            },
          })
          const run = new Run(made, capacity)
          for (const one of steps) await run.do(one)
          await run.compare()
          await run.do({ kind: 'restart' })
          await run.compare()
          await made.directories.close()
        },
      ),
      propertyOptions(300),
    )
  })
})
