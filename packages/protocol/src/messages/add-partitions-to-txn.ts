// AddPartitionsToTxn: partitions enter a transaction; from version 4 brokers ask for several at once (KIP-890).

import { array, bool, int16, int32, int64, string } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

const addPartitionsToTxnTopic = {
  name: string('0+', { mapKey: true }),
  partitions: array('0+', 'int32'),
} as const

// Up to v3 one transaction of a client, from v4 on several, asked by brokers that verify (KIP-890).
export const AddPartitionsToTxnRequest = message(
  'AddPartitionsToTxnRequest',
  { key: 24, versions: '0-5', flexible: '3+' },
  {
    transactions: array('4+', {
      transactionalId: string('4+', { mapKey: true }),
      producerId: int64('4+'),
      producerEpoch: int16('4+'),
      verifyOnly: bool('4+'), // is the partition in the transaction? adds nothing
      topics: array('4+', addPartitionsToTxnTopic),
    }),
    v3AndBelowTransactionalId: string('0-3'),
    v3AndBelowProducerId: int64('0-3'),
    v3AndBelowProducerEpoch: int16('0-3'),
    v3AndBelowTopics: array('0-3', addPartitionsToTxnTopic),
  },
)
export type AddPartitionsToTxnRequest = Body<typeof AddPartitionsToTxnRequest>

const addPartitionsToTxnPartitionResult = {
  partitionIndex: int32('0+', { mapKey: true }),
  partitionErrorCode: int16('0+'),
} as const

const addPartitionsToTxnTopicResult = {
  name: string('0+', { mapKey: true }),
  resultsByPartition: array('0+', addPartitionsToTxnPartitionResult),
} as const

export const AddPartitionsToTxnResponse = message(
  'AddPartitionsToTxnResponse',
  { key: 24, versions: '0-5', flexible: '3+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: int16('4+', { ignorable: true }),
    resultsByTransaction: array('4+', {
      transactionalId: string('4+', { mapKey: true }),
      topicResults: array('4+', addPartitionsToTxnTopicResult),
    }),
    resultsByTopicV3AndBelow: array('0-3', addPartitionsToTxnTopicResult),
  },
)
export type AddPartitionsToTxnResponse = Body<typeof AddPartitionsToTxnResponse>
