import assert from 'node:assert/strict'
import { errorCode, iterateAnyBatches, RecordBatch, RecordsError } from '@mq/protocol'
import { vectors } from '../../../conformance/index.js'
import { harness, produce } from './log.test.support.js'

interface ProduceResult {
  readonly produceVersion: number
  readonly errorCode: number
  readonly baseOffset: number
  readonly logAppendTime: number
}

const UNKNOWN_SERVER_ERROR = -1
const TRANSACTIONAL_ID_AUTHORIZATION_FAILED = 53

/** Where 3.9.1 trips over the bytes and answers -1, we say what is wrong with them. */
function better(name: string): number {
  if (name.startsWith('corrupt/codec-')) return errorCode('UNSUPPORTED_COMPRESSION_TYPE')
  if (name === 'corrupt/length-2147483647') return errorCode('CORRUPT_MESSAGE')
  return errorCode('INVALID_RECORD')
}

/** The broker refuses it before the log sees it: a transactional batch without a transactional id. */
function isTransactional(bytes: Buffer): boolean {
  try {
    for (const batch of iterateAnyBatches(bytes)) return batch instanceof RecordBatch && batch.isTransactional
  } catch (error) {
    assert.ok(error instanceof RecordsError)
  }
  return false
}

describe('every given batch, sent one after the other to one partition', () => {
  const results = vectors.json<Record<string, ProduceResult>>('records/produce-results.json')

  it('is answered as Apache Kafka 3.9.1 answered, or better where it answered -1', async () => {
    const { log } = await harness()
    const answers: Record<string, unknown> = {}
    const expected: Record<string, unknown> = {}
    for (const [name, result] of Object.entries(results)) {
      const bytes = Buffer.from(vectors.bytes(`records/${name}.bin`))
      if (result.errorCode === TRANSACTIONAL_ID_AUTHORIZATION_FAILED) {
        assert.ok(isTransactional(bytes), name)
        continue
      }
      const code = result.errorCode === UNKNOWN_SERVER_ERROR ? better(name) : result.errorCode
      expected[name] = { errorCode: code, baseOffset: result.baseOffset, logAppendTime: result.logAppendTime }
      const outcome = await produce(log, bytes)
      answers[name] =
        outcome.kind === 'appended'
          ? { errorCode: 0, baseOffset: outcome.firstOffset, logAppendTime: outcome.logAppendTime }
          : { errorCode: errorCode(outcome.error), baseOffset: -1, logAppendTime: -1 }
    }
    assert.deepEqual(answers, expected)
  })
})
