// Envelope: a request forwarded to the controller with its principal (KIP-590).

import { bytes, int16, nullableBytes } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

// The response of the inner request comes back whole in the response.
export const EnvelopeRequest = message(
  'EnvelopeRequest',
  { key: 58, versions: '0', flexible: '0+' },
  {
    requestData: bytes('0+'),
    requestPrincipal: nullableBytes('0+'),
    clientHostAddress: bytes('0+'),
  },
)
export type EnvelopeRequest = Body<typeof EnvelopeRequest>

export const EnvelopeResponse = message(
  'EnvelopeResponse',
  { key: 58, versions: '0', flexible: '0+' },
  {
    responseData: nullableBytes('0+', { default: null }),
    errorCode: int16('0+'),
  },
)
export type EnvelopeResponse = Body<typeof EnvelopeResponse>
