// InitProducerId: an id and epoch for an idempotent or transactional producer.

import { bool, int16, int32, int64, nullableString } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

export const InitProducerIdRequest = message(
  'InitProducerIdRequest',
  { key: 22, versions: '0-6', flexible: '2+' },
  {
    transactionalId: nullableString('0+'), // null: idempotence only
    transactionTimeoutMs: int32('0+'),
    producerId: int64('3+', { default: -1 }), // the one held, when its epoch is to rise (KIP-360)
    producerEpoch: int16('3+', { default: -1 }),
    enable2Pc: bool('6+'), // KIP-939
    keepPreparedTxn: bool('6+'), // KIP-939
  },
)
export type InitProducerIdRequest = Body<typeof InitProducerIdRequest>

export const InitProducerIdResponse = message(
  'InitProducerIdResponse',
  { key: 22, versions: '0-6', flexible: '2+' },
  {
    throttleTimeMs: int32('0+', { ignorable: true }),
    errorCode: int16('0+'),
    producerId: int64('0+', { default: -1 }),
    producerEpoch: int16('0+'),
    ongoingTxnProducerId: int64('6+', { default: -1 }),
    ongoingTxnProducerEpoch: int16('6+', { default: -1 }),
  },
)
export type InitProducerIdResponse = Body<typeof InitProducerIdResponse>
