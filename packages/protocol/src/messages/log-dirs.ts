// Log directories of a broker: describe, move replicas between them, report assignments (KIP-113, KIP-858).

import { array, bool, int16, int32, int64, nullableArray, string, uuid } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

export const DescribeLogDirsRequest = message(
  'DescribeLogDirsRequest',
  { key: 35, versions: '0-5', flexible: '2+' },
  {
    topics: nullableArray('0+', {
      topic: string('0+', { mapKey: true }),
      partitions: array('0+', 'int32'),
    }),
  },
)
export type DescribeLogDirsRequest = Body<typeof DescribeLogDirsRequest>

export const DescribeLogDirsResponse = message(
  'DescribeLogDirsResponse',
  { key: 35, versions: '0-5', flexible: '2+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: int16('3+', { ignorable: true }),
    results: array('0+', {
      errorCode: int16('0+'),
      logDir: string('0+'),
      topics: array('0+', {
        name: string('0+'),
        partitions: array('0+', {
          partitionIndex: int32('0+'),
          partitionSize: int64('0+'),
          offsetLag: int64('0+'),
          isFutureKey: bool('0+'), // the replica is being moved here (KIP-113)
        }),
      }),
      totalBytes: int64('4+', { default: -1, ignorable: true }), // -1 unknown (KIP-827)
      usableBytes: int64('4+', { default: -1, ignorable: true }),
      isCordoned: bool('5+', { ignorable: true }), // no new partitions here (KIP-1066)
    }),
  },
)
export type DescribeLogDirsResponse = Body<typeof DescribeLogDirsResponse>

export const AlterReplicaLogDirsRequest = message(
  'AlterReplicaLogDirsRequest',
  { key: 34, versions: '0-2', flexible: '2+' },
  {
    dirs: array('0+', {
      path: string('0+', { mapKey: true }),
      topics: array('0+', {
        name: string('0+', { mapKey: true }),
        partitions: array('0+', 'int32'),
      }),
    }),
  },
)
export type AlterReplicaLogDirsRequest = Body<typeof AlterReplicaLogDirsRequest>

export const AlterReplicaLogDirsResponse = message(
  'AlterReplicaLogDirsResponse',
  { key: 34, versions: '0-2', flexible: '2+' },
  {
    throttleTimeMs: int32('0+'),
    results: array('0+', {
      topicName: string('0+'),
      partitions: array('0+', {
        partitionIndex: int32('0+'),
        errorCode: int16('0+'),
      }),
    }),
  },
)
export type AlterReplicaLogDirsResponse = Body<typeof AlterReplicaLogDirsResponse>

export const AssignReplicasToDirsRequest = message(
  'AssignReplicasToDirsRequest',
  { key: 73, versions: '0', flexible: '0+' },
  {
    brokerId: int32('0+'),
    brokerEpoch: int64('0+', { default: -1 }),
    directories: array('0+', {
      id: uuid('0+'),
      topics: array('0+', {
        topicId: uuid('0+'),
        partitions: array('0+', {
          partitionIndex: int32('0+'),
        }),
      }),
    }),
  },
)
export type AssignReplicasToDirsRequest = Body<typeof AssignReplicasToDirsRequest>

export const AssignReplicasToDirsResponse = message(
  'AssignReplicasToDirsResponse',
  { key: 73, versions: '0', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: int16('0+'),
    directories: array('0+', {
      id: uuid('0+'),
      topics: array('0+', {
        topicId: uuid('0+'),
        partitions: array('0+', {
          partitionIndex: int32('0+'),
          errorCode: int16('0+'),
        }),
      }),
    }),
  },
)
export type AssignReplicasToDirsResponse = Body<typeof AssignReplicasToDirsResponse>
