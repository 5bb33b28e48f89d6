// DescribeProducers: producer state of partitions (KIP-664).

import { array, int16, int32, int64, nullableString, offset, string, timestamp } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

export const DescribeProducersRequest = message(
  'DescribeProducersRequest',
  { key: 61, versions: '0', flexible: '0+' },
  {
    topics: array('0+', {
      name: string('0+', { mapKey: true }),
      partitionIndexes: array('0+', 'int32'),
    }),
  },
)
export type DescribeProducersRequest = Body<typeof DescribeProducersRequest>

export const DescribeProducersResponse = message(
  'DescribeProducersResponse',
  { key: 61, versions: '0', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    topics: array('0+', {
      name: string('0+'),
      partitions: array('0+', {
        partitionIndex: int32('0+'),
        errorCode: int16('0+'),
        errorMessage: nullableString('0+', { default: null }),
        activeProducers: array('0+', {
          producerId: int64('0+'),
          producerEpoch: int32('0+'),
          lastSequence: int32('0+', { default: -1 }),
          lastTimestamp: timestamp('0+', { default: -1 }),
          coordinatorEpoch: int32('0+'),
          currentTxnStartOffset: offset('0+', { default: -1 }),
        }),
      }),
    }),
  },
)
export type DescribeProducersResponse = Body<typeof DescribeProducersResponse>
