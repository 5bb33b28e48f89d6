// StopReplica: the controller ends replicas on a broker (ZooKeeper mode).

import { array, bool, int16, int32, int64, string } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

// v1 groups by topic, v3 has leader epochs, so that an old request cannot delete a new replica (KIP-570).
export const StopReplicaRequest = message(
  'StopReplicaRequest',
  { key: 5, versions: '0-4', flexible: '2+' },
  {
    controllerId: int32('0+'),
    isKRaftController: bool('4+'),
    controllerEpoch: int32('0+'),
    brokerEpoch: int64('1+', { default: -1, ignorable: true }),
    deletePartitions: bool('0-2'),
    ungroupedPartitions: array('0', {
      topicName: string('0'),
      partitionIndex: int32('0'),
    }),
    topics: array('1-2', {
      name: string('1-2'),
      partitionIndexes: array('1-2', 'int32'),
    }),
    topicStates: array('3+', {
      topicName: string('3+'),
      partitionStates: array('3+', {
        partitionIndex: int32('3+'),
        leaderEpoch: int32('3+', { default: -1 }), // -1 unknown, -2 the topic is being deleted
        deletePartition: bool('3+'), // delete the log as well
      }),
    }),
  },
)
export type StopReplicaRequest = Body<typeof StopReplicaRequest>

export const StopReplicaResponse = message(
  'StopReplicaResponse',
  { key: 5, versions: '0-4', flexible: '2+' },
  {
    errorCode: int16('0+'),
    partitionErrors: array('0+', {
      topicName: string('0+'),
      partitionIndex: int32('0+'),
      errorCode: int16('0+'),
    }),
  },
)
export type StopReplicaResponse = Body<typeof StopReplicaResponse>
