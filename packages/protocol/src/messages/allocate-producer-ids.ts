// AllocateProducerIds: a block of producer ids from the controller (KIP-730).

import { int16, int32, int64 } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

export const AllocateProducerIdsRequest = message(
  'AllocateProducerIdsRequest',
  { key: 67, versions: '0', flexible: '0+' },
  {
    brokerId: int32('0+'),
    brokerEpoch: int64('0+', { default: -1 }),
  },
)
export type AllocateProducerIdsRequest = Body<typeof AllocateProducerIdsRequest>

export const AllocateProducerIdsResponse = message(
  'AllocateProducerIdsResponse',
  { key: 67, versions: '0', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: int16('0+'),
    producerIdStart: int64('0+'), // first of the block
    producerIdLen: int32('0+'), // how many
  },
)
export type AllocateProducerIdsResponse = Body<typeof AllocateProducerIdsResponse>
