// Reassignments of partitions (KIP-455): alter, list.

import { array, bool, int16, int32, nullableArray, nullableString, string } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

export const AlterPartitionReassignmentsRequest = message(
  'AlterPartitionReassignmentsRequest',
  { key: 45, versions: '0-1', flexible: '0+' },
  {
    timeoutMs: int32('0+', { default: 60000 }),
    allowReplicationFactorChange: bool('1+', { default: true }),
    topics: array('0+', {
      name: string('0+'),
      partitions: array('0+', {
        partitionIndex: int32('0+'),
        replicas: nullableArray('0+', 'int32', { default: null }),
      }),
    }),
  },
)
export type AlterPartitionReassignmentsRequest = Body<typeof AlterPartitionReassignmentsRequest>

export const AlterPartitionReassignmentsResponse = message(
  'AlterPartitionReassignmentsResponse',
  { key: 45, versions: '0-1', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    allowReplicationFactorChange: bool('1+', { default: true, ignorable: true }),
    errorCode: int16('0+'),
    errorMessage: nullableString('0+'),
    responses: array('0+', {
      name: string('0+'),
      partitions: array('0+', {
        partitionIndex: int32('0+'),
        errorCode: int16('0+'),
        errorMessage: nullableString('0+'),
      }),
    }),
  },
)
export type AlterPartitionReassignmentsResponse = Body<typeof AlterPartitionReassignmentsResponse>

export const ListPartitionReassignmentsRequest = message(
  'ListPartitionReassignmentsRequest',
  { key: 46, versions: '0', flexible: '0+' },
  {
    timeoutMs: int32('0+', { default: 60000 }),
    topics: nullableArray(
      '0+',
      {
        name: string('0+'),
        partitionIndexes: array('0+', 'int32'),
      },
      { default: null },
    ),
  },
)
export type ListPartitionReassignmentsRequest = Body<typeof ListPartitionReassignmentsRequest>

export const ListPartitionReassignmentsResponse = message(
  'ListPartitionReassignmentsResponse',
  { key: 46, versions: '0', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: int16('0+'),
    errorMessage: nullableString('0+'),
    topics: array('0+', {
      name: string('0+'),
      partitions: array('0+', {
        partitionIndex: int32('0+'),
        replicas: array('0+', 'int32'),
        addingReplicas: array('0+', 'int32'),
        removingReplicas: array('0+', 'int32'),
      }),
    }),
  },
)
export type ListPartitionReassignmentsResponse = Body<typeof ListPartitionReassignmentsResponse>
