// Share groups (KIP-932): what the share coordinator keeps for share-partition leaders.

import { array, int8, int16, int32, nullableString, offset, string, uuid } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

export const InitializeShareGroupStateRequest = message(
  'InitializeShareGroupStateRequest',
  { key: 83, versions: '0', flexible: '0+' },
  {
    groupId: string('0+'),
    topics: array('0+', {
      topicId: uuid('0+'),
      partitions: array('0+', {
        partition: int32('0+'),
        stateEpoch: int32('0+'),
        startOffset: offset('0+'),
      }),
    }),
  },
)
export type InitializeShareGroupStateRequest = Body<typeof InitializeShareGroupStateRequest>

export const InitializeShareGroupStateResponse = message(
  'InitializeShareGroupStateResponse',
  { key: 83, versions: '0', flexible: '0+' },
  {
    results: array('0+', {
      topicId: uuid('0+'),
      partitions: array('0+', {
        partition: int32('0+'),
        errorCode: int16('0+'),
        errorMessage: nullableString('0+', { default: null }),
      }),
    }),
  },
)
export type InitializeShareGroupStateResponse = Body<typeof InitializeShareGroupStateResponse>

export const ReadShareGroupStateRequest = message(
  'ReadShareGroupStateRequest',
  { key: 84, versions: '0', flexible: '0+' },
  {
    groupId: string('0+'),
    topics: array('0+', {
      topicId: uuid('0+'),
      partitions: array('0+', {
        partition: int32('0+'),
        leaderEpoch: int32('0+'),
      }),
    }),
  },
)
export type ReadShareGroupStateRequest = Body<typeof ReadShareGroupStateRequest>

export const ReadShareGroupStateResponse = message(
  'ReadShareGroupStateResponse',
  { key: 84, versions: '0', flexible: '0+' },
  {
    results: array('0+', {
      topicId: uuid('0+'),
      partitions: array('0+', {
        partition: int32('0+'),
        errorCode: int16('0+'),
        errorMessage: nullableString('0+', { default: null }),
        stateEpoch: int32('0+'),
        startOffset: offset('0+'),
        stateBatches: array('0+', {
          firstOffset: offset('0+'),
          lastOffset: offset('0+'),
          deliveryState: int8('0+'),
          deliveryCount: int16('0+'),
        }),
      }),
    }),
  },
)
export type ReadShareGroupStateResponse = Body<typeof ReadShareGroupStateResponse>

export const WriteShareGroupStateRequest = message(
  'WriteShareGroupStateRequest',
  { key: 85, versions: '0-1', flexible: '0+' },
  {
    groupId: string('0+'),
    topics: array('0+', {
      topicId: uuid('0+'),
      partitions: array('0+', {
        partition: int32('0+'),
        stateEpoch: int32('0+'),
        leaderEpoch: int32('0+'),
        startOffset: offset('0+'),
        deliveryCompleteCount: int32('1+', { default: -1, ignorable: true }),
        stateBatches: array('0+', {
          firstOffset: offset('0+'),
          lastOffset: offset('0+'),
          deliveryState: int8('0+'),
          deliveryCount: int16('0+'),
        }),
      }),
    }),
  },
)
export type WriteShareGroupStateRequest = Body<typeof WriteShareGroupStateRequest>

export const WriteShareGroupStateResponse = message(
  'WriteShareGroupStateResponse',
  { key: 85, versions: '0-1', flexible: '0+' },
  {
    results: array('0+', {
      topicId: uuid('0+'),
      partitions: array('0+', {
        partition: int32('0+'),
        errorCode: int16('0+'),
        errorMessage: nullableString('0+', { default: null }),
      }),
    }),
  },
)
export type WriteShareGroupStateResponse = Body<typeof WriteShareGroupStateResponse>

export const DeleteShareGroupStateRequest = message(
  'DeleteShareGroupStateRequest',
  { key: 86, versions: '0', flexible: '0+' },
  {
    groupId: string('0+'),
    topics: array('0+', {
      topicId: uuid('0+'),
      partitions: array('0+', {
        partition: int32('0+'),
      }),
    }),
  },
)
export type DeleteShareGroupStateRequest = Body<typeof DeleteShareGroupStateRequest>

export const DeleteShareGroupStateResponse = message(
  'DeleteShareGroupStateResponse',
  { key: 86, versions: '0', flexible: '0+' },
  {
    results: array('0+', {
      topicId: uuid('0+'),
      partitions: array('0+', {
        partition: int32('0+'),
        errorCode: int16('0+'),
        errorMessage: nullableString('0+', { default: null }),
      }),
    }),
  },
)
export type DeleteShareGroupStateResponse = Body<typeof DeleteShareGroupStateResponse>

export const ReadShareGroupStateSummaryRequest = message(
  'ReadShareGroupStateSummaryRequest',
  { key: 87, versions: '0-1', flexible: '0+' },
  {
    groupId: string('0+'),
    topics: array('0+', {
      topicId: uuid('0+'),
      partitions: array('0+', {
        partition: int32('0+'),
        leaderEpoch: int32('0+'),
      }),
    }),
  },
)
export type ReadShareGroupStateSummaryRequest = Body<typeof ReadShareGroupStateSummaryRequest>

export const ReadShareGroupStateSummaryResponse = message(
  'ReadShareGroupStateSummaryResponse',
  { key: 87, versions: '0-1', flexible: '0+' },
  {
    results: array('0+', {
      topicId: uuid('0+'),
      partitions: array('0+', {
        partition: int32('0+'),
        errorCode: int16('0+'),
        errorMessage: nullableString('0+', { default: null }),
        stateEpoch: int32('0+'),
        leaderEpoch: int32('0+'),
        startOffset: offset('0+'),
        deliveryCompleteCount: int32('1+', { default: -1, ignorable: true }),
      }),
    }),
  },
)
export type ReadShareGroupStateSummaryResponse = Body<typeof ReadShareGroupStateSummaryResponse>

// v0 as 3.9.1 has it, where it was not stable yet: without the leader epoch.
export const ReadShareGroupStateSummaryResponse39 = message(
  'ReadShareGroupStateSummaryResponse39',
  { key: 87, versions: '0', flexible: '0+' },
  {
    results: array('0+', {
      topicId: uuid('0+'),
      partitions: array('0+', {
        partition: int32('0+'),
        errorCode: int16('0+'),
        errorMessage: nullableString('0+', { default: null }),
        stateEpoch: int32('0+'),
        startOffset: offset('0+'),
      }),
    }),
  },
)
export type ReadShareGroupStateSummaryResponse39 = Body<typeof ReadShareGroupStateSummaryResponse39>
