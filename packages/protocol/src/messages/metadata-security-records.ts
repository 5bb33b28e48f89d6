// Records of the KRaft metadata log: access rules, credentials, tokens, quotas.

import { array, bool, bytes, float64, int8, int32, nullableString, string, timestamp, uuid } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

export const AccessControlEntryRecord = message(
  'AccessControlEntryRecord',
  { key: 18, versions: '0', flexible: '0+' },
  {
    id: uuid('0+'),
    resourceType: int8('0+'),
    resourceName: string('0+'),
    patternType: int8('0+'),
    principal: string('0+'),
    host: string('0+'),
    operation: int8('0+'),
    permissionType: int8('0+'),
  },
)
export type AccessControlEntryRecord = Body<typeof AccessControlEntryRecord>

export const RemoveAccessControlEntryRecord = message(
  'RemoveAccessControlEntryRecord',
  { key: 19, versions: '0', flexible: '0+' },
  {
    id: uuid('0+'),
  },
)
export type RemoveAccessControlEntryRecord = Body<typeof RemoveAccessControlEntryRecord>

export const UserScramCredentialRecord = message(
  'UserScramCredentialRecord',
  { key: 11, versions: '0', flexible: '0+' },
  {
    name: string('0+'),
    mechanism: int8('0+'),
    salt: bytes('0+'),
    storedKey: bytes('0+'),
    serverKey: bytes('0+'),
    iterations: int32('0+'),
  },
)
export type UserScramCredentialRecord = Body<typeof UserScramCredentialRecord>

export const RemoveUserScramCredentialRecord = message(
  'RemoveUserScramCredentialRecord',
  { key: 22, versions: '0', flexible: '0+' },
  {
    name: string('0+'),
    mechanism: int8('0+'),
  },
)
export type RemoveUserScramCredentialRecord = Body<typeof RemoveUserScramCredentialRecord>

export const DelegationTokenRecord = message(
  'DelegationTokenRecord',
  { key: 10, versions: '0', flexible: '0+' },
  {
    owner: string('0+'),
    requester: string('0+'),
    renewers: array('0+', 'string'),
    issueTimestamp: timestamp('0+'),
    maxTimestamp: timestamp('0+'),
    expirationTimestamp: timestamp('0+'),
    tokenId: string('0+'),
  },
)
export type DelegationTokenRecord = Body<typeof DelegationTokenRecord>

export const RemoveDelegationTokenRecord = message(
  'RemoveDelegationTokenRecord',
  { key: 26, versions: '0', flexible: '0+' },
  {
    tokenId: string('0+'),
  },
)
export type RemoveDelegationTokenRecord = Body<typeof RemoveDelegationTokenRecord>

export const ClientQuotaRecord = message(
  'ClientQuotaRecord',
  { key: 14, versions: '0', flexible: '0+' },
  {
    entity: array('0+', {
      entityType: string('0+'),
      entityName: nullableString('0+'),
    }),
    key: string('0+'),
    value: float64('0+'),
    remove: bool('0+'),
  },
)
export type ClientQuotaRecord = Body<typeof ClientQuotaRecord>
