/** What the cleaner stores in place of a batch of which records are gone. */
import assert from 'node:assert/strict'
import { RecordBatch } from './batch.js'
import { BatchBuilder, type BatchOptions } from './builder.js'
import { LegacyBatch } from './legacy.js'
import { MessageSetBuilder } from './legacy-builder.js'
import { emptied, rewritten, rewrittenMessages } from './rewrite.js'

const OPTIONS: BatchOptions = {
  producerId: 7,
  producerEpoch: 3,
  baseSequence: 20,
  transactional: true,
  baseOffset: 100,
  leaderEpoch: 5,
}

function batch(options: BatchOptions = {}): RecordBatch {
  const builder = new BatchBuilder({ ...OPTIONS, ...options })
  for (let at = 0; at < 5; at++) {
    builder.tryAppend({ timestamp: 1000 + at, key: `k${at}`, value: `v${at}`, headers: [{ key: 'h', value: null }] })
  }
  return new RecordBatch(builder.build())
}

const pictures = (of: Iterable<{ offset: number; timestamp: number; sequence: number; key: Buffer | null }>) =>
  [...of].map(({ offset, timestamp, sequence, key }) => [offset, timestamp, sequence, String(key)])

describe('a batch of which records were taken', () => {
  for (const codec of ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const) {
    it(`keeps offsets, times, sequences and its end, with ${codec}`, () => {
      const whole = batch({ codec })
      const left = [...whole.records()].filter(({ offset }) => offset === 101 || offset === 103)
      const again = new RecordBatch(rewritten(whole, left, null))
      assert.ok(again.crcIsValid())
      assert.deepEqual(pictures(again.records()), pictures(left))
      const { baseOffset, lastOffset, lastSequence, codec: id, partitionLeaderEpoch, isTransactional } = again
      const expected = { baseOffset: 100, lastOffset: 104, lastSequence: 24, codec: whole.codec, partitionLeaderEpoch: 5 }
      assert.deepEqual(
        { baseOffset, lastOffset, lastSequence, codec: id, partitionLeaderEpoch, isTransactional },
        { ...expected, isTransactional: true },
      )
      assert.equal(again.baseTimestamp, 1001)
      assert.equal(again.maxTimestamp, 1003)
      assert.equal(again.deleteHorizonMs, null)
    })
  }

  it('has its delete horizon as base of the times, which stay', () => {
    const whole = batch()
    const again = new RecordBatch(rewritten(whole, whole.records() as never, 90_000))
    assert.equal(again.deleteHorizonMs, 90_000)
    assert.deepEqual(pictures(again.records()), pictures(whole.records() as never))
    assert.equal(again.maxTimestamp, 1004)
  })

  it('keeps the time of the append', () => {
    const whole = batch({ timestampType: 'LogAppendTime', logAppendTime: 5000 })
    const again = new RecordBatch(rewritten(whole, [[...whole.records()][2]!], 4000))
    assert.equal(again.timestampType, 'LogAppendTime')
    assert.deepEqual(pictures(again.records()), [[102, 5000, 22, 'k2']])
  })

  it('is a header with the end and the sequences when nothing is left', () => {
    const whole = batch({ codec: 'gzip', deleteHorizonMs: 9 })
    const empty = new RecordBatch(emptied(whole))
    assert.ok(empty.crcIsValid())
    assert.deepEqual([...empty.records()], [])
    const { sizeInBytes, baseOffset, lastOffset, baseSequence, codec, deleteHorizonMs, baseTimestamp, maxTimestamp } = empty
    assert.deepEqual(
      { sizeInBytes, baseOffset, lastOffset, baseSequence, codec, deleteHorizonMs, baseTimestamp, maxTimestamp },
      {
        sizeInBytes: 61,
        baseOffset: 100,
        lastOffset: 104,
        baseSequence: 20,
        codec: 0,
        deleteHorizonMs: null,
        baseTimestamp: -1,
        maxTimestamp: 1004,
      },
    )
    assert.equal(empty.isTransactional, true)
    assert.equal(whole.recordCount, 5, 'the batch itself stays as it is')
  })

  for (const magic of [0, 1] as const) {
    it(`of magic ${magic} keeps offsets and times in its wrapper`, () => {
      const builder = new MessageSetBuilder({ magic, codec: 'gzip' })
      for (let at = 0; at < 4; at++) {
        builder.append({ offset: 50 + at, timestamp: 1000 + at, key: Buffer.from(`k${at}`), value: Buffer.from('v') })
      }
      const whole = new LegacyBatch(builder.build())
      const left = [...whole.records()].filter(({ offset }) => offset % 2 === 0)
      const again = new LegacyBatch(rewrittenMessages(whole, left))
      assert.ok(again.crcIsValid())
      assert.equal(again.lastOffset, 52)
      assert.deepEqual(pictures(again.records()), pictures(left))
    })
  }
})
