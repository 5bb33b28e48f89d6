// Mutated frames of real clients against a real broker process: it answers or closes, serves others all the while, and keeps no memory of it.
// FRAMES and SEED set how many and which; `npm run soak:fuzz` sends two million from a new seed.
import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { newFolder, startBrokerProcess } from './broker-process.mjs'
import { CANARY_TOPIC, Canary } from './fuzz/canary.mjs'
import { RawConnection } from './fuzz/raw-connection.mjs'
import { aimed, encodedFrames, recordedFrames } from './fuzz/seeds.mjs'
import { Sender } from './fuzz/sender.mjs'
import { cleanUp, makeTopics, TOPICS } from './fuzz/upkeep.mjs'

const SEED = Number(process.env.SEED ?? 20_260_101)
const FRAMES = Number(process.env.FRAMES ?? 200_000)
/** From here on the heap has to stay where it is: code is compiled, caches are full. */
const SETTLED_AT = 20_000
const ROUND = Math.max(20_000, Math.floor(FRAMES / 6))
/** Sessions of members that left, and files that are deleted later, are gone after it. */
const SETTLE_MS = 500
/** The shortest and the longest that the fuzzed broker allows. */
const SESSIONS_MS = [1000, 3000]
const MAY_GROW_BYTES = 8 * 1024 * 1024

describe(`${FRAMES} mutated frames (SEED=${SEED})`, function () {
  this.timeout(FRAMES * 5 + 120_000)
  const data = newFolder('fuzz', { inMemory: true })
  const names = Object.keys(TOPICS)
  const measured = []
  let broker
  let canary
  let sender
  let offered

  const atBroker = async (work) => {
    const connection = await RawConnection.open(broker.port)
    try {
      return await work(connection)
    } finally {
      connection.drop()
    }
  }

  before(async () => {
    broker = await startBrokerProcess({
      data,
      probed: true,
      config: {
        'auto.create.topics.enable': false,
        'offsets.topic.num.partitions': 4,
        'group.initial.rebalance.delay.ms': 0,
        'connections.max.idle.ms': 60_000,
        // What is deleted is kept for a minute otherwise, with its timers.
        'log.segment.delete.delay.ms': 100,
        'group.min.session.timeout.ms': SESSIONS_MS[0],
        'group.max.session.timeout.ms': SESSIONS_MS[1],
      },
    })
    canary = await Canary.start(broker.port)
    const recorded = recordedFrames()
    offered = await atBroker((connection) => connection.ask('ApiVersions', 0, {}).then(({ apiKeys }) => apiKeys))
    const frames = [...recorded, ...encodedFrames(recorded, offered, names)]
    const live = { strings: [], ids: [] }
    sender = new Sender({ port: broker.port, pid: broker.pid, seed: SEED, live, sessions: SESSIONS_MS })
    const strings = [...names, 'fuzz', ...groupsOf(recorded)]
    for (let from = 0; from < FRAMES && sender.failures.length === 0 && !broker.hasEnded; ) {
      const to = from === 0 ? Math.min(SETTLED_AT, FRAMES) : Math.min(from + ROUND, FRAMES)
      live.ids = await atBroker(makeTopics)
      live.strings = [...strings]
      await sender.send(
        from,
        to,
        frames.map(({ origin, frame }) => ({ origin, frame: aimed(frame, names, live.ids) })),
      )
      const found = await atBroker((connection) => cleanUp(connection, [CANARY_TOPIC], sender)).catch((error) => {
        throw new Error(
          `${error.message}; the broker said: ${broker.errors().slice(-3).join('\n') || broker.stderr().slice(-1000)}`,
        )
      })
      sender.sessions.clear()
      sender.members.clear()
      sender.groups.clear()
      await new Promise((done) => setTimeout(done, SETTLE_MS))
      const memory = await broker.measure()
      measured.push({ frames: to, ...memory })
      console.log(
        `    ${to} frames: heap ${mib(memory.heapUsed)}, buffers ${mib(memory.arrayBuffers)}, process ${mib(memory.rss)} MiB; deleted ${JSON.stringify(found)}`,
      )
      from = to
    }
    await canary.stop()
    sender.stop()
    console.log(
      `    ${JSON.stringify(sender.counts)}, longest answer ${Math.round(sender.longestMs)} ms; canary: ${canary.records} records, slowest round ${canary.slowest} ms`,
    )
  })

  after(async () => {
    await broker?.die()
    rmSync(data, { recursive: true, force: true })
  })

  it('each get an answer or a closed connection, and every answer is one to its request', () => {
    assert.deepEqual(sender.failures, [])
    assert.equal(sender.counts.frames, FRAMES)
  })

  it('get it within a second, but for those that wait by their own fields', () => {
    assert.equal(sender.counts.late, 0, `${sender.counts.late} of ${FRAMES} were late:\n${sender.lateOnes.join('\n')}`)
  })

  it('reach every API and version that is offered', () => {
    const offers = offered.flatMap(({ apiKey, minVersion, maxVersion }) =>
      Array.from({ length: maxVersion - minVersion + 1 }, (_, at) => `${apiKey} v${minVersion + at}`),
    )
    const reached = sender.answered.size
    assert.ok(
      reached >= offers.length * (FRAMES < 50_000 ? 0.9 : 1),
      `${reached} of ${offers.length} were answered: ${[...sender.answered.keys()].sort().join(', ')}`,
    )
  })

  it('leave a canary alone: all it produces comes back', () => {
    assert.deepEqual(canary.failures, [])
    assert.ok(canary.records >= FRAMES / 1000, `${canary.records} records of the canary`)
  })

  it('do not end the process, and raise no error inside it', () => {
    assert.equal(broker.hasEnded, false, broker.stderr().slice(-3000))
    assert.deepEqual(broker.errors(), [])
  })

  it(`leave less than ${mib(MAY_GROW_BYTES)} MiB on the heap from frame ${SETTLED_AT} on`, () => {
    const settled = measured.find(({ frames }) => frames >= SETTLED_AT)
    const grown = measured.at(-1).heapUsed - settled.heapUsed
    assert.ok(
      grown < MAY_GROW_BYTES,
      `the heap grew by ${mib(grown)} MiB: ${measured.map(({ heapUsed }) => mib(heapUsed)).join(', ')}`,
    )
  })

  it('do not hinder a clean stop', async () => {
    const { code, ms } = await broker.stop()
    assert.equal(code, 0, broker.stderr().slice(-2000))
    assert.ok(ms < 10_000, `it took ${ms} ms`)
  })
})

function mib(bytes) {
  return (bytes / 1024 / 1024).toFixed(1)
}

/** Group names that clients used: commits and joins of one client's frames meet those of another. */
function groupsOf(recorded) {
  const groups = new Set()
  for (const { frame } of recorded) for (const [name] of frame.toString('latin1').matchAll(/[\w.-]+-group/g)) groups.add(name)
  return [...groups].slice(0, 20)
}
