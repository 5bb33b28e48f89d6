// UpdateMetadata: the controller spreads the picture of the cluster (ZooKeeper mode).

import { array, bool, int8, int16, int32, int64, nullableString, string, uuid } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

const updateMetadataPartitionState = {
  topicName: string('0-4', { ignorable: true }),
  partitionIndex: int32('0+'),
  controllerEpoch: int32('0+'),
  leader: int32('0+'),
  leaderEpoch: int32('0+'),
  isr: array('0+', 'int32'),
  zkVersion: int32('0+'), // version of the state in ZooKeeper
  replicas: array('0+', 'int32'),
  offlineReplicas: array('4+', 'int32', { ignorable: true }),
} as const

// v5 groups by topic, v7 has topic ids (KIP-516).
export const UpdateMetadataRequest = message(
  'UpdateMetadataRequest',
  { key: 6, versions: '0-8', flexible: '6+' },
  {
    controllerId: int32('0+'),
    isKRaftController: bool('8+'),
    type: int8('8+', { tag: 0 }),
    controllerEpoch: int32('0+'),
    brokerEpoch: int64('5+', { default: -1, ignorable: true }), // of the receiver (KIP-380)
    ungroupedPartitionStates: array('0-4', updateMetadataPartitionState),
    topicStates: array('5+', {
      topicName: string('5+'),
      topicId: uuid('7+', { ignorable: true }),
      partitionStates: array('5+', updateMetadataPartitionState),
    }),
    liveBrokers: array('0+', {
      id: int32('0+'),
      v0Host: string('0', { ignorable: true }),
      v0Port: int32('0', { ignorable: true }),
      endpoints: array(
        '1+',
        {
          port: int32('1+'),
          host: string('1+'),
          listener: string('3+', { ignorable: true }),
          securityProtocol: int16('1+'),
        },
        { ignorable: true },
      ),
      rack: nullableString('2+', { ignorable: true }),
    }),
  },
)
export type UpdateMetadataRequest = Body<typeof UpdateMetadataRequest>

export const UpdateMetadataResponse = message(
  'UpdateMetadataResponse',
  { key: 6, versions: '0-8', flexible: '6+' },
  {
    errorCode: int16('0+'),
  },
)
export type UpdateMetadataResponse = Body<typeof UpdateMetadataResponse>
