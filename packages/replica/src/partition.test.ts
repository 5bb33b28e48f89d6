/** One partition as a leader: epochs, acks, waits, and what it answers when it does not lead. */
import assert from 'node:assert/strict'
import { Partition, type PartitionConfig } from './partition.js'
import { Purgatory } from './purgatory.js'
import { FakeTimers, partitionConfig, ScriptedLog } from './testing.js'

const ALL = { acks: -1, origin: 'client', timeoutMs: 500 } as const
const ONE = { ...ALL, acks: 1 } as const
const alone = (leaderEpoch = 0) => ({ leaderEpoch, isr: [1], replicas: [1] })

class World {
  readonly timers = new FakeTimers()
  readonly delayedProduces = new Purgatory({ timers: this.timers, limit: 100 })
  readonly log = new ScriptedLog()
  moved = 0
  readonly partition: Partition
  constructor(config: Partial<PartitionConfig> = {}) {
    this.partition = new Partition({ topic: 't', partition: 0 }, 1, partitionConfig(config), {
      moved: () => this.moved++,
      delayedProduces: this.delayedProduces,
    })
  }
  async leading(terms: { leaderEpoch: number; isr: readonly number[]; replicas: readonly number[] } = alone()): Promise<this> {
    await this.partition.becomeLeader(this.log, terms)
    return this
  }
}

const errorOf = (result: { kind: string; error?: string }) => (result.kind === 'refused' ? result.error : result.kind)
const resultOf = async (result: unknown) => errorOf((await result) as { kind: string })

describe('a partition', () => {
  it('takes nothing before it leads', async () => {
    const { partition } = new World()
    assert.equal(await resultOf(partition.append(Buffer.alloc(1), ONE)), 'NOT_LEADER_OR_FOLLOWER')
    assert.equal(errorOf(partition.logFor(-1)), 'NOT_LEADER_OR_FOLLOWER')
    assert.equal(await partition.whenCommitted(0), 'lost')
  })

  it('notes its epoch where the log ends, though nothing is written (A-025)', async () => {
    const world = new World()
    world.log.logEndOffset = 12
    await world.leading(alone(7))
    assert.deepEqual(world.log.epochs, [[7, 12]])
    assert.equal(world.partition.leaderEpoch, 7)
  })

  it('goes on in the same epoch after a clean stop', async () => {
    const world = new World()
    world.log.epochs.push([7, 3])
    await world.leading(alone(7))
    assert.deepEqual(world.log.epochs, [[7, 3]])
  })

  it('commits what the log already has, when it is alone', async () => {
    const world = new World()
    world.log.logEndOffset = 12
    world.log.highWatermark = 9
    await world.leading()
    assert.equal(world.log.highWatermark, 12)
  })

  for (const options of [ONE, ALL, { ...ALL, acks: 0 } as const]) {
    it(`answers acks=${options.acks} without a promise when the log wrote at once`, async () => {
      const { partition, log } = await new World().leading()
      const result = partition.append(Buffer.alloc(3), options)
      assert.ok(!(result instanceof Promise))
      assert.equal(result.kind, 'appended')
      assert.equal(log.highWatermark, 3)
    })
  }

  it('answers when a slow write is done, in order', async () => {
    const { partition, log } = await new World().leading()
    log.held = []
    const appends = [partition.append(Buffer.alloc(3), ALL), partition.append(Buffer.alloc(2), ALL)]
    assert.equal(log.highWatermark, 0)
    log.release()
    const results = await Promise.all(appends)
    assert.deepEqual(
      results.map((result) => result.kind === 'appended' && [result.firstOffset, result.lastOffset]),
      [
        [0, 2],
        [3, 4],
      ],
    )
    assert.equal(log.highWatermark, 5)
  })

  it("passes the log's refusals on and commits nothing", async () => {
    const { partition, log } = await new World().leading()
    log.refuseNext = { kind: 'refused', error: 'CORRUPT_MESSAGE', message: 'no' }
    assert.equal(await resultOf(partition.append(Buffer.alloc(3), ALL)), 'CORRUPT_MESSAGE')
    assert.equal(log.highWatermark, 0)
  })

  describe('with a follower in the ISR that does not fetch', () => {
    const terms = { leaderEpoch: 0, isr: [1, 2], replicas: [1, 2] }

    it('answers acks=1 at once and acks=all not before the deadline', async () => {
      const { partition, log, timers, delayedProduces } = await new World().leading(terms)
      assert.equal(await resultOf(partition.append(Buffer.alloc(1), ONE)), 'appended')
      const all = partition.append(Buffer.alloc(1), ALL)
      assert.ok(all instanceof Promise)
      timers.advance(499)
      assert.equal(delayedProduces.size, 1)
      timers.advance(1)
      assert.equal(await resultOf(all), 'REQUEST_TIMED_OUT')
      assert.equal(log.highWatermark, 0)
      assert.equal(log.logEndOffset, 2)
      assert.equal(delayedProduces.size, 0)
    })

    it('tells those who wait that it leads no longer', async () => {
      const { partition, delayedProduces } = await new World().leading(terms)
      const all = partition.append(Buffer.alloc(1), ALL)
      const committed = partition.whenCommitted(0)
      await partition.goOffline('NOT_LEADER_OR_FOLLOWER', 'moved away')
      delayedProduces.touch(partition)
      assert.equal(await resultOf(all), 'NOT_LEADER_OR_FOLLOWER')
      assert.equal(await committed, 'lost')
    })
  })

  describe('with too few in-sync replicas', () => {
    const terms = { leaderEpoch: 0, isr: [1], replicas: [1, 2, 3] }

    it('refuses acks=all before anything is written, not acks=1', async () => {
      const { partition, log } = await new World({ 'min.insync.replicas': 2 }).leading(terms)
      assert.equal(await resultOf(partition.append(Buffer.alloc(1), ALL)), 'NOT_ENOUGH_REPLICAS')
      assert.equal(log.logEndOffset, 0)
      assert.equal(await resultOf(partition.append(Buffer.alloc(1), ONE)), 'appended')
    })

    it('asks for no more than there are replicas', async () => {
      const { partition } = await new World({ 'min.insync.replicas': 2 }).leading(alone())
      assert.equal(await resultOf(partition.append(Buffer.alloc(1), ALL)), 'appended')
    })
  })

  it('fences an older epoch, does not know a newer one, and asks nothing of who says none (KIP-320)', async () => {
    const { partition } = await new World().leading(alone(5))
    const read = (currentLeaderEpoch: number) =>
      partition.read(0, { currentLeaderEpoch, maxBytes: 10, minOneMessage: true, upTo: 'highWatermark' })
    assert.equal(await resultOf(read(4)), 'FENCED_LEADER_EPOCH')
    assert.equal(await resultOf(read(6)), 'UNKNOWN_LEADER_EPOCH')
    assert.equal(await resultOf(read(5)), 'read')
    assert.equal(await resultOf(read(-1)), 'read')
    assert.equal(await resultOf(read(-2)), 'FENCED_LEADER_EPOCH')
  })

  it('answers its storage error while its directory is offline', async () => {
    const { partition } = await new World().leading()
    await partition.goOffline('KAFKA_STORAGE_ERROR', 'the disk is gone')
    assert.equal(await resultOf(partition.append(Buffer.alloc(1), ONE)), 'KAFKA_STORAGE_ERROR')
    assert.equal(partition.log, undefined)
  })

  it('does not acknowledge a write that ended under another epoch', async () => {
    const { partition, log } = await new World().leading()
    log.held = []
    const append = partition.append(Buffer.alloc(1), ALL)
    const held = log.held
    log.held = null
    await partition.becomeLeader(log, alone(1))
    for (const go of held) go()
    assert.equal(await resultOf(append), 'NOT_LEADER_OR_FOLLOWER')
  })

  it('lets appends wait while an epoch begins', async () => {
    const world = new World()
    world.log.held = []
    const begun = world.leading(alone(3))
    const append = world.partition.append(Buffer.alloc(2), ALL)
    assert.ok(append instanceof Promise)
    assert.equal(world.partition.isLeader, false)
    world.log.release()
    await begun
    assert.equal(await resultOf(append), 'appended')
    assert.deepEqual(world.log.epochs, [[3, 0]])
  })

  it('tells coordinators when their records are committed', async () => {
    const { partition } = await new World().leading()
    const told: string[] = []
    const wait = (offset: number) => partition.whenCommitted(offset).then((outcome) => told.push(`${offset} ${outcome}`))
    const waits = [wait(0), wait(2)]
    partition.append(Buffer.alloc(1), ONE)
    await Promise.resolve()
    await Promise.resolve()
    assert.deepEqual(told, ['0 committed'])
    partition.append(Buffer.alloc(2), ONE)
    await Promise.all(waits)
    assert.deepEqual(told, ['0 committed', '2 committed'])
    assert.equal(await partition.whenCommitted(2), 'committed')
  })

  describe('asked to delete records', () => {
    const filled = async (config: Partial<PartitionConfig> = {}) => {
      const world = await new World(config).leading()
      world.partition.append(Buffer.alloc(10), ONE)
      return world.partition
    }

    it('moves its start, and -1 means the high watermark', async () => {
      const partition = await filled()
      assert.deepEqual(await partition.deleteRecordsBefore(4), { kind: 'deleted', lowWatermark: 4 })
      assert.deepEqual(await partition.deleteRecordsBefore(2), { kind: 'deleted', lowWatermark: 4 })
      assert.deepEqual(await partition.deleteRecordsBefore(-1), { kind: 'deleted', lowWatermark: 10 })
    })

    it('refuses what it does not have, and what its policy forbids', async () => {
      const partition = await filled()
      assert.equal(errorOf(await partition.deleteRecordsBefore(11)), 'OFFSET_OUT_OF_RANGE')
      assert.equal(errorOf(await partition.deleteRecordsBefore(-2)), 'OFFSET_OUT_OF_RANGE')
      const compacted = await filled({ 'cleanup.policy': ['compact'] })
      assert.equal(errorOf(await compacted.deleteRecordsBefore(1)), 'POLICY_VIOLATION')
      const both = await filled({ 'cleanup.policy': ['compact', 'delete'] })
      assert.equal(errorOf(await both.deleteRecordsBefore(1)), 'deleted')
    })
  })
})
