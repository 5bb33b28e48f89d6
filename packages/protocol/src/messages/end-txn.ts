// EndTxn: commit or abort.

import { bool, int16, int32, int64, string } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

export const EndTxnRequest = message(
  'EndTxnRequest',
  { key: 26, versions: '0-5', flexible: '3+' },
  {
    transactionalId: string('0+'),
    producerId: int64('0+'),
    producerEpoch: int16('0+'),
    committed: bool('0+'), // false: abort
  },
)
export type EndTxnRequest = Body<typeof EndTxnRequest>

export const EndTxnResponse = message(
  'EndTxnResponse',
  { key: 26, versions: '0-5', flexible: '3+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: int16('0+'),
    producerId: int64('5+', { default: -1, ignorable: true }), // every transaction has an epoch of its own (KIP-890)
    producerEpoch: int16('5+', { default: -1, ignorable: true }),
  },
)
export type EndTxnResponse = Body<typeof EndTxnResponse>
