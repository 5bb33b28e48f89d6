// ElectLeaders: preferred and unclean elections on demand (KIP-460).

import { array, int8, int16, int32, nullableArray, nullableString, string } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

export const ElectLeadersRequest = message(
  'ElectLeadersRequest',
  { key: 43, versions: '0-2', flexible: '2+' },
  {
    electionType: int8('1+'), // 0 preferred, 1 unclean (KIP-460)
    topicPartitions: nullableArray('0+', {
      topic: string('0+', { mapKey: true }),
      partitions: array('0+', 'int32'),
    }),
    timeoutMs: int32('0+', { default: 60000 }),
  },
)
export type ElectLeadersRequest = Body<typeof ElectLeadersRequest>

export const ElectLeadersResponse = message(
  'ElectLeadersResponse',
  { key: 43, versions: '0-2', flexible: '2+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: int16('1+'),
    replicaElectionResults: array('0+', {
      topic: string('0+'),
      partitionResult: array('0+', {
        partitionId: int32('0+'),
        errorCode: int16('0+'),
        errorMessage: nullableString('0+'),
      }),
    }),
  },
)
export type ElectLeadersResponse = Body<typeof ElectLeadersResponse>
