// CreateTopics, DeleteTopics, CreatePartitions.

import { array, bool, int8, int16, int32, nullableArray, nullableString, string, uuid } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

// v4 and later take -1 for the defaults of the broker (KIP-464).
export const CreateTopicsRequest = message(
  'CreateTopicsRequest',
  { key: 19, versions: '0-7', flexible: '5+' },
  {
    topics: array('0+', {
      name: string('0+', { mapKey: true }),
      numPartitions: int32('0+'), // -1 with assignments, or for num.partitions
      replicationFactor: int16('0+'), // -1 with assignments, or for default.replication.factor
      // instead of the two numbers above
      assignments: array('0+', {
        partitionIndex: int32('0+', { mapKey: true }),
        brokerIds: array('0+', 'int32'),
      }),
      configs: array('0+', {
        name: string('0+', { mapKey: true }),
        value: nullableString('0+'),
      }),
    }),
    timeoutMs: int32('0+', { default: 60000 }),
    validateOnly: bool('1+'), // check, create nothing
  },
)
export type CreateTopicsRequest = Body<typeof CreateTopicsRequest>

export const CreateTopicsResponse = message(
  'CreateTopicsResponse',
  { key: 19, versions: '0-7', flexible: '5+' },
  {
    throttleTimeMs: int32('2+', { ignorable: true }),
    topics: array('0+', {
      name: string('0+', { mapKey: true }),
      topicId: uuid('7+', { ignorable: true }), // KIP-516
      errorCode: int16('0+'),
      errorMessage: nullableString('1+', { ignorable: true }),
      topicConfigErrorCode: int16('5+', { ignorable: true, tag: 0 }), // why the configs are not shown (KIP-525)
      numPartitions: int32('5+', { default: -1, ignorable: true }),
      replicationFactor: int16('5+', { default: -1, ignorable: true }),
      configs: nullableArray(
        '5+',
        {
          name: string('5+'),
          value: nullableString('5+'),
          readOnly: bool('5+'),
          configSource: int8('5+', { default: -1, ignorable: true }),
          isSensitive: bool('5+'),
        },
        { ignorable: true },
      ),
    }),
  },
)
export type CreateTopicsResponse = Body<typeof CreateTopicsResponse>

export const DeleteTopicsRequest = message(
  'DeleteTopicsRequest',
  { key: 20, versions: '0-6', flexible: '4+' },
  {
    // by name or by id (KIP-516)
    topics: array('6+', {
      name: nullableString('6+', { default: null }),
      topicId: uuid('6+'),
    }),
    topicNames: array('0-5', 'string', { ignorable: true }),
    timeoutMs: int32('0+'),
  },
)
export type DeleteTopicsRequest = Body<typeof DeleteTopicsRequest>

export const DeleteTopicsResponse = message(
  'DeleteTopicsResponse',
  { key: 20, versions: '0-6', flexible: '4+' },
  {
    throttleTimeMs: int32('1+', { ignorable: true }),
    responses: array('0+', {
      name: string('0+', { nullable: '6+', mapKey: true }),
      topicId: uuid('6+', { ignorable: true }),
      errorCode: int16('0+'),
      errorMessage: nullableString('5+', { default: null, ignorable: true }),
    }),
  },
)
export type DeleteTopicsResponse = Body<typeof DeleteTopicsResponse>

export const CreatePartitionsRequest = message(
  'CreatePartitionsRequest',
  { key: 37, versions: '0-3', flexible: '2+' },
  {
    topics: array('0+', {
      name: string('0+', { mapKey: true }),
      count: int32('0+'), // in total, not in addition
      // of the new partitions; null: the broker chooses
      assignments: nullableArray('0+', {
        brokerIds: array('0+', 'int32'),
      }),
    }),
    timeoutMs: int32('0+'),
    validateOnly: bool('0+'),
  },
)
export type CreatePartitionsRequest = Body<typeof CreatePartitionsRequest>

export const CreatePartitionsResponse = message(
  'CreatePartitionsResponse',
  { key: 37, versions: '0-3', flexible: '2+' },
  {
    throttleTimeMs: int32('0+'),
    results: array('0+', {
      name: string('0+'),
      errorCode: int16('0+'),
      errorMessage: nullableString('0+', { default: null }),
    }),
  },
)
export type CreatePartitionsResponse = Body<typeof CreatePartitionsResponse>
