/** InitProducerId: ids for idempotent producers, and how transactional ones learn that there are no transactions yet. */
import assert from 'node:assert/strict'
import { ProducerIds } from '../producer-ids.js'
import { Assembly, errorName } from './testing/assembly.js'

describe('InitProducerId', () => {
  let assembly: Assembly
  beforeEach(async () => {
    assembly = await Assembly.start([])
  })

  const init = async (version: number, body: object = {}) => {
    const answer = await assembly.ask('InitProducerId', version, { transactionalId: null, transactionTimeoutMs: 1000, ...body })
    assert.ok(typeof answer !== 'string')
    const { errorCode, producerId, producerEpoch } = answer
    return { error: errorName(errorCode), producerId, producerEpoch }
  }

  it('gives each producer another id, with epoch 0', async () => {
    const ids = new Set<number>()
    for (let producer = 0; producer < 2500; producer++) {
      const { error, producerId, producerEpoch } = await init(producer % 6)
      assert.equal(error, 'NONE')
      assert.equal(producerEpoch, 0)
      ids.add(producerId)
    }
    assert.equal(ids.size, 2500)
  })

  for (let version = 0; version <= 5; version++) {
    it(`refuses a transactional id in v${version} by the error at which clients stop, and says why in the log`, async () => {
      assert.deepEqual(await init(version, { transactionalId: 'tx' }), {
        error: 'TRANSACTIONAL_ID_AUTHORIZATION_FAILED',
        producerId: -1,
        producerEpoch: -1,
      })
      assert.deepEqual(
        assembly.said.map(({ level, message, fields }) => ({ level, message, fields })),
        [
          {
            level: 'warn',
            message: 'refused a transactional id: there are no transactions yet',
            fields: { transactionalId: 'tx', clientId: 'script' },
          },
        ],
      )
    })
  }

  it('says it once in a while, however often a client tries', async () => {
    for (let times = 0; times < 100; times++) await init(4, { transactionalId: `tx-${times}` })
    assert.equal(assembly.said.length, 1)
    await assembly.time.advance(30_000)
    await init(4, { transactionalId: 'tx' })
    assert.equal(assembly.said.length, 2)
  })

  it('says that it cannot give one now when the store gives no block', async () => {
    const take = () => Promise.reject(new Error('no store'))
    Object.assign(assembly.broker, { producerIds: new ProducerIds({ take }) })
    assert.deepEqual(await init(4), { error: 'COORDINATOR_LOAD_IN_PROGRESS', producerId: -1, producerEpoch: -1 })
  })
})
