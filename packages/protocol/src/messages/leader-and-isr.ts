// LeaderAndIsr: the controller tells a broker what it leads and follows (ZooKeeper mode).

import { array, bool, int8, int16, int32, int64, string, uuid } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

const leaderAndIsrPartitionState = {
  topicName: string('0-1', { ignorable: true }),
  partitionIndex: int32('0+'),
  controllerEpoch: int32('0+'),
  leader: int32('0+'),
  leaderEpoch: int32('0+'),
  isr: array('0+', 'int32'),
  partitionEpoch: int32('0+'), // version of the state in ZooKeeper
  replicas: array('0+', 'int32'),
  addingReplicas: array('3+', 'int32', { ignorable: true }),
  removingReplicas: array('3+', 'int32', { ignorable: true }),
  isNew: bool('1+', { ignorable: true }), // create the log if it is not there
  leaderRecoveryState: int8('6+'), // 1: elected uncleanly, not yet recovered
} as const

// v2 groups by topic, v5 has topic ids (KIP-516), v6 says whether a leader recovers from an unclean election (KIP-704).
export const LeaderAndIsrRequest = message(
  'LeaderAndIsrRequest',
  { key: 4, versions: '0-7', flexible: '4+' },
  {
    controllerId: int32('0+'),
    isKRaftController: bool('7+'), // KIP-866
    controllerEpoch: int32('0+'),
    brokerEpoch: int64('2+', { default: -1, ignorable: true }), // of the receiver: an earlier registration refuses (KIP-380)
    type: int8('5+'), // 0 unknown, 1 incremental, 2 full
    ungroupedPartitionStates: array('0-1', leaderAndIsrPartitionState),
    topicStates: array('2+', {
      topicName: string('2+'),
      topicId: uuid('5+', { ignorable: true }),
      partitionStates: array('2+', leaderAndIsrPartitionState),
    }),
    liveLeaders: array('0+', {
      brokerId: int32('0+'),
      hostName: string('0+'),
      port: int32('0+'),
    }),
  },
)
export type LeaderAndIsrRequest = Body<typeof LeaderAndIsrRequest>

const leaderAndIsrPartitionError = {
  topicName: string('0-4', { ignorable: true }),
  partitionIndex: int32('0+'),
  errorCode: int16('0+'),
} as const

export const LeaderAndIsrResponse = message(
  'LeaderAndIsrResponse',
  { key: 4, versions: '0-7', flexible: '4+' },
  {
    errorCode: int16('0+'),
    partitionErrors: array('0-4', leaderAndIsrPartitionError),
    topics: array('5+', {
      topicId: uuid('5+', { mapKey: true }),
      partitionErrors: array('5+', leaderAndIsrPartitionError),
    }),
  },
)
export type LeaderAndIsrResponse = Body<typeof LeaderAndIsrResponse>
