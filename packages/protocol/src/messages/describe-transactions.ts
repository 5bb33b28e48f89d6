// DescribeTransactions and ListTransactions (KIP-664).

import { array, int16, int32, int64, nullableString, string, timestamp } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

export const DescribeTransactionsRequest = message(
  'DescribeTransactionsRequest',
  { key: 65, versions: '0', flexible: '0+' },
  {
    transactionalIds: array('0+', 'string'),
  },
)
export type DescribeTransactionsRequest = Body<typeof DescribeTransactionsRequest>

export const DescribeTransactionsResponse = message(
  'DescribeTransactionsResponse',
  { key: 65, versions: '0', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    transactionStates: array('0+', {
      errorCode: int16('0+'),
      transactionalId: string('0+'),
      transactionState: string('0+'),
      transactionTimeoutMs: int32('0+'),
      transactionStartTimeMs: timestamp('0+'),
      producerId: int64('0+'),
      producerEpoch: int16('0+'),
      topics: array('0+', {
        topic: string('0+', { mapKey: true }),
        partitions: array('0+', 'int32'),
      }),
    }),
  },
)
export type DescribeTransactionsResponse = Body<typeof DescribeTransactionsResponse>

export const ListTransactionsRequest = message(
  'ListTransactionsRequest',
  { key: 66, versions: '0-2', flexible: '0+' },
  {
    stateFilters: array('0+', 'string'),
    producerIdFilters: array('0+', 'int64'),
    durationFilter: int64('1+', { default: -1 }), // only those open for longer, in ms; -1: all (KIP-994)
    transactionalIdPattern: nullableString('2+', { default: null }), // KIP-1152
  },
)
export type ListTransactionsRequest = Body<typeof ListTransactionsRequest>

export const ListTransactionsResponse = message(
  'ListTransactionsResponse',
  { key: 66, versions: '0-2', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: int16('0+'),
    unknownStateFilters: array('0+', 'string'),
    transactionStates: array('0+', {
      transactionalId: string('0+'),
      producerId: int64('0+'),
      transactionState: string('0+'),
    }),
  },
)
export type ListTransactionsResponse = Body<typeof ListTransactionsResponse>
