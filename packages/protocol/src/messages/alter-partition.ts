// AlterPartition: a leader proposes an ISR to the controller (KIP-497).

import { array, int8, int16, int32, int64, string, uuid } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

// v2 has topic ids, v3 broker epochs of the proposed members (KIP-903).
export const AlterPartitionRequest = message(
  'AlterPartitionRequest',
  { key: 56, versions: '0-3', flexible: '0+' },
  {
    brokerId: int32('0+'),
    brokerEpoch: int64('0+', { default: -1 }),
    topics: array('0+', {
      topicName: string('0-1', { ignorable: true }),
      topicId: uuid('2+', { ignorable: true }),
      partitions: array('0+', {
        partitionIndex: int32('0+'),
        leaderEpoch: int32('0+'),
        newIsr: array('0-2', 'int32'), // broker ids
        // KIP-903
        newIsrWithEpochs: array('3+', {
          brokerId: int32('3+'),
          brokerEpoch: int64('3+', { default: -1 }),
        }),
        leaderRecoveryState: int8('1+'), // KIP-704
        partitionEpoch: int32('0+'), // that the leader knows: an old one is refused
      }),
    }),
  },
)
export type AlterPartitionRequest = Body<typeof AlterPartitionRequest>

export const AlterPartitionResponse = message(
  'AlterPartitionResponse',
  { key: 56, versions: '0-3', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: int16('0+'),
    topics: array('0+', {
      topicName: string('0-1', { ignorable: true }),
      topicId: uuid('2+', { ignorable: true }),
      partitions: array('0+', {
        partitionIndex: int32('0+'),
        errorCode: int16('0+'),
        leaderId: int32('0+'),
        leaderEpoch: int32('0+'),
        isr: array('0+', 'int32'),
        leaderRecoveryState: int8('1+', { ignorable: true }),
        partitionEpoch: int32('0+'),
      }),
    }),
  },
)
export type AlterPartitionResponse = Body<typeof AlterPartitionResponse>
