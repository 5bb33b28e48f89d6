// Client quotas (KIP-546): describe, alter.

import { array, bool, float64, int8, int16, int32, nullableArray, nullableString, string } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

export const DescribeClientQuotasRequest = message(
  'DescribeClientQuotasRequest',
  { key: 48, versions: '0-1', flexible: '1+' },
  {
    components: array('0+', {
      entityType: string('0+'),
      matchType: int8('0+'),
      match: nullableString('0+'),
    }),
    strict: bool('0+'),
  },
)
export type DescribeClientQuotasRequest = Body<typeof DescribeClientQuotasRequest>

export const DescribeClientQuotasResponse = message(
  'DescribeClientQuotasResponse',
  { key: 48, versions: '0-1', flexible: '1+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: int16('0+'),
    errorMessage: nullableString('0+'),
    entries: nullableArray('0+', {
      entity: array('0+', {
        entityType: string('0+'),
        entityName: nullableString('0+'),
      }),
      values: array('0+', {
        key: string('0+'),
        value: float64('0+'),
      }),
    }),
  },
)
export type DescribeClientQuotasResponse = Body<typeof DescribeClientQuotasResponse>

export const AlterClientQuotasRequest = message(
  'AlterClientQuotasRequest',
  { key: 49, versions: '0-1', flexible: '1+' },
  {
    entries: array('0+', {
      entity: array('0+', {
        entityType: string('0+'),
        entityName: nullableString('0+'),
      }),
      ops: array('0+', {
        key: string('0+'),
        value: float64('0+'),
        remove: bool('0+'),
      }),
    }),
    validateOnly: bool('0+'),
  },
)
export type AlterClientQuotasRequest = Body<typeof AlterClientQuotasRequest>

export const AlterClientQuotasResponse = message(
  'AlterClientQuotasResponse',
  { key: 49, versions: '0-1', flexible: '1+' },
  {
    throttleTimeMs: int32('0+'),
    entries: array('0+', {
      errorCode: int16('0+'),
      errorMessage: nullableString('0+'),
      entity: array('0+', {
        entityType: string('0+'),
        entityName: nullableString('0+'),
      }),
    }),
  },
)
export type AlterClientQuotasResponse = Body<typeof AlterClientQuotasResponse>
