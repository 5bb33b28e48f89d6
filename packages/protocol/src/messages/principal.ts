// How a forwarding broker writes down who sent a request (KIP-590). A leading int16 names the version.

import { bool, string } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

export const DefaultPrincipalData = message(
  'DefaultPrincipalData',
  { versions: '0', flexible: '0+' },
  {
    type: string('0+'),
    name: string('0+'),
    tokenAuthenticated: bool('0+'), // logged in by a delegation token
  },
)
export type DefaultPrincipalData = Body<typeof DefaultPrincipalData>
