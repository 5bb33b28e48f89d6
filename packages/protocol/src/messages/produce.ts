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

export const ProduceRequest = message(
  'ProduceRequest',
  { key: 0, versions: '0-13', flexible: '9+' },
  {
    transactionalId: nullableString('3+', { default: null }),
    acks: int16('0+'),
    timeoutMs: int32('0+'),
    topicData: array('0+', {
      name: string('0-12', { ignorable: true, mapKey: true }),
      topicId: uuid('13+', { ignorable: true, mapKey: true }),
      partitionData: array('0+', {
        index: int32('0+'),
        records: nullableRecords('0+'),
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
        logAppendTimeMs: timestamp('2+', { default: -1, ignorable: true }),
        logStartOffset: offset('5+', { default: -1, ignorable: true }),
        recordErrors: array(
          '8+',
          {
            batchIndex: int32('8+'),
            batchIndexErrorMessage: nullableString('8+', { default: null }),
          },
          { ignorable: true },
        ),
        errorMessage: nullableString('8+', { default: null, ignorable: true }),
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
