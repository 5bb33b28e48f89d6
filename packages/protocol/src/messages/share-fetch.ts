// Share groups (KIP-932): fetch records under an acquisition lock, acknowledge them.

import { array, bool, int8, int16, int32, nullableString, offset, records, string, struct, uuid } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

export const ShareFetchRequest = message(
  'ShareFetchRequest',
  { key: 78, versions: '0-2', flexible: '0+' },
  {
    groupId: nullableString('0+', { default: null }),
    memberId: nullableString('0+'),
    shareSessionEpoch: int32('0+'),
    maxWaitMs: int32('0+'),
    minBytes: int32('0+'),
    maxBytes: int32('0+', { default: 0x7fffffff }),
    maxRecords: int32('1+'),
    batchSize: int32('1+'),
    shareAcquireMode: int8('2+', { ignorable: true }),
    isRenewAck: bool('2+'),
    topics: array('0+', {
      topicId: uuid('0+', { mapKey: true }),
      partitions: array('0+', {
        partitionIndex: int32('0+', { mapKey: true }),
        partitionMaxBytes: int32('0'),
        acknowledgementBatches: array('0+', {
          firstOffset: offset('0+'),
          lastOffset: offset('0+'),
          acknowledgeTypes: array('0+', 'int8'),
        }),
      }),
    }),
    forgottenTopicsData: array('0+', {
      topicId: uuid('0+'),
      partitions: array('0+', 'int32'),
    }),
  },
)
export type ShareFetchRequest = Body<typeof ShareFetchRequest>

export const ShareFetchResponse = message(
  'ShareFetchResponse',
  { key: 78, versions: '0-2', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: int16('0+'),
    errorMessage: nullableString('0+', { default: null }),
    acquisitionLockTimeoutMs: int32('1+'),
    responses: array('0+', {
      topicId: uuid('0+', { mapKey: true }),
      partitions: array('0+', {
        partitionIndex: int32('0+'),
        errorCode: int16('0+'),
        errorMessage: nullableString('0+', { default: null }),
        acknowledgeErrorCode: int16('0+'),
        acknowledgeErrorMessage: nullableString('0+', { default: null }),
        currentLeader: struct('0+', {
          leaderId: int32('0+'),
          leaderEpoch: int32('0+'),
        }),
        records: records('0+', { nullable: '0' }),
        acquiredRecords: array('0+', {
          firstOffset: offset('0+'),
          lastOffset: offset('0+'),
          deliveryCount: int16('0+'),
        }),
      }),
    }),
    nodeEndpoints: array('0+', {
      nodeId: int32('0+', { mapKey: true }),
      host: string('0+'),
      port: int32('0+'),
      rack: nullableString('0+', { default: null }),
    }),
  },
)
export type ShareFetchResponse = Body<typeof ShareFetchResponse>

export const ShareAcknowledgeRequest = message(
  'ShareAcknowledgeRequest',
  { key: 79, versions: '0-2', flexible: '0+' },
  {
    groupId: nullableString('0+', { default: null }),
    memberId: nullableString('0+'),
    shareSessionEpoch: int32('0+'),
    isRenewAck: bool('2+'),
    topics: array('0+', {
      topicId: uuid('0+', { mapKey: true }),
      partitions: array('0+', {
        partitionIndex: int32('0+', { mapKey: true }),
        acknowledgementBatches: array('0+', {
          firstOffset: offset('0+'),
          lastOffset: offset('0+'),
          acknowledgeTypes: array('0+', 'int8'),
        }),
      }),
    }),
  },
)
export type ShareAcknowledgeRequest = Body<typeof ShareAcknowledgeRequest>

export const ShareAcknowledgeResponse = message(
  'ShareAcknowledgeResponse',
  { key: 79, versions: '0-2', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: int16('0+'),
    errorMessage: nullableString('0+', { default: null }),
    acquisitionLockTimeoutMs: int32('2+', { ignorable: true }),
    responses: array('0+', {
      topicId: uuid('0+', { mapKey: true }),
      partitions: array('0+', {
        partitionIndex: int32('0+'),
        errorCode: int16('0+'),
        errorMessage: nullableString('0+', { default: null }),
        currentLeader: struct('0+', {
          leaderId: int32('0+'),
          leaderEpoch: int32('0+'),
        }),
      }),
    }),
    nodeEndpoints: array('0+', {
      nodeId: int32('0+', { mapKey: true }),
      host: string('0+'),
      port: int32('0+'),
      rack: nullableString('0+', { default: null }),
    }),
  },
)
export type ShareAcknowledgeResponse = Body<typeof ShareAcknowledgeResponse>
