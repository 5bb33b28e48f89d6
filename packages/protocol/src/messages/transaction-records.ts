// Records of __transaction_state.

import { array, int8, int16, int32, int64, nullableArray, string, timestamp } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

// One per transactional id; a value of null removes it.
export const TransactionLogKey = message(
  'TransactionLogKey',
  { versions: '0' },
  {
    transactionalId: string('0'),
  },
)
export type TransactionLogKey = Body<typeof TransactionLogKey>

export const TransactionLogValue = message(
  'TransactionLogValue',
  { versions: '0-1', flexible: '1+' },
  {
    producerId: int64('0+'),
    previousProducerId: int64('1+', { default: -1, tag: 0 }), // KIP-890
    nextProducerId: int64('1+', { default: -1, tag: 1 }), // KIP-890
    producerEpoch: int16('0+'),
    nextProducerEpoch: int16('1+', { default: -1, tag: 3 }),
    transactionTimeoutMs: int32('0+'),
    // 0 Empty, 1 Ongoing, 2 PrepareCommit, 3 PrepareAbort, 4 CompleteCommit,
    // 5 CompleteAbort, 6 Dead, 7 PrepareEpochFence
    transactionStatus: int8('0+'),
    transactionPartitions: nullableArray('0+', {
      topic: string('0+'),
      partitionIds: array('0+', 'int32'),
    }),
    transactionLastUpdateTimestampMs: timestamp('0+'),
    transactionStartTimestampMs: timestamp('0+'),
    clientTransactionVersion: int16('1+', { tag: 2 }),
  },
)
export type TransactionLogValue = Body<typeof TransactionLogValue>
