/** Fetch sessions by their rules: what is remembered, what is news, who keeps a place. */
import assert from 'node:assert/strict'
import { ZERO_UUID } from '@mq/protocol'
import { type FetchOpening, FetchSessions, NO_SESSION, type PartitionNews, type WantedPartition } from './fetch-sessions.js'

const wanted = (partition: number, fetchOffset = 0, topic: string | null = 't', topicId = ZERO_UUID): WantedPartition => ({
  topic,
  topicId,
  partition,
  fetchOffset,
  maxBytes: 1000,
  currentLeaderEpoch: -1,
  lastFetchedEpoch: -1,
})
const QUIET: PartitionNews = { errorCode: 0, highWatermark: 10, logStartOffset: 0, recordBytes: 0, diverges: false }

class World {
  now = 0
  names = new Map<string, string>()
  sessions: FetchSessions
  #ids = 0
  constructor(slots = 10) {
    this.sessions = new FetchSessions({
      slots,
      clock: { monotonic: () => this.now },
      random: { next: () => (++this.#ids % 1000) / 1000 },
    })
  }
  open(opening: Partial<FetchOpening>) {
    return this.sessions.open({
      sessionId: NO_SESSION,
      sessionEpoch: 0,
      usesTopicIds: false,
      isFromFollower: false,
      wanted: [],
      forgotten: [],
      nameOf: (id) => this.names.get(id) ?? null,
      ...opening,
    })
  }
  /** Answers every partition alike, or by index. */
  run(opening: Partial<FetchOpening>, news: PartitionNews | ((partition: number) => PartitionNews) = QUIET) {
    const context = this.open(opening)
    const outcome = context.conclude(context.partitions, context.partitions, (answer) =>
      typeof news === 'function' ? news(answer.partition) : news,
    )
    return {
      error: context.error ?? outcome.error,
      sessionId: outcome.sessionId,
      asked: context.partitions.map((partition) => [partition.partition, partition.fetchOffset]),
      told: outcome.answers.map((answer) => answer.partition),
    }
  }
  create(partitions: number[], more: Partial<FetchOpening> = {}): number {
    return this.run({ wanted: partitions.map((partition) => wanted(partition)), ...more }).sessionId
  }
}

describe('fetch sessions', () => {
  it('are made by a request with epoch 0 and answer it whole', () => {
    const world = new World()
    const made = world.run({ wanted: [wanted(0), wanted(1)] })
    assert.notEqual(made.sessionId, NO_SESSION)
    assert.deepEqual(made.told, [0, 1])
    assert.equal(world.sessions.size, 1)
    assert.equal(world.sessions.partitionCount, 2)
  })

  it('are not made by a request with epoch -1, which older versions send', () => {
    const world = new World()
    const answered = world.run({ sessionEpoch: -1, wanted: [wanted(0)] })
    assert.deepEqual(answered, { error: 'NONE', sessionId: NO_SESSION, asked: [[0, 0]], told: [0] })
    assert.equal(world.sessions.size, 0)
  })

  it('complete an incremental request and answer only news', () => {
    const world = new World()
    const sessionId = world.create([0, 1, 2])
    const quiet = world.run({ sessionId, sessionEpoch: 1, wanted: [wanted(1, 7)] })
    assert.deepEqual(quiet, {
      error: 'NONE',
      sessionId,
      asked: [
        [0, 0],
        [1, 7],
        [2, 0],
      ],
      told: [],
    })
    const news = world.run({ sessionId, sessionEpoch: 2 }, (partition) =>
      partition === 2 ? { ...QUIET, highWatermark: 11 } : QUIET,
    )
    assert.deepEqual(news.told, [2])
    assert.deepEqual(
      world.run({ sessionId, sessionEpoch: 3 }, { ...QUIET, logStartOffset: 1, highWatermark: 10 }).told,
      [0, 1, 2],
    )
  })

  it('put a partition that had records last, so that none starves', () => {
    const world = new World()
    const sessionId = world.create([0, 1, 2])
    const first = world.run({ sessionId, sessionEpoch: 1 }, (partition) =>
      partition === 0 ? { ...QUIET, recordBytes: 100 } : QUIET,
    )
    assert.deepEqual(first.told, [0])
    const second = world.run({ sessionId, sessionEpoch: 2 })
    assert.deepEqual(
      second.asked.map(([partition]) => partition),
      [1, 2, 0],
    )
  })

  it('tell an error each time, and the recovered partition once more', () => {
    const world = new World()
    const sessionId = world.create([0])
    const broken = { ...QUIET, errorCode: 6, highWatermark: -1, logStartOffset: -1 }
    assert.deepEqual(world.run({ sessionId, sessionEpoch: 1 }, broken).told, [0])
    assert.deepEqual(world.run({ sessionId, sessionEpoch: 2 }, broken).told, [0])
    assert.deepEqual(world.run({ sessionId, sessionEpoch: 3 }).told, [0])
    assert.deepEqual(world.run({ sessionId, sessionEpoch: 4 }).told, [])
  })

  it('forget partitions, and end when none is left', () => {
    const world = new World()
    const sessionId = world.create([0, 1])
    const forgotten = (partition: number) => ({ topic: 't', topicId: ZERO_UUID, partition })
    assert.deepEqual(world.run({ sessionId, sessionEpoch: 1, forgotten: [forgotten(0)] }).asked, [[1, 0]])
    const last = world.run({ sessionId, sessionEpoch: 2, forgotten: [forgotten(1)] })
    assert.equal(last.sessionId, NO_SESSION)
    assert.equal(world.sessions.size, 0)
    assert.equal(world.sessions.partitionCount, 0)
  })

  it('are closed by a full request that names them', () => {
    const world = new World()
    const sessionId = world.create([0])
    const next = world.create([0], { sessionId })
    assert.notEqual(next, sessionId)
    assert.equal(world.sessions.size, 1)
    world.run({ sessionId: next, sessionEpoch: -1 })
    assert.equal(world.sessions.size, 0)
  })

  it('refuse an unknown id, a wrong epoch, and a change between names and ids', () => {
    const world = new World()
    const sessionId = world.create([0])
    assert.equal(world.run({ sessionId: 999_999, sessionEpoch: 1 }).error, 'FETCH_SESSION_ID_NOT_FOUND')
    assert.equal(world.run({ sessionId, sessionEpoch: 2 }).error, 'INVALID_FETCH_SESSION_EPOCH')
    assert.equal(world.run({ sessionId, sessionEpoch: 1, usesTopicIds: true }).error, 'FETCH_SESSION_TOPIC_ID_ERROR')
    assert.equal(world.run({ sessionId, sessionEpoch: 1 }).error, 'NONE')
  })

  it('refuse the earlier of two requests that came with the same epoch', () => {
    const world = new World()
    const sessionId = world.create([0])
    const waiting = world.open({ sessionId, sessionEpoch: 1 })
    assert.equal(world.run({ sessionId, sessionEpoch: 2 }).error, 'NONE')
    const late = waiting.conclude(waiting.partitions, waiting.partitions, () => QUIET)
    assert.deepEqual(late, { error: 'INVALID_FETCH_SESSION_EPOCH', sessionId, answers: [] })
  })

  it('know a partition by its id from the moment that the id has a name', () => {
    const world = new World()
    const topicId = 'BAAAAAAAAAAAAAAAAAAAAA'
    const sessionId = world.create([], { usesTopicIds: true, wanted: [wanted(0, 0, null, topicId)] })
    const open = (sessionEpoch: number) => world.open({ sessionId, sessionEpoch, usesTopicIds: true }).partitions[0]?.topic
    assert.equal(open(1), null)
    world.names.set(topicId, 'late')
    assert.equal(open(2), 'late')
  })

  it('count a partition that stands twice once, as it stands last', () => {
    const world = new World()
    const twice = world.run({ wanted: [wanted(0, 1), wanted(1), wanted(0, 2)] })
    assert.deepEqual(twice.asked, [
      [0, 2],
      [1, 0],
    ])
  })

  describe('in a full cache', () => {
    it('give no place to a newcomer while all are young', () => {
      const world = new World(1)
      const first = world.create([0])
      assert.equal(world.create([0, 1, 2]), NO_SESSION)
      assert.equal(world.run({ sessionId: first, sessionEpoch: 1 }).error, 'NONE')
    })

    it('lose the stalest one after two minutes', () => {
      const world = new World(2)
      const stale = world.create([0])
      world.now = 60_000
      const used = world.create([0])
      world.now = 120_001
      const newcomer = world.create([0])
      assert.notEqual(newcomer, NO_SESSION)
      assert.equal(world.run({ sessionId: stale, sessionEpoch: 1 }).error, 'FETCH_SESSION_ID_NOT_FOUND')
      assert.equal(world.run({ sessionId: used, sessionEpoch: 1 }).error, 'NONE')
    })

    it('lose an old one in use to a larger newcomer, not to an equal', () => {
      const world = new World(1)
      const old = world.create([0, 1])
      world.now = 119_000
      world.run({ sessionId: old, sessionEpoch: 1 })
      world.now = 125_000
      world.run({ sessionId: old, sessionEpoch: 2 })
      assert.equal(world.create([0, 1]), NO_SESSION)
      assert.notEqual(world.create([0, 1, 2]), NO_SESSION)
      assert.equal(world.run({ sessionId: old, sessionEpoch: 3 }).error, 'FETCH_SESSION_ID_NOT_FOUND')
    })

    it("lose a consumer's young one to a follower, and never a follower's to a consumer", () => {
      const world = new World(1)
      world.create([0, 1, 2])
      const follower = world.create([0], { isFromFollower: true })
      assert.notEqual(follower, NO_SESSION)
      world.now = 119_000
      world.run({ sessionId: follower, sessionEpoch: 1 })
      world.now = 125_000
      world.run({ sessionId: follower, sessionEpoch: 2 })
      assert.equal(world.create([0, 1, 2, 3]), NO_SESSION)
    })

    it('make none at all without slots', () => {
      assert.equal(new World(0).create([0]), NO_SESSION)
    })
  })
})
