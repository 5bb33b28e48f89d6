import assert from 'node:assert/strict'
import { type LogDirectories, MemoryDisk } from '@mq/log'
import { adoptDirectories } from './adoption.js'
import { EmbeddedStore } from './embedded.js'
import { takeBlock } from './producer-ids.js'
import { ZNODES } from './znodes.js'

describe('the notes of how far the logs are known', () => {
  it('are taken now and then and at the close, and reserve the ids that clients made up', async () => {
    const disk = new MemoryDisk()
    disk.makeDirectoryNow('/d/t-0')
    const log = { end: 10, size: 700, producerId: 2 ** 40 + 5_000_000 }
    const logs = {
      directories: [{ path: '/d', isOffline: false }],
      wasCleanShutdown: () => true,
      holdRetention() {},
      all: () => [
        {
          topicPartition: { topic: 't', partition: 0 },
          topicId: null,
          directory: '/d',
          isOffline: false,
          latestLeaderEpoch: 0,
          logEndOffset: log.end,
          segmentViews: () => [{ baseOffset: 0, sizeInBytes: log.size, modifiedMs: 0 }],
          producers: () => [{ producerId: log.producerId }],
        },
      ],
    } as unknown as LogDirectories
    const embedded = EmbeddedStore.inMemory({ now: () => 1 })
    const store = embedded.connect()
    let fire: (() => void) | null = null
    const timers = {
      after: (ms: number, then: () => void) => {
        assert.equal(ms, 600_000)
        fire = then
        return () => {
          fire = null
        }
      },
    }
    const quiet = { debug() {}, info() {}, warn() {}, error: (fields: object) => assert.fail(JSON.stringify(fields)) }
    const common = {
      brokerId: 1,
      store,
      storeOrigin: 'new' as const,
      logs,
      disk,
      epochsBefore: new Map(),
      clock: { now: () => 1 },
    }
    const adoption = await adoptDirectories({ ...common, timers, log: quiet })
    const path = ZNODES.scannedTopic.path('t')
    const note = async () => ZNODES.scannedTopic.decode((await store.get(path))?.data ?? null, path).get(0)
    assert.deepEqual(await note(), { offset: 10, segment: 0, position: 700 })

    Object.assign(log, { end: 20, size: 1400 })
    const noted = new Promise((done) => void store.get(path, done))
    const first = fire as (() => void) | null
    first?.()
    await noted
    assert.deepEqual(await note(), { offset: 20, segment: 0, position: 1400 })
    assert.ok((await takeBlock(store, 1)).firstId > log.producerId)
    for (let turns = 0; fire === first; turns++) {
      assert.ok(turns < 1000, 'it goes on')
      await new Promise(setImmediate)
    }

    Object.assign(log, { end: 30, size: 2100 })
    await adoption.close()
    assert.deepEqual([(await note())?.offset, fire], [30, null])
    await embedded.close()
  })
})
