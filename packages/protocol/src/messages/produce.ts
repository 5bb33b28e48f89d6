// Produce: record batches for partitions.

import {
  array,
  int16,
  int32,
  nullableRecords,
  nullableString,
  offset,
  string,
  struct,
  timestamp,
  uuid,
} from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

// v0-1 carry message sets of magic 0, v2 of magic 1, from v3 on batches of magic 2. v7 allows zstd (KIP-110).
// v13 names topics by id. With acks 0 there is no response.
export const ProduceRequest = message(
  'ProduceRequest',
  { key: 0, versions: '0-13', flexible: '9+' },
  {
    transactionalId: nullableString('3+', { default: null }), // KIP-98
    acks: int16('0+'), // 0 none, 1 the leader, -1 all in sync
    timeoutMs: int32('0+'), // how long to wait for the others
    topicData: array('0+', {
      name: string('0-12', { ignorable: true, mapKey: true }),
      topicId: uuid('13+', { ignorable: true, mapKey: true }),
      partitionData: array('0+', {
        index: int32('0+'),
        records: nullableRecords('0+'), // null is answered with INVALID_RECORD
      }),
    }),
  },
)
export type ProduceRequest = Body<typeof ProduceRequest>

export const ProduceResponse = message(
  'ProduceResponse',
  { key: 0, versions: '0-13', flexible: '9+' },
  {
    responses: array('0+', {
      name: string('0-12', { ignorable: true, mapKey: true }),
      topicId: uuid('13+', { ignorable: true, mapKey: true }),
      partitionResponses: array('0+', {
        index: int32('0+'),
        errorCode: int16('0+'),
        baseOffset: offset('0+'),
        logAppendTimeMs: timestamp('2+', { default: -1, ignorable: true }), // -1 with CreateTime
        logStartOffset: offset('5+', { default: -1, ignorable: true }), // -1 unknown
        // which records the broker refused (KIP-467)
        recordErrors: array(
          '8+',
          {
            batchIndex: int32('8+'), // index of the record in its batch
            batchIndexErrorMessage: nullableString('8+', { default: null }),
          },
          { ignorable: true },
        ),
        errorMessage: nullableString('8+', { default: null, ignorable: true }),
        // where to go instead (KIP-951)
        currentLeader: struct(
          '10+',
          {
            leaderId: int32('10+', { default: -1 }),
            leaderEpoch: int32('10+', { default: -1 }),
          },
          { tag: 0 },
        ),
      }),
    }),
    throttleTimeMs: int32('1+', { ignorable: true }),
    // addresses of the leaders above
    nodeEndpoints: array(
      '10+',
      {
        nodeId: int32('10+', { mapKey: true }),
        host: string('10+'),
        port: int32('10+'),
        rack: nullableString('10+', { default: null }),
      },
      { tag: 0 },
    ),
  },
)
export type ProduceResponse = Body<typeof ProduceResponse>
