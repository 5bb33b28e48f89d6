// SASL: choose a mechanism, exchange its tokens.

import { array, bytes, int16, int64, nullableString, string } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

export const SaslHandshakeRequest = message(
  'SaslHandshakeRequest',
  { key: 17, versions: '0-1' },
  {
    mechanism: string('0+'), // v0 is followed by bare tokens, v1 by SaslAuthenticate (KIP-152)
  },
)
export type SaslHandshakeRequest = Body<typeof SaslHandshakeRequest>

export const SaslHandshakeResponse = message(
  'SaslHandshakeResponse',
  { key: 17, versions: '0-1' },
  {
    errorCode: int16('0+'),
    mechanisms: array('0+', 'string'),
  },
)
export type SaslHandshakeResponse = Body<typeof SaslHandshakeResponse>

export const SaslAuthenticateRequest = message(
  'SaslAuthenticateRequest',
  { key: 36, versions: '0-2', flexible: '2+' },
  {
    authBytes: bytes('0+'),
  },
)
export type SaslAuthenticateRequest = Body<typeof SaslAuthenticateRequest>

export const SaslAuthenticateResponse = message(
  'SaslAuthenticateResponse',
  { key: 36, versions: '0-2', flexible: '2+' },
  {
    errorCode: int16('0+'),
    errorMessage: nullableString('0+'),
    authBytes: bytes('0+'),
    sessionLifetimeMs: int64('1+', { ignorable: true }), // authenticate again before it ends; 0: never (KIP-368)
  },
)
export type SaslAuthenticateResponse = Body<typeof SaslAuthenticateResponse>
