/** Damaged requests to the data plane: each is unreadable, answered, or waits by its own fields; none throws, none does harm. */
import assert from 'node:assert/strict'
import { APIS, type ApiName, BatchBuilder, DecodeError, encodeRequest, iterateBatches, readRequestHeader } from '@mq/protocol'
import fc from 'fast-check'
import { Assembly, errorName } from './testing/assembly.js'
import { play, TOPICS } from './testing/data-plane-script.js'

/** A failure prints its seed; `SEED=… npm test` repeats it. */
const SEED = process.env.SEED === undefined ? {} : { seed: Number(process.env.SEED) }

interface Frame {
  readonly api: ApiName
  readonly version: number
  readonly bytes: Buffer
}

describe('damaged requests', function () {
  this.timeout(60_000)
  const frames: Frame[] = []
  let assembly: Assembly

  before(async () => {
    assembly = await Assembly.start([...TOPICS, { name: 'canary', partitions: 1 }])
    await play({
      topicId: (name) => assembly.topicId(name),
      ask: async (label, api, version, body) => {
        const request = { api, version, correlationId: 7, clientId: 'script', body } as Parameters<typeof encodeRequest>[0]
        frames.push({ api: api as ApiName, version, bytes: Buffer.concat(encodeRequest(request)).subarray(4) })
        const asked = assembly.ask(api as ApiName, version, body as never)
        if (label === 'a wait that ends') {
          await new Promise((resolve) => setImmediate(resolve))
          assembly.time.advance(50)
        }
        return asked
      },
    })
  })

  /** Bytes to write over those of the body. */
  const damage = fc.array(
    fc.record({ place: fc.nat(0xffff), byte: fc.oneof(fc.nat(255), fc.constantFrom(0, 0x7f, 0x80, 0xff)) }),
    { minLength: 1, maxLength: 4 },
  )

  const serve = async ({ api, version, bytes }: Frame): Promise<'unreadable' | 'answered' | 'waited'> => {
    const { bodyAt } = readRequestHeader(bytes)
    let outcome: 'answered' | 'waited' = 'answered'
    try {
      const asked = assembly.serve(api, version, bytes.subarray(bodyAt))
      const first = await Promise.race([asked, new Promise((resolve) => setImmediate(resolve, 'waits'))])
      if (first !== 'waits') return outcome
      // It waits for bytes, or it was about to be answered: either way its client goes now.
      if (assembly.waiting > 0) outcome = 'waited'
      assembly.hangUp()
      await asked
      return outcome
    } catch (error) {
      if (error instanceof DecodeError) return 'unreadable'
      throw error
    }
  }

  it('are refused, answered or forgotten, and the canary sings on', async () => {
    const seen = { unreadable: 0, answered: 0, waited: 0 }
    let sung = 0
    await fc.assert(
      fc.asyncProperty(fc.nat(1_000_000), damage, async (which, changes) => {
        const frame = frames[which % frames.length]!
        const bytes = Buffer.from(frame.bytes)
        const { bodyAt } = readRequestHeader(bytes)
        for (const { place, byte } of changes) if (bodyAt < bytes.length) bytes[bodyAt + (place % (bytes.length - bodyAt))] = byte
        seen[await serve({ ...frame, bytes })]++
        assert.equal(assembly.waiting, 0)
        if (seen.answered % 50 === 0) await sing(sung++)
      }),
      { numRuns: 3000, ...SEED },
    )
    assert.ok(seen.unreadable > 100 && seen.answered > 100, `the damage reached nothing: ${JSON.stringify(seen)}`)
  })

  /** One record in, and the same one out. */
  const sing = async (note: number) => {
    const builder = new BatchBuilder()
    builder.tryAppend({ timestamp: 1, key: null, value: `note ${note}` })
    const topicData = [{ name: 'canary', partitionData: [{ index: 0, records: builder.build() }] }]
    const produced = await assembly.ask('Produce', 9, { acks: -1, timeoutMs: 1000, topicData })
    assert.ok(typeof produced !== 'string')
    const { errorCode, baseOffset } = produced.responses[0]!.partitionResponses[0]!
    assert.equal(errorName(errorCode), 'NONE')
    const partitions = [{ partition: 0, fetchOffset: baseOffset, partitionMaxBytes: 1000 }]
    const fetched = await assembly.ask('Fetch', 11, { maxWaitMs: 0, minBytes: 1, topics: [{ topic: 'canary', partitions }] })
    assert.ok(typeof fetched !== 'string')
    const [batch] = iterateBatches(fetched.responses[0]!.partitions[0]!.records!)
    const [record] = batch!.records()
    assert.equal(String(record!.value), `note ${note}`)
  }

  it('come from every API of the data plane', () => {
    const apis = new Set(frames.map(({ api }) => api))
    assert.deepEqual(
      [...apis].sort((a, b) => APIS[a].key - APIS[b].key),
      [
        'Produce',
        'Fetch',
        'ListOffsets',
        'DeleteRecords',
        'InitProducerId',
        'OffsetForLeaderEpoch',
        'DescribeLogDirs',
        'DescribeProducers',
      ],
    )
  })
})
