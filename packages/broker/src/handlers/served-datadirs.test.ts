/** What a real broker left on its disk, read by Fetch as consumers of every age would read it. */
import assert from 'node:assert/strict'
import { createHash, type Hash } from 'node:crypto'
import { iterateAnyBatches, RecordBatch } from '@mq/protocol'
import { vectors } from '../../../../conformance/index.js'
import { Assembly, errorName } from './testing/assembly.js'
import { openTestLogs } from './testing/test-logs.js'

/** The day on which the directories were made. */
const MADE = Date.UTC(2026, 10, 29, 21)

interface Expected {
  readonly partitions: Readonly<Record<string, ExpectedPartition>>
}
interface ExpectedPartition {
  readonly topic: string
  readonly partition: number
  readonly topicId: string | null
  readonly logStartOffset: number
  readonly highWatermark: number
  readonly lastStableOffset: number
  readonly read_uncommitted: { readonly records: number; readonly sha256: string }
  readonly read_committed: { readonly records: number; readonly sha256: string }
}

interface Seen {
  records: number
  readonly hash: Hash
}

function add(seen: Seen, record: { offset: number; key: Buffer | null; value: Buffer | null }): void {
  seen.records++
  const offset = Buffer.alloc(8)
  offset.writeBigInt64BE(BigInt(record.offset))
  seen.hash.update(offset)
  for (const part of [record.key, record.value]) {
    const length = Buffer.alloc(4)
    length.writeInt32BE(part === null ? -1 : part.length)
    seen.hash.update(length)
    if (part !== null) seen.hash.update(part)
  }
}

/** Reads a partition from its start to where the isolation level lets it, leaving out what was aborted. */
async function consume(
  assembly: Assembly,
  of: ExpectedPartition,
  version: number,
  isolationLevel: number,
): Promise<Seen | string> {
  const seen: Seen = { records: 0, hash: createHash('sha256') }
  const end = isolationLevel === 1 ? of.lastStableOffset : of.highWatermark
  let offset = of.logStartOffset
  while (offset < end) {
    const topic = version >= 13 ? { topicId: of.topicId! } : { topic: of.topic }
    const partitions = [{ partition: of.partition, fetchOffset: offset, partitionMaxBytes: version <= 2 ? 4_000_000 : 20_000 }]
    const answer = await assembly.ask('Fetch', version, {
      maxWaitMs: 0,
      minBytes: 1,
      isolationLevel,
      topics: [{ ...topic, partitions }],
    })
    assert.ok(typeof answer !== 'string')
    const { errorCode, records, abortedTransactions } = answer.responses[0]!.partitions[0]!
    if (errorCode !== 0) return errorName(errorCode)
    const aborted = [...(abortedTransactions ?? [])].sort((a, b) => a.firstOffset - b.firstOffset)
    const aborting = new Set<number>()
    const from = offset
    for (const batch of iterateAnyBatches(records ?? Buffer.alloc(0))) {
      offset = Math.max(offset, batch.nextOffset)
      if (batch instanceof RecordBatch && batch.hasProducerId) {
        while (aborted[0] !== undefined && aborted[0].firstOffset <= batch.lastOffset) aborting.add(aborted.shift()!.producerId)
        if (batch.isControl) aborting.delete(batch.producerId)
        if (batch.isControl || (batch.isTransactional && aborting.has(batch.producerId))) continue
      }
      for (const record of batch.records()) if (record.offset >= from) add(seen, record)
    }
    if (offset === from) break
  }
  return seen
}

for (const variant of vectors.datadirs().filter((name) => name.endsWith('/clean'))) {
  describe(`the data directory ${variant}, served`, function () {
    this.timeout(60_000)
    const { partitions } = vectors.json<Expected>(`datadirs/${variant}.expected.json`)
    let assembly: Assembly
    let remove = () => {}

    before(async () => {
      const extracted = vectors.extractDatadir(variant)
      remove = () => extracted.remove()
      assembly = await Assembly.adopt(await openTestLogs({ directory: extracted.logs, brokerId: 1, now: MADE }))
    })
    after(async () => {
      await assembly.partitions.logs.close()
      remove()
    })

    const check = async (version: number, level: 'read_uncommitted' | 'read_committed') => {
      const differences: string[] = []
      for (const [name, expected] of Object.entries(partitions)) {
        if (version >= 13 && expected.topicId === null) continue
        const seen = await consume(assembly, expected, version, level === 'read_committed' ? 1 : 0)
        // What old clients cannot have is refused, never garbled.
        if (seen === 'UNSUPPORTED_COMPRESSION_TYPE' && version <= 3 && name.includes('zstd')) continue
        const want = `${expected[level].records} ${expected[level].sha256}`
        const got = typeof seen === 'string' ? seen : `${seen.records} ${seen.hash.digest('hex')}`
        if (got !== want) differences.push(`${name}: ${got}, expected ${want}`)
      }
      assert.deepEqual(differences, [])
    }

    for (const version of [4, 11, 17]) {
      it(`gives consumers of v${version} all records`, () => check(version, 'read_uncommitted'))
      it(`gives consumers of v${version} the committed records when they ask for these`, () => check(version, 'read_committed'))
    }
    for (const version of [0, 2, 3])
      it(`gives old consumers of v${version} all records in their format`, () => check(version, 'read_uncommitted'))

    it('names its ends as the real broker did', async () => {
      for (const [name, { topic, partition, logStartOffset, highWatermark, lastStableOffset }] of Object.entries(partitions)) {
        const list = async (timestamp: number, isolationLevel: number) => {
          const topics = [{ name: topic, partitions: [{ partitionIndex: partition, timestamp }] }]
          const answer = await assembly.ask('ListOffsets', 5, { replicaId: -1, isolationLevel, topics })
          assert.ok(typeof answer !== 'string')
          return answer.topics[0]!.partitions[0]!.offset
        }
        const ends = [await list(-2, 0), await list(-1, 0), await list(-1, 1)]
        assert.deepEqual(ends, [logStartOffset, highWatermark, lastStableOffset], name)
      }
    })
  })
}
