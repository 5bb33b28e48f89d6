// What stands before every body: the request header (0-2) and the response header (0-1).

import { int16, int32, neverCompactString } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

export const RequestHeader = message(
  'RequestHeader',
  { versions: '0-2', flexible: '2+' },
  {
    requestApiKey: int16('0+'),
    requestApiVersion: int16('0+'),
    correlationId: int32('0+'),
    clientId: neverCompactString('1+'), // never in the compact form (KIP-511)
  },
)
export type RequestHeader = Body<typeof RequestHeader>

export const ResponseHeader = message(
  'ResponseHeader',
  { versions: '0-1', flexible: '1+' },
  {
    correlationId: int32('0+'),
  },
)
export type ResponseHeader = Body<typeof ResponseHeader>
