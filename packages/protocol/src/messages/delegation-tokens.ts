// Delegation tokens (KIP-48): create, renew, expire, describe.

import { array, bytes, int16, int32, int64, nullableArray, nullableString, string, timestamp } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

export const CreateDelegationTokenRequest = message(
  'CreateDelegationTokenRequest',
  { key: 38, versions: '0-3', flexible: '2+' },
  {
    ownerPrincipalType: nullableString('3+'),
    ownerPrincipalName: nullableString('3+'),
    renewers: array('0+', {
      principalType: string('0+'),
      principalName: string('0+'),
    }),
    maxLifetimeMs: int64('0+'),
  },
)
export type CreateDelegationTokenRequest = Body<typeof CreateDelegationTokenRequest>

export const CreateDelegationTokenResponse = message(
  'CreateDelegationTokenResponse',
  { key: 38, versions: '0-3', flexible: '2+' },
  {
    errorCode: int16('0+'),
    principalType: string('0+'),
    principalName: string('0+'),
    tokenRequesterPrincipalType: string('3+'),
    tokenRequesterPrincipalName: string('3+'),
    issueTimestampMs: timestamp('0+'),
    expiryTimestampMs: timestamp('0+'),
    maxTimestampMs: timestamp('0+'),
    tokenId: string('0+'),
    hmac: bytes('0+'),
    throttleTimeMs: int32('0+'),
  },
)
export type CreateDelegationTokenResponse = Body<typeof CreateDelegationTokenResponse>

export const RenewDelegationTokenRequest = message(
  'RenewDelegationTokenRequest',
  { key: 39, versions: '0-2', flexible: '2+' },
  {
    hmac: bytes('0+'),
    renewPeriodMs: int64('0+'),
  },
)
export type RenewDelegationTokenRequest = Body<typeof RenewDelegationTokenRequest>

export const RenewDelegationTokenResponse = message(
  'RenewDelegationTokenResponse',
  { key: 39, versions: '0-2', flexible: '2+' },
  {
    errorCode: int16('0+'),
    expiryTimestampMs: timestamp('0+'),
    throttleTimeMs: int32('0+'),
  },
)
export type RenewDelegationTokenResponse = Body<typeof RenewDelegationTokenResponse>

export const ExpireDelegationTokenRequest = message(
  'ExpireDelegationTokenRequest',
  { key: 40, versions: '0-2', flexible: '2+' },
  {
    hmac: bytes('0+'),
    expiryTimePeriodMs: int64('0+'),
  },
)
export type ExpireDelegationTokenRequest = Body<typeof ExpireDelegationTokenRequest>

export const ExpireDelegationTokenResponse = message(
  'ExpireDelegationTokenResponse',
  { key: 40, versions: '0-2', flexible: '2+' },
  {
    errorCode: int16('0+'),
    expiryTimestampMs: timestamp('0+'),
    throttleTimeMs: int32('0+'),
  },
)
export type ExpireDelegationTokenResponse = Body<typeof ExpireDelegationTokenResponse>

export const DescribeDelegationTokenRequest = message(
  'DescribeDelegationTokenRequest',
  { key: 41, versions: '0-3', flexible: '2+' },
  {
    owners: nullableArray('0+', {
      principalType: string('0+'),
      principalName: string('0+'),
    }),
  },
)
export type DescribeDelegationTokenRequest = Body<typeof DescribeDelegationTokenRequest>

export const DescribeDelegationTokenResponse = message(
  'DescribeDelegationTokenResponse',
  { key: 41, versions: '0-3', flexible: '2+' },
  {
    errorCode: int16('0+'),
    tokens: array('0+', {
      principalType: string('0+'),
      principalName: string('0+'),
      tokenRequesterPrincipalType: string('3+'),
      tokenRequesterPrincipalName: string('3+'),
      issueTimestamp: timestamp('0+'),
      expiryTimestamp: timestamp('0+'),
      maxTimestamp: timestamp('0+'),
      tokenId: string('0+'),
      hmac: bytes('0+'),
      renewers: array('0+', {
        principalType: string('0+'),
        principalName: string('0+'),
      }),
    }),
    throttleTimeMs: int32('0+'),
  },
)
export type DescribeDelegationTokenResponse = Body<typeof DescribeDelegationTokenResponse>
