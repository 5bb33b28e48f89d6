// SCRAM credentials of users (KIP-554): describe, alter.

import { array, bytes, int8, int16, int32, nullableArray, nullableString, string } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

export const DescribeUserScramCredentialsRequest = message(
  'DescribeUserScramCredentialsRequest',
  { key: 50, versions: '0', flexible: '0+' },
  {
    users: nullableArray('0+', {
      name: string('0+'),
    }),
  },
)
export type DescribeUserScramCredentialsRequest = Body<typeof DescribeUserScramCredentialsRequest>

export const DescribeUserScramCredentialsResponse = message(
  'DescribeUserScramCredentialsResponse',
  { key: 50, versions: '0', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: int16('0+'),
    errorMessage: nullableString('0+'),
    results: array('0+', {
      user: string('0+'),
      errorCode: int16('0+'),
      errorMessage: nullableString('0+'),
      credentialInfos: array('0+', {
        mechanism: int8('0+'), // 1 SCRAM-SHA-256, 2 SCRAM-SHA-512
        iterations: int32('0+'),
      }),
    }),
  },
)
export type DescribeUserScramCredentialsResponse = Body<typeof DescribeUserScramCredentialsResponse>

export const AlterUserScramCredentialsRequest = message(
  'AlterUserScramCredentialsRequest',
  { key: 51, versions: '0', flexible: '0+' },
  {
    deletions: array('0+', {
      name: string('0+'),
      mechanism: int8('0+'), // 1 SCRAM-SHA-256, 2 SCRAM-SHA-512
    }),
    upsertions: array('0+', {
      name: string('0+'),
      mechanism: int8('0+'), // 1 SCRAM-SHA-256, 2 SCRAM-SHA-512
      iterations: int32('0+'),
      salt: bytes('0+'),
      saltedPassword: bytes('0+'),
    }),
  },
)
export type AlterUserScramCredentialsRequest = Body<typeof AlterUserScramCredentialsRequest>

export const AlterUserScramCredentialsResponse = message(
  'AlterUserScramCredentialsResponse',
  { key: 51, versions: '0', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    results: array('0+', {
      user: string('0+'),
      errorCode: int16('0+'),
      errorMessage: nullableString('0+'),
    }),
  },
)
export type AlterUserScramCredentialsResponse = Body<typeof AlterUserScramCredentialsResponse>
