/** Produce: what the given damaged records get, and what we do better than Kafka. */
import assert from 'node:assert/strict'
import { BatchBuilder, type BatchOptions, RECORD_BATCH, RecordBatch } from '@mq/protocol'
import { vectors } from '../../../../conformance/index.js'
import { Assembly, errorName } from './testing/assembly.js'

function batch(options: BatchOptions = {}): Buffer {
  const builder = new BatchBuilder(options)
  builder.tryAppend({ timestamp: 1_700_000_000_000, key: 'k', value: 'v' })
  return builder.build()
}

describe('Produce', () => {
  let assembly: Assembly
  beforeEach(async () => {
    assembly = await Assembly.start([{ name: 't', partitions: 2 }])
  })

  const send = async (records: Buffer | null, options: { version?: number; acks?: number; transactionalId?: string } = {}) => {
    const { version = 9, acks = -1, transactionalId = null } = options
    const answer = await assembly.ask('Produce', version, {
      acks,
      timeoutMs: 1000,
      transactionalId,
      topicData: [{ name: 't', partitionData: [{ index: 0, records }] }],
    })
    if (typeof answer === 'string') return answer
    const { errorCode, baseOffset, logAppendTimeMs, errorMessage } = answer.responses[0]!.partitionResponses[0]!
    return { error: errorName(errorCode), baseOffset, logAppendTimeMs, errorMessage }
  }

  describe('of the given records, one after the other', () => {
    interface Result {
      produceVersion: number
      errorCode: number
      baseOffset: number
      logAppendTime: number
    }
    /** Where 3.9.1 answers UNKNOWN_SERVER_ERROR, its cause has a name. */
    const better = (name: string, code: number): string => {
      if (code !== -1) return errorName(code)
      if (/codec-[567]$/.test(name)) return 'UNSUPPORTED_COMPRESSION_TYPE'
      return /\/length-/.test(name) ? 'CORRUPT_MESSAGE' : 'INVALID_RECORD'
    }

    it('answers what 3.9.1 answers, and a reason where that has none', async function () {
      this.timeout(20_000)
      const results = vectors.json<Record<string, Result>>('records/produce-results.json')
      const differences: string[] = []
      for (const [name, { produceVersion, errorCode, baseOffset, logAppendTime }] of Object.entries(results)) {
        const answer = await send(Buffer.from(vectors.bytes(`records/${name}.bin`)), { version: produceVersion })
        assert.ok(typeof answer !== 'string')
        const expected = `${better(name, errorCode)} ${baseOffset} ${logAppendTime}`
        const got = `${answer.error} ${answer.baseOffset} ${answer.logAppendTimeMs}`
        if (got !== expected) differences.push(`${name}: ${got}, and 3.9.1 says ${expected}`)
      }
      assert.deepEqual(differences, [])
      assert.ok(Object.keys(results).length > 150)
    })
  })

  it('answers null records by INVALID_RECORD in every version, and appends nothing', async () => {
    for (const version of [0, 1, 2, 3, 7, 8, 9, 11]) {
      const answer = await send(null, { version })
      assert.equal(typeof answer === 'string' ? answer : answer.error, 'INVALID_RECORD')
    }
    assert.equal(assembly.partition('t').log?.logEndOffset, 0)
  })

  it('refuses a transactional batch with an id, appends nothing and says why in the log', async () => {
    const records = batch({ transactional: true, producerId: 9, producerEpoch: 0, baseSequence: 0 })
    const answer = await send(records, { transactionalId: 'tx' })
    assert.deepEqual(answer, {
      error: 'INVALID_TXN_STATE',
      baseOffset: -1,
      logAppendTimeMs: -1,
      errorMessage: 'This broker has no transactions yet',
    })
    assert.equal(assembly.partition('t').log?.logEndOffset, 0)
    assert.deepEqual(
      assembly.said.map(({ level, message }) => `${level}: ${message}`),
      ['warn: refused a transactional batch: there are no transactions yet'],
    )
  })

  it('refuses a producer id that no block ever held, in whatever form the topic stores records', async () => {
    await assembly.create({ name: 'gzip', partitions: 1, configs: { 'compression.type': 'gzip' } })
    for (const name of ['t', 'gzip']) {
      const records = batch({ producerId: 1, producerEpoch: 0, baseSequence: 0 })
      RECORD_BATCH.producerId.set(records, 0, 2n ** 60n)
      RECORD_BATCH.crc.set(records, 0, new RecordBatch(records).computeCrc())
      const topicData = [{ name, partitionData: [{ index: 0, records }] }]
      const answer = await assembly.ask('Produce', 9, { acks: 1, timeoutMs: 0, topicData })
      assert.ok(typeof answer !== 'string')
      assert.equal(errorName(answer.responses[0]!.partitionResponses[0]!.errorCode), 'INVALID_RECORD')
    }
  })

  it('answers nothing to acks=0 that went well, and closes the connection when it did not', async () => {
    assert.equal(await send(batch(), { acks: 0 }), 'nothing')
    assert.equal(assembly.partition('t').log?.logEndOffset, 1)
    assert.equal(await send(Buffer.alloc(0), { acks: 0 }), 'closed')
    assert.equal(assembly.said.at(-1)?.message, 'closing: a produce with acks=0 failed')
  })

  it('lets the admin client of Kafka write to internal topics, and no other', async () => {
    await assembly.create({ name: '__consumer_offsets', partitions: 1 })
    const to = async (clientId: string) => {
      const topicData = [{ name: '__consumer_offsets', partitionData: [{ index: 0, records: batch() }] }]
      const answer = await assembly.ask('Produce', 9, { acks: 1, timeoutMs: 0, topicData }, clientId)
      return typeof answer === 'string' ? answer : errorName(answer.responses[0]!.partitionResponses[0]!.errorCode)
    }
    assert.equal(await to('script'), 'INVALID_TOPIC_EXCEPTION')
    assert.equal(await to('__admin_client'), 'NONE')
  })

  it('says from v10 on where the leader is now', async () => {
    await assembly.partition('t').goOffline('NOT_LEADER_OR_FOLLOWER', 'moved')
    const ask = async (version: number) => {
      const topicData = [{ name: 't', partitionData: [{ index: 0, records: batch() }] }]
      const answer = await assembly.ask('Produce', version, { acks: 1, timeoutMs: 0, topicData })
      assert.ok(typeof answer !== 'string')
      return { partition: answer.responses[0]!.partitionResponses[0]!, nodes: answer.nodeEndpoints }
    }
    const hinted = await ask(10)
    assert.equal(errorName(hinted.partition.errorCode), 'NOT_LEADER_OR_FOLLOWER')
    assert.deepEqual({ ...hinted.partition.currentLeader }, { leaderId: 0, leaderEpoch: 0 })
    assert.deepEqual(
      hinted.nodes.map(({ nodeId, host, port, rack }) => ({ nodeId, host, port, rack })),
      [{ nodeId: 0, host: 'here', port: 9, rack: null }],
    )
    assert.deepEqual((await ask(9)).nodes, [])
  })

  it('answers the storage error of a directory that is gone', async () => {
    await assembly.partition('t').goOffline('KAFKA_STORAGE_ERROR', 'the disk failed')
    const answer = await send(batch())
    assert.equal(typeof answer === 'string' ? answer : answer.error, 'KAFKA_STORAGE_ERROR')
  })
})
