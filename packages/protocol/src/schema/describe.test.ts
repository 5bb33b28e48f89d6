// Schemas as text and bodies as JSON.

import assert from 'node:assert/strict'
import { decodeBody, encodeBody, FetchRequest, HeartbeatRequest, OffsetCommitValue, ProduceRequest } from '../index.js'
import { MESSAGES } from './arbitrary.test.js'
import { describeSchema, toJson } from './describe.js'

describe('a schema as text', () => {
  it('has one line per field', () => {
    assert.equal(
      describeSchema(HeartbeatRequest),
      [
        'HeartbeatRequest 0-4, flexible 4+',
        '  groupId: string          0+',
        '  generationId: int32      0+',
        '  memberId: string         0+',
        '  groupInstanceId: string  3+  nullable  default null',
      ].join('\n'),
    )
  })

  it('has only the fields of a version when one is named', () => {
    assert.ok(!describeSchema(HeartbeatRequest, 2).includes('groupInstanceId'))
    assert.match(describeSchema(FetchRequest, 17), /clusterId: string +12\+ {2}nullable {2}default null {2}tag 0 {2}ignorable/)
  })

  it('can be had of every message', () => {
    for (const schema of MESSAGES) assert.ok(describeSchema(schema).startsWith(schema.name))
  })
})

describe('a body as JSON', () => {
  it('has bytes as base64, wide numbers as digits, and only the fields of the version', () => {
    const bytes = encodeBody(OffsetCommitValue, 3, { offset: 2n ** 60n, metadata: 'm' })
    assert.deepEqual(toJson(OffsetCommitValue, 3, decodeBody(OffsetCommitValue, 3, bytes, { int64: 'exact' })), {
      offset: '1152921504606846976',
      leaderEpoch: -1,
      metadata: 'm',
      commitTimestamp: 0,
    })
    const produce = { topicData: [{ name: 't', partitionData: [{ index: 1, records: Buffer.from('abc') }] }] }
    const json = toJson(ProduceRequest, 9, decodeBody(ProduceRequest, 9, encodeBody(ProduceRequest, 9, produce)))
    assert.deepEqual(json.topicData, [{ name: 't', partitionData: [{ index: 1, records: 'YWJj' }] }])
    assert.equal(JSON.stringify(json), JSON.stringify(JSON.parse(JSON.stringify(json))))
  })
})
