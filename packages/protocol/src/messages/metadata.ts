// Metadata: brokers, topics, leaders.

import { array, bool, int16, int32, nullableString, string, uuid } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

// v0 asks for all topics by an empty list, later versions by null.
export const MetadataRequest = message(
  'MetadataRequest',
  { key: 3, versions: '0-13', flexible: '9+' },
  {
    topics: array(
      '0+',
      {
        topicId: uuid('10+', { ignorable: true }), // KIP-516
        name: string('0+', { nullable: '10+' }),
      },
      { nullable: '1+' },
    ),
    allowAutoTopicCreation: bool('4+', { default: true }),
    includeClusterAuthorizedOperations: bool('8-10'),
    includeTopicAuthorizedOperations: bool('8+'), // KIP-430
  },
)
export type MetadataRequest = Body<typeof MetadataRequest>

// v1 knows the controller, v7 leader epochs (KIP-320), v10 topic ids (KIP-516).
export const MetadataResponse = message(
  'MetadataResponse',
  { key: 3, versions: '0-13', flexible: '9+' },
  {
    throttleTimeMs: int32('3+', { ignorable: true }),
    brokers: array('0+', {
      nodeId: int32('0+', { mapKey: true }),
      host: string('0+'),
      port: int32('0+'),
      rack: nullableString('1+', { default: null, ignorable: true }),
    }),
    clusterId: nullableString('2+', { default: null, ignorable: true }),
    controllerId: int32('1+', { default: -1, ignorable: true }),
    topics: array('0+', {
      errorCode: int16('0+'),
      name: string('0+', { nullable: '12+', mapKey: true }),
      topicId: uuid('10+', { ignorable: true }),
      isInternal: bool('1+', { ignorable: true }),
      partitions: array('0+', {
        errorCode: int16('0+'),
        partitionIndex: int32('0+'),
        leaderId: int32('0+'),
        leaderEpoch: int32('7+', { default: -1, ignorable: true }),
        replicaNodes: array('0+', 'int32'),
        isrNodes: array('0+', 'int32'),
        offlineReplicas: array('5+', 'int32', { ignorable: true }), // KIP-112
      }),
      topicAuthorizedOperations: int32('8+', { default: -2147483648 }), // a bit each; the default: not asked for (KIP-430)
    }),
    clusterAuthorizedOperations: int32('8-10', { default: -2147483648 }),
    errorCode: int16('13+', { ignorable: true }),
  },
)
export type MetadataResponse = Body<typeof MetadataResponse>
