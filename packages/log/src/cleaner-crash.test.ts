/** A stop of the machine at every operation of a cleaning: the last value of each key is there, and nothing comes back. */
import assert from 'node:assert/strict'
import { endTransactionMarker, iterateBatches } from '@mq/protocol'
import { readOffsets } from './checkpoint.js'
import type { PartitionLog } from './log.js'
import { ALONE, batch, PARTITION, TOPIC_ID } from './log.test.support.js'
import { type BrokerLogDirectories, LogDirectories } from './log-directories.js'
import { ManualTime, MemoryDisk, seededRandom } from './testing.js'
import { DEFAULT_TOPIC_CONFIG, type TopicConfig } from './topic-config.js'

const RETENTION = 1000
const CONFIG: TopicConfig = {
  ...DEFAULT_TOPIC_CONFIG,
  'cleanup.policy': ['compact'],
  'min.cleanable.dirty.ratio': 0,
  'delete.retention.ms': RETENTION,
  'segment.bytes': 900,
  'index.interval.bytes': 150,
}

interface Entry {
  readonly key: string
  readonly value: string | null
  readonly producerId: number
  readonly marker: 'COMMIT' | 'ABORT' | null
}

interface Model {
  readonly entries: Entry[]
  /** Everything below it was promised to be on the disk. */
  durableEnd: number
  created: boolean
  /** Operations of the disk during cleanings: from, to. */
  readonly cleanings: [number, number][]
}

async function open(
  disk: MemoryDisk,
  time: ManualTime,
): Promise<{ directories: BrokerLogDirectories; log: PartitionLog | undefined }> {
  const directories = await LogDirectories.open({
    dirs: ['/data'],
    disk,
    clock: time,
    timers: time,
    random: seededRandom(3),
    processes: ALONE,
    brokerId: 1,
    clusterId: 'cluster',
    cleaner: 'waits',
    topicConfig: () => CONFIG,
    config: { 'producer.id.expiration.ms': 2 ** 60 },
  })
  return { directories, log: directories.get(PARTITION) }
}

/** Writes, transactions of both ends, rolls, and three cleanings with time between them, by the seed. */
async function workload(disk: MemoryDisk, time: ManualTime, model: Model, seed: number): Promise<void> {
  const random = seededRandom(seed)
  const pick = (count: number) => Math.floor(random.next() * count)
  const { directories } = await open(disk, time)
  const log = await directories.create(PARTITION, TOPIC_ID, CONFIG)
  disk.syncAll()
  model.created = true
  const sequences = new Map<number, number>()
  const append = async (bytes: Buffer, origin: 'client' | 'coordinator', entries: readonly Entry[]): Promise<void> => {
    const outcome = await log.append(bytes, { origin, leaderEpoch: 0 })
    if (outcome.kind === 'refused') return
    model.entries.push(...entries)
    log.updateHighWatermark(log.logEndOffset)
  }
  for (let round = 0; round < 3; round++) {
    for (let step = 0; step < 10; step++) {
      const producerId = pick(3)
      const transactional = producerId > 0
      const count = 1 + pick(3)
      const keys = Array.from({ length: count }, () => `k${pick(6)}`)
      const values = keys.map((_, at) => (pick(4) === 0 ? null : `${model.entries.length + at}:${'x'.repeat(pick(60))}`))
      const baseSequence = sequences.get(producerId) ?? 0
      const records = batch({ keys, values, producerId, producerEpoch: 0, baseSequence, transactional, timestamp: time.now() })
      sequences.set(producerId, baseSequence + count)
      await append(
        records,
        'client',
        keys.map((key, at) => ({ key, value: values[at]!, producerId, marker: null })),
      )
      if (!transactional) continue
      const marker = pick(2) === 0 ? 'COMMIT' : 'ABORT'
      const of = { producerId, producerEpoch: 0, commit: marker === 'COMMIT', coordinatorEpoch: 0, timestamp: time.now() }
      await append(endTransactionMarker(of), 'coordinator', [{ key: '', value: null, producerId, marker }])
    }
    await log.roll()
    if (round === 1) {
      await log.flush()
      if (!log.isOffline) model.durableEnd = model.entries.length
    }
    const before = disk.operations
    while (await directories.cleaner!.runOnce());
    model.cleanings.push([before, disk.operations])
    if (log.isOffline) return
    time.advance(RETENTION)
  }
  await directories.close()
  if (!log.isOffline) model.durableEnd = model.entries.length
}

/** The last committed value of each key of the first entries; null stands for a tombstone. */
function state(entries: readonly Entry[]): Map<string, string | null> {
  const found = new Map<string, string | null>()
  for (const [at, { key, value, producerId, marker }] of entries.entries()) {
    if (marker !== null) continue
    const end = producerId === 0 ? null : entries.slice(at).find((one) => one.marker !== null && one.producerId === producerId)
    if (end === null || end?.marker === 'COMMIT') found.set(key, value)
  }
  return found
}

/** Without what is deleted: a tombstone may be there or not. */
const alive = (found: ReadonlyMap<string, string | null>) => [...found].filter(([, value]) => value !== null).sort()

/** What a reader of committed records ends with; each record must be what was written at its offset. */
async function read(log: PartitionLog, model: Model): Promise<Map<string, string | null>> {
  const found = new Map<string, string | null>()
  let next = log.logStartOffset
  while (next < log.lastStableOffset) {
    const part = await log.read(next, { maxBytes: 400, minOneMessage: true, upTo: 'lastStable' })
    assert.ok(part.kind === 'read', JSON.stringify(part))
    if (part.sizeInBytes === 0) break
    const aborted = [...part.abortedTransactions].sort((a, b) => a.firstOffset - b.firstOffset)
    const skipped = new Set<number>()
    for (const one of iterateBatches(Buffer.concat(part.slices))) {
      assert.ok(one.crcIsValid())
      assert.ok(one.lastOffset >= next, `offset ${one.baseOffset} after ${next}`)
      while (aborted.length > 0 && aborted[0]!.firstOffset <= one.lastOffset) skipped.add(aborted.shift()!.producerId)
      for (const { offset, key, value } of one.records()) {
        const { marker, ...written } = model.entries[offset]!
        assert.equal(one.isControl, marker !== null, `a marker at ${offset}`)
        if (one.isControl) skipped.delete(one.producerId)
        else {
          assert.deepEqual([`${key}`, value === null ? null : `${value}`], [written.key, written.value], `record ${offset}`)
          if (!one.isTransactional || !skipped.has(one.producerId)) found.set(`${key}`, value === null ? null : `${value}`)
        }
      }
      next = one.nextOffset
    }
  }
  return found
}

const producersOf = (log: PartitionLog) =>
  log
    .producers()
    .map(({ producerId, producerEpoch, lastSequence, currentTransactionFirstOffset }) => ({
      producerId,
      producerEpoch,
      lastSequence,
      currentTransactionFirstOffset,
    }))
    .sort((a, b) => a.producerId - b.producerId)

function recoveryPointOn(disk: MemoryDisk): number {
  const path = '/data/recovery-point-offset-checkpoint'
  const read = disk.statNow(path) === null ? new Map() : readOffsets(disk.readFileNow(path))
  return (read as ReadonlyMap<string, number>).get('t-0') ?? 0
}

/** The first offset from `from` on that no batch has, though later ones are there. */
async function firstGap(log: PartitionLog, from: number): Promise<number | null> {
  for (let next = Math.max(from, log.logStartOffset); next < log.logEndOffset; ) {
    const part = await log.read(next, { maxBytes: 1 << 20, minOneMessage: true, upTo: 'logEnd' })
    assert.ok(part.kind === 'read' && part.sizeInBytes > 0)
    for (const one of iterateBatches(Buffer.concat(part.slices))) {
      if (one.baseOffset > next) return next
      next = one.nextOffset
    }
  }
  return null
}

async function verify(disk: MemoryDisk, time: ManualTime, model: Model, cut: 'power' | 'process'): Promise<void> {
  const recoveryPoint = recoveryPointOn(disk)
  const { directories, log } = await open(disk, time)
  if (log === undefined) return assert.equal(model.created, false)
  const left = disk.listNow('/data/t-0').map(({ name }) => name)
  assert.deepEqual(
    left.filter((name) => /\.(cleaned|swap)$/.test(name)),
    [],
  )
  assert.ok(log.logEndOffset >= model.durableEnd, `ends at ${log.logEndOffset}, promised ${model.durableEnd}`)
  if (cut === 'process') assert.equal(log.logEndOffset, model.entries.length)
  log.updateHighWatermark(log.logEndOffset)
  // As with Kafka, a later segment may have reached the disk while the unsynced end of an earlier one had not. What was cleaned lies
  // below the recovery point, so that a gap above it can be nothing else.
  const hole = await firstGap(log, recoveryPoint)
  if (hole !== null) {
    assert.equal(cut, 'power', 'a stop of the process leaves no hole')
    assert.ok(hole >= model.durableEnd, `a hole at ${hole}, promised ${model.durableEnd}`)
    return directories.close()
  }
  const expected = alive(state(model.entries.slice(0, log.logEndOffset)))
  assert.deepEqual(alive(await read(log, model)), expected, 'after the stop')
  const producers = producersOf(log)
  const cleanedTo = log.compaction.state.context.cleanerOffsets.get(PARTITION) ?? 0
  assert.ok(cleanedTo <= log.logEndOffset)

  await log.roll()
  while (await directories.cleaner!.runOnce());
  assert.equal(log.isOffline, false)
  assert.deepEqual(alive(await read(log, model)), expected, 'cleaned again')
  await directories.close()

  // Everything that can be derived is derived anew, and is what it was.
  for (const name of disk.listNow('/data/t-0').map(({ name }) => name)) {
    if (/\.(index|timeindex|snapshot)$/.test(name)) disk.removeNow(`/data/t-0/${name}`)
  }
  for (const name of ['.kafka_cleanshutdown', 'recovery-point-offset-checkpoint']) disk.removeNow(`/data/${name}`)
  const again = await open(disk, time)
  again.log!.updateHighWatermark(again.log!.logEndOffset)
  assert.equal(again.log!.cut, null)
  assert.deepEqual(alive(await read(again.log!, model)), expected, 'rebuilt')
  assert.deepEqual(producersOf(again.log!), producers)
  await again.directories.close()
}

type Lie = (kind: string, path: string) => boolean

const fresh = (): Model => ({ entries: [], durableEnd: 0, created: false, cleanings: [] })

/** All operations of the disk that change something, in cleanings. */
async function operationsOf(seed: number): Promise<number[]> {
  const time = new ManualTime()
  const model = fresh()
  const disk = new MemoryDisk({ now: () => time.now() })
  const changes: number[] = []
  disk.faults = ({ number, kind }) => {
    if (!['open', 'read', 'list'].includes(kind)) changes.push(number)
    return undefined
  }
  await workload(disk, time, model, seed)
  return changes.filter((number) => model.cleanings.some(([from, to]) => number >= from && number < to))
}

async function crashAt(seed: number, operation: number, lie: Lie = () => false): Promise<'stopped' | 'ended'> {
  const time = new ManualTime()
  const disk = new MemoryDisk({ now: () => time.now() })
  const model = fresh()
  let stopped = false
  disk.faults = ({ number, kind, path }) => {
    if (number < operation) return lie(kind, path) ? { take: 0 } : undefined
    stopped = true
    disk.stop()
    return { fail: 'EIO' }
  }
  await workload(disk, time, model, seed).catch((error) => {
    if (!stopped) throw error
  })
  const random = seededRandom(seed * 7919 + operation)
  const cut = random.next() < 0.4 ? 'process' : 'power'
  const again = disk.crash(
    ({ sizeInBytes }) => {
      const chance = cut === 'process' ? 0 : random.next()
      return chance < 0.4 ? sizeInBytes : chance < 0.7 ? Math.floor(random.next() * sizeInBytes) : 0
    },
    () => cut === 'process' || random.next() < 0.5,
  )
  await verify(again, time, model, cut)
  return stopped ? 'stopped' : 'ended'
}

async function named<R>(seed: number, operation: number, run: () => Promise<R>): Promise<R> {
  try {
    return await run()
  } catch (error) {
    throw new Error(`seed ${seed}, operation ${operation}: ${(error as Error).message}`, { cause: error })
  }
}

describe('a compacted log after the machine stopped', function () {
  this.timeout(120_000)
  const firstSeed = Number(process.env.SEED ?? 1)

  it('at any operation of a cleaning, has the last value of each key, and nothing that was gone', async () => {
    const operations = await operationsOf(firstSeed)
    assert.ok(operations.length > 150, `${operations.length} crash points`)
    for (const operation of operations) await named(firstSeed, operation, () => crashAt(firstSeed, operation))
  })

  it('at a random operation of random workloads, the same', async () => {
    for (let seed = firstSeed + 100; seed < firstSeed + 300; seed++) {
      const operation = 8 + Math.floor(seededRandom(seed).next() * 900)
      await named(seed, operation, () => crashAt(seed, operation))
    }
  })

  const lies: Record<string, Lie> = {
    'of the new data': (kind, path) => kind === 'sync' && path.endsWith('.log.cleaned'),
    'of the folder': (kind, path) => kind === 'syncDirectory' && path.endsWith('t-0'),
  }
  for (const [what, lie] of Object.entries(lies)) {
    it(`is found wanting when the syncs ${what} are left out`, async () => {
      let found = 0
      for (let seed = 1; seed < 60 && found === 0; seed++) {
        const operations = await operationsOf(seed)
        const random = seededRandom(seed)
        for (let count = 0; count < 10 && found === 0; count++) {
          const operation = operations[Math.floor(random.next() * operations.length)]!
          await crashAt(seed, operation, lie).catch(() => found++)
        }
      }
      assert.equal(found, 1)
    })
  }
})
