// Offsets of share groups: describe, alter, delete (KIP-932).

import { array, int16, int32, int64, nullableArray, nullableString, offset, string, uuid } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

export const DescribeShareGroupOffsetsRequest = message(
  'DescribeShareGroupOffsetsRequest',
  { key: 90, versions: '0-1', flexible: '0+' },
  {
    groups: array('0+', {
      groupId: string('0+'),
      topics: nullableArray('0+', {
        topicName: string('0+'),
        partitions: array('0+', 'int32'),
      }),
    }),
  },
)
export type DescribeShareGroupOffsetsRequest = Body<typeof DescribeShareGroupOffsetsRequest>

export const DescribeShareGroupOffsetsResponse = message(
  'DescribeShareGroupOffsetsResponse',
  { key: 90, versions: '0-1', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    groups: array('0+', {
      groupId: string('0+'),
      topics: array('0+', {
        topicName: string('0+'),
        topicId: uuid('0+'),
        partitions: array('0+', {
          partitionIndex: int32('0+'),
          startOffset: offset('0+'),
          leaderEpoch: int32('0+'),
          lag: int64('1+', { default: -1, ignorable: true }),
          errorCode: int16('0+'),
          errorMessage: nullableString('0+', { default: null }),
        }),
      }),
      errorCode: int16('0+'),
      errorMessage: nullableString('0+', { default: null }),
    }),
  },
)
export type DescribeShareGroupOffsetsResponse = Body<typeof DescribeShareGroupOffsetsResponse>

export const AlterShareGroupOffsetsRequest = message(
  'AlterShareGroupOffsetsRequest',
  { key: 91, versions: '0', flexible: '0+' },
  {
    groupId: string('0+'),
    topics: array('0+', {
      topicName: string('0+', { mapKey: true }),
      partitions: array('0+', {
        partitionIndex: int32('0+'),
        startOffset: offset('0+'),
      }),
    }),
  },
)
export type AlterShareGroupOffsetsRequest = Body<typeof AlterShareGroupOffsetsRequest>

export const AlterShareGroupOffsetsResponse = message(
  'AlterShareGroupOffsetsResponse',
  { key: 91, versions: '0', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: int16('0+'),
    errorMessage: nullableString('0+', { default: null }),
    responses: array('0+', {
      topicName: string('0+', { mapKey: true }),
      topicId: uuid('0+'),
      partitions: array('0+', {
        partitionIndex: int32('0+'),
        errorCode: int16('0+'),
        errorMessage: nullableString('0+', { default: null }),
      }),
    }),
  },
)
export type AlterShareGroupOffsetsResponse = Body<typeof AlterShareGroupOffsetsResponse>

export const DeleteShareGroupOffsetsRequest = message(
  'DeleteShareGroupOffsetsRequest',
  { key: 92, versions: '0', flexible: '0+' },
  {
    groupId: string('0+'),
    topics: array('0+', {
      topicName: string('0+'),
    }),
  },
)
export type DeleteShareGroupOffsetsRequest = Body<typeof DeleteShareGroupOffsetsRequest>

export const DeleteShareGroupOffsetsResponse = message(
  'DeleteShareGroupOffsetsResponse',
  { key: 92, versions: '0', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: int16('0+'),
    errorMessage: nullableString('0+', { default: null }),
    responses: array('0+', {
      topicName: string('0+'),
      topicId: uuid('0+'),
      errorCode: int16('0+'),
      errorMessage: nullableString('0+', { default: null }),
    }),
  },
)
export type DeleteShareGroupOffsetsResponse = Body<typeof DeleteShareGroupOffsetsResponse>
