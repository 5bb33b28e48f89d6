/** What the headers of a produce request's batches allow. */
import assert from 'node:assert/strict'
import { BatchBuilder, type BatchOptions, MessageSetBuilder } from '@mq/protocol'
import { allowedByVersion, headersOf } from './produce-rules.js'

function batch(options: BatchOptions = {}): Buffer {
  const builder = new BatchBuilder(options)
  builder.tryAppend({ timestamp: 1, key: 'k', value: 'v' })
  return builder.build()
}

function messages(magic: 0 | 1): Buffer {
  const builder = new MessageSetBuilder({ magic })
  builder.append({ offset: 0, timestamp: 1, key: null, value: Buffer.from('v') })
  return builder.build()
}

function allowed(version: number, records: Buffer | null): string {
  const headers = headersOf(records)
  return headers === 'CORRUPT_MESSAGE' ? headers : allowedByVersion(version, records, headers)
}

describe('records of a produce request', () => {
  it('are one batch of magic 2 from v3 on', () => {
    assert.equal(allowed(3, batch()), 'allowed')
    assert.equal(allowed(11, batch()), 'allowed')
    assert.equal(allowed(3, messages(1)), 'INVALID_RECORD')
    assert.equal(allowed(3, Buffer.concat([batch(), batch()])), 'INVALID_RECORD')
    assert.equal(allowed(3, Buffer.alloc(0)), 'INVALID_RECORD')
  })

  it('are anything whole before v3, even nothing', () => {
    for (const records of [messages(0), messages(1), batch(), Buffer.concat([messages(0), messages(1)]), Buffer.alloc(0)]) {
      assert.equal(allowed(2, records), 'allowed')
    }
  })

  it('are refused when null, in every version', () => {
    for (const version of [0, 2, 3, 11]) assert.equal(allowed(version, null), 'INVALID_RECORD')
  })

  it('may be zstd from v7 on (A-007)', () => {
    assert.equal(allowed(6, batch({ codec: 'zstd' })), 'UNSUPPORTED_COMPRESSION_TYPE')
    assert.equal(allowed(7, batch({ codec: 'zstd' })), 'allowed')
    assert.equal(allowed(6, batch({ codec: 'lz4' })), 'allowed')
  })

  it('are corrupt with a length or a magic that no batch has', () => {
    for (const length of [-1, 0, 13, 0x7fffffff]) {
      const records = batch()
      records.writeInt32BE(length, 8)
      assert.equal(headersOf(records), 'CORRUPT_MESSAGE')
    }
    for (const magic of [-1, 3, 9, 127]) {
      const records = batch()
      records.writeInt8(magic, 16)
      assert.equal(headersOf(records), 'CORRUPT_MESSAGE')
    }
  })

  it('do not count what is cut off at the end', () => {
    const records = batch()
    assert.equal(allowed(3, Buffer.concat([records, records.subarray(0, 40)])), 'allowed')
    assert.equal(allowed(3, records.subarray(0, 40)), 'INVALID_RECORD')
  })

  it('belong to a transaction when any of them does', () => {
    const transactional = batch({ transactional: true, producerId: 1, producerEpoch: 0, baseSequence: 0 })
    const isTransactional = (records: Buffer) => {
      const headers = headersOf(records)
      return headers !== 'CORRUPT_MESSAGE' && headers.isTransactional
    }
    assert.equal(isTransactional(transactional), true)
    assert.equal(isTransactional(Buffer.concat([batch(), transactional])), true)
    assert.equal(isTransactional(batch()), false)
    assert.equal(isTransactional(messages(1)), false)
  })
})
