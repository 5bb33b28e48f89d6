// AddOffsetsToTxn: the offsets of a group enter a transaction.

import { int16, int32, int64, string } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

export const AddOffsetsToTxnRequest = message(
  'AddOffsetsToTxnRequest',
  { key: 25, versions: '0-4', flexible: '3+' },
  {
    transactionalId: string('0+'),
    producerId: int64('0+'),
    producerEpoch: int16('0+'),
    groupId: string('0+'),
  },
)
export type AddOffsetsToTxnRequest = Body<typeof AddOffsetsToTxnRequest>

export const AddOffsetsToTxnResponse = message(
  'AddOffsetsToTxnResponse',
  { key: 25, versions: '0-4', flexible: '3+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: int16('0+'),
  },
)
export type AddOffsetsToTxnResponse = Body<typeof AddOffsetsToTxnResponse>
