// DescribeCluster: brokers or controllers, without topics (KIP-700).

import { array, bool, int8, int16, int32, nullableString, string } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

export const DescribeClusterRequest = message(
  'DescribeClusterRequest',
  { key: 60, versions: '0-2', flexible: '0+' },
  {
    includeClusterAuthorizedOperations: bool('0+'),
    endpointType: int8('1+', { default: 1 }), // 1 brokers, 2 controllers (KIP-919)
    includeFencedBrokers: bool('2+'), // KIP-1073
  },
)
export type DescribeClusterRequest = Body<typeof DescribeClusterRequest>

export const DescribeClusterResponse = message(
  'DescribeClusterResponse',
  { key: 60, versions: '0-2', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: int16('0+'),
    errorMessage: nullableString('0+', { default: null }),
    endpointType: int8('1+', { default: 1 }),
    clusterId: string('0+'),
    controllerId: int32('0+', { default: -1 }),
    brokers: array('0+', {
      brokerId: int32('0+', { mapKey: true }),
      host: string('0+'),
      port: int32('0+'),
      rack: nullableString('0+', { default: null }),
      isFenced: bool('2+'),
    }),
    clusterAuthorizedOperations: int32('0+', { default: -2147483648 }),
  },
)
export type DescribeClusterResponse = Body<typeof DescribeClusterResponse>
