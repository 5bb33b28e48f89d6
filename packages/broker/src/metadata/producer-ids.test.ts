import assert from 'node:assert/strict'
import { EmbeddedStore } from './embedded.js'
import { ProducerIdsExhaustedError, producerIdBlocks, reserveUpTo, takeBlock } from './producer-ids.js'
import type { MetadataStore } from './store.js'
import { ZNODES } from './znodes.js'

const PATH = '/latest_producer_id_block'

describe('blocks of producer ids', () => {
  let embedded: EmbeddedStore
  let store: MetadataStore
  beforeEach(() => {
    embedded = EmbeddedStore.inMemory({ now: () => 1 })
    store = embedded.connect()
  })
  afterEach(() => embedded.close())
  const text = async () => (await store.get(PATH))?.data?.toString()

  it('are written as Kafka writes them, whether the node is missing, empty or full', async () => {
    await takeBlock(store, 1)
    assert.equal(await text(), '{"version":1,"broker":1,"block_start":"0","block_end":"999"}')
    await store.delete(PATH)
    await store.create(PATH, null)
    assert.deepEqual(await producerIdBlocks(store, 1).take(), { first: 0, count: 1000 })
    assert.deepEqual(await producerIdBlocks(store, 2).take(), { first: 1000, count: 1000 })
    assert.equal(await text(), '{"version":1,"broker":2,"block_start":"1000","block_end":"1999"}')
  })

  it('are never given twice, however many brokers take them at once', async () => {
    const sessions = Array.from({ length: 5 }, () => embedded.connect())
    const blocks = await Promise.all(Array.from({ length: 40 }, (_, at) => takeBlock(sessions[at % 5]!, at % 5)))
    assert.equal(new Set(blocks.map(({ firstId }) => firstId)).size, 40)
    assert.equal(Math.max(...blocks.map(({ lastId }) => lastId)), 39_999)
  })

  it('begin behind ids that are in use, and do not go back', async () => {
    await reserveUpTo(store, 1, 54_321)
    assert.equal((await takeBlock(store, 1)).firstId, 55_000)
    await reserveUpTo(store, 1, 10)
    await reserveUpTo(store, 1, 55_999)
    assert.equal((await takeBlock(store, 1)).firstId, 56_000)
    await reserveUpTo(store, 1, 57_000)
    assert.equal((await takeBlock(store, 1)).firstId, 58_000)
  })

  it('end with an error when none is left', async () => {
    const lastId = Number.MAX_SAFE_INTEGER - 5
    await store.create(PATH, ZNODES.producerIdBlock.encode({ broker: 1, firstId: lastId - 999, lastId }))
    await assert.rejects(takeBlock(store, 1), ProducerIdsExhaustedError)
  })
})
