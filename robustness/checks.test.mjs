// The checkers of this folder, each shown red on something that is broken on purpose, and green where it is not.
import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { BatchBuilder } from '@mq/protocol'
import { newFolder, startBrokerProcess } from './broker-process.mjs'
import { makeTopic } from './crash/kill.mjs'
import { keyFor, valueFor } from './crash/pattern.mjs'
import { readBack } from './crash/read-back.mjs'
import { Load } from './faults/load.mjs'
import { spoilingProxy } from './faults/spoiling-proxy.mjs'
import { Canary } from './fuzz/canary.mjs'
import { Groups } from './fuzz/groups.mjs'
import { RawConnection } from './fuzz/raw-connection.mjs'
import { recordedFrames } from './fuzz/seeds.mjs'
import { Sender } from './fuzz/sender.mjs'

const FRAMES = 400

describe('The checkers of robustness', function () {
  this.timeout(60_000)
  let broker
  const data = newFolder('checks', { inMemory: true })
  const proxies = []
  const behind = async (spoil) => {
    const proxy = await spoilingProxy(broker.port, spoil)
    proxies.push(proxy)
    return proxy.port
  }
  before(async () => {
    broker = await startBrokerProcess({ data, probed: true, config: { 'auto.create.topics.enable': false } })
  })
  afterEach(() => {
    for (const proxy of proxies.splice(0)) proxy.close()
  })
  after(async () => {
    await broker.die()
    rmSync(data, { recursive: true, force: true })
  })

  describe('what is read back after kill -9', () => {
    let topics = 0
    /** Writes these records, each in a batch of its own, to a new topic; tells what the checker says when `acknowledged` were. */
    const checked = async (records, acknowledged) => {
      const topic = `read-back-${topics++}`
      await makeTopic(broker.port, topic, 1)
      const connection = await RawConnection.open(broker.port)
      for (const { key, value } of records) {
        const builder = new BatchBuilder({})
        builder.tryAppend({ timestamp: Date.now(), key, value, headers: [] })
        await connection.ask('Produce', 9, {
          acks: -1,
          timeoutMs: 1000,
          topicData: [{ name: topic, partitionData: [{ index: 0, records: builder.build() }] }],
        })
      }
      connection.drop()
      return readBack({ port: broker.port, topic, partitions: 1, acknowledged })
    }
    const record = (index) => ({ key: keyFor(index), value: valueFor(index) })

    it('is green when all is there, once and in order', async () => {
      assert.deepEqual(await checked([0, 1, 2].map(record), [0, 1, 2]), {
        records: 3,
        missing: [],
        changed: [],
        repeated: [],
        disordered: [],
      })
    })
    it('is red when an acknowledged record is missing', async () => {
      assert.deepEqual((await checked([0, 2].map(record), [0, 1, 2])).missing, [1])
    })
    it('is red when a record has other bytes', async () => {
      const spoilt = record(1)
      spoilt.value[700] ^= 1
      assert.deepEqual((await checked([record(0), spoilt], [0, 1])).changed, [1])
    })
    it('is red when a record is there twice', async () => {
      assert.deepEqual((await checked([0, 1, 1].map(record), [0, 1])).repeated, [1])
    })
    it('is red when records are out of order', async () => {
      assert.deepEqual((await checked([0, 2, 1].map(record), [0, 1, 2])).disordered, [1])
    })
  })

  describe('the sender of the fuzz', () => {
    const failuresBehind = async (spoil, neverMs = 1500) => {
      const sender = new Sender({
        port: spoil === null ? broker.port : await behind(spoil),
        pid: broker.pid,
        seed: 7,
        live: { strings: [], ids: [] },
        neverMs,
      })
      await sender.send(0, FRAMES, recordedFrames())
      sender.stop()
      return sender
    }

    it('is green on a broker', async () => {
      assert.deepEqual((await failuresBehind(null)).failures, [])
    })
    it('is red when an answer is kept back', async () => {
      const { failures } = await failuresBehind((frame, number) => (number % 50 === 49 ? null : [frame]))
      assert.match(failures.join('\n'), /got neither an answer nor a close/)
    })
    it('is red when an answer is for another request', async () => {
      const { failures } = await failuresBehind((frame, number) => [
        number % 50 === 49 ? Buffer.concat([Buffer.from('7fffffff', 'hex'), frame.subarray(4)]) : frame,
      ])
      assert.match(failures.join('\n'), /the answer is for request 2147483647/)
    })
    it('is red when an answer cannot be read', async () => {
      const { failures } = await failuresBehind((frame, number) => [number % 50 === 49 ? frame.subarray(0, 5) : frame])
      assert.ok(failures.length > 0)
    })
    it('counts what is late', async () => {
      const slowly = async (frame, number) => {
        if (number >= 40 && number < 60) await pause(8000)
        return [frame]
      }
      const { counts } = await failuresBehind(slowly, 20_000)
      assert.ok(counts.late > 0)
    })
  })

  describe('what the fuzz allows a JoinGroup', () => {
    const join = (groupId, sessionTimeoutMs, rebalanceTimeoutMs, version = 3) => ({
      api: 'JoinGroup',
      version,
      body: { groupId, sessionTimeoutMs, rebalanceTimeoutMs },
    })
    const heard = (groupId) => ({ api: 'Heartbeat', version: 0, body: { groupId } })
    /** Each step: a frame and when it is sent. Returns what the last one may wait. */
    const allowed = (...steps) => {
      const groups = new Groups([1000, 3000])
      for (const [asked, at] of steps) groups.saw(asked, at)
      const [last, at] = steps.findLast(([{ api }]) => api === 'JoinGroup')
      return groups.waitMs(last, at)
    }

    it('is nothing for who is alone', () => {
      assert.equal(allowed([join('g', 2000, 500), 0]), 0)
      assert.equal(allowed([join('other', 2000, 500), 0], [join('g', 2000, 500), 0]), 0)
    })
    it('is the longest rebalance timeout of the group', () => {
      assert.equal(allowed([join('g', 3000, 2500), 0], [join('g', 3000, 500), 100]), 2500)
      assert.equal(allowed([join('g', 3000, -1, 0), 0], [join('g', 3000, 500), 100]), 3000)
    })
    it('is the longest session after the group was heard of, where that is less', () => {
      assert.equal(allowed([join('g', 1500, 60_000), 0], [join('g', 1000, 500), 100]), 1500)
      assert.equal(allowed([join('g', 1500, 60_000), 0], [join('g', 1000, 500), 100], [heard('g'), 1100]), 2500)
    })
    it('leaves out whom the broker does not let in', () => {
      assert.equal(allowed([join('g', 60_000, 60_000), 0], [join('g', 1500, 500), 100]), 0)
    })
  })

  it('the canary is red when a record comes back with other bytes', async () => {
    const port = await behind((frame) => {
      const at = frame.indexOf('canary 3')
      if (at >= 0) frame[at] ^= 1
      return [frame]
    })
    const canary = await Canary.start(port)
    for (let round = 0; round < 200 && canary.failures.length === 0; round++) await pause(20)
    await canary.stop()
    assert.match(canary.failures.join(), /after 3 records: fetched: 3 banary 3/)
  })

  it('the load is red when an acknowledgement was a lie', async () => {
    await makeTopic(broker.port, 'lied', 1)
    // The 5th answer names a place where nothing was written.
    const load = await Load.start(await behind((frame, number) => (number === 4 ? [shifted(frame)] : [frame])), 'lied', 1)
    await load.reaches(20)
    await load.stop()
    assert.ok((await load.missing(broker.port)).length > 0)
  })

  it('the probe sees memory that is kept', async () => {
    const before = await broker.measure()
    const connection = await RawConnection.open(broker.port)
    await makeTopic(broker.port, 'committed', 1)
    await connection.ask('FindCoordinator', 1, { key: 'kept', keyType: 0 })
    // 3,000 groups with a commit each are something to keep.
    for (let at = 0; at < 3000; at++) {
      const { topics } = await connection.ask('OffsetCommit', 2, {
        groupId: `kept-${at}-${'x'.repeat(1000)}`,
        generationIdOrMemberEpoch: -1,
        memberId: '',
        retentionTimeMs: -1,
        topics: [
          { name: 'committed', partitions: [{ partitionIndex: 0, committedOffset: 1, committedMetadata: 'm'.repeat(1000) }] },
        ],
      })
      assert.equal(topics[0].partitions[0].errorCode, 0)
    }
    connection.drop()
    const after = await broker.measure()
    assert.ok(after.heapUsed - before.heapUsed > 3 * 1024 * 1024, `${after.heapUsed - before.heapUsed} bytes`)
  })
})

/** A Produce v9 answer with its base offset one million further. */
function shifted(frame) {
  const changed = Buffer.from(frame)
  // correlation id, tags, topics, name, partitions, index, error code, base offset
  const nameLength = changed[6]
  const at = 4 + 1 + 1 + nameLength + 1 + 4 + 2
  changed.writeBigInt64BE(changed.readBigInt64BE(at) + 1_000_000n, at)
  return changed
}
