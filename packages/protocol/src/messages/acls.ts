// Access rules: describe, create, delete.

import { array, int8, int16, int32, nullableString, string } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

export const DescribeAclsRequest = message(
  'DescribeAclsRequest',
  { key: 29, versions: '0-3', flexible: '2+' },
  {
    resourceTypeFilter: int8('0+'),
    resourceNameFilter: nullableString('0+'),
    patternTypeFilter: int8('1+', { default: 3 }),
    principalFilter: nullableString('0+'),
    hostFilter: nullableString('0+'),
    operation: int8('0+'),
    permissionType: int8('0+'),
  },
)
export type DescribeAclsRequest = Body<typeof DescribeAclsRequest>

export const DescribeAclsResponse = message(
  'DescribeAclsResponse',
  { key: 29, versions: '0-3', flexible: '2+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: int16('0+'),
    errorMessage: nullableString('0+'),
    resources: array('0+', {
      resourceType: int8('0+'),
      resourceName: string('0+'),
      patternType: int8('1+', { default: 3 }),
      acls: array('0+', {
        principal: string('0+'),
        host: string('0+'),
        operation: int8('0+'),
        permissionType: int8('0+'),
      }),
    }),
  },
)
export type DescribeAclsResponse = Body<typeof DescribeAclsResponse>

export const CreateAclsRequest = message(
  'CreateAclsRequest',
  { key: 30, versions: '0-3', flexible: '2+' },
  {
    creations: array('0+', {
      resourceType: int8('0+'),
      resourceName: string('0+'),
      resourcePatternType: int8('1+', { default: 3 }),
      principal: string('0+'),
      host: string('0+'),
      operation: int8('0+'),
      permissionType: int8('0+'),
    }),
  },
)
export type CreateAclsRequest = Body<typeof CreateAclsRequest>

export const CreateAclsResponse = message(
  'CreateAclsResponse',
  { key: 30, versions: '0-3', flexible: '2+' },
  {
    throttleTimeMs: int32('0+'),
    results: array('0+', {
      errorCode: int16('0+'),
      errorMessage: nullableString('0+'),
    }),
  },
)
export type CreateAclsResponse = Body<typeof CreateAclsResponse>

export const DeleteAclsRequest = message(
  'DeleteAclsRequest',
  { key: 31, versions: '0-3', flexible: '2+' },
  {
    filters: array('0+', {
      resourceTypeFilter: int8('0+'),
      resourceNameFilter: nullableString('0+'),
      patternTypeFilter: int8('1+', { default: 3 }),
      principalFilter: nullableString('0+'),
      hostFilter: nullableString('0+'),
      operation: int8('0+'),
      permissionType: int8('0+'),
    }),
  },
)
export type DeleteAclsRequest = Body<typeof DeleteAclsRequest>

export const DeleteAclsResponse = message(
  'DeleteAclsResponse',
  { key: 31, versions: '0-3', flexible: '2+' },
  {
    throttleTimeMs: int32('0+'),
    filterResults: array('0+', {
      errorCode: int16('0+'),
      errorMessage: nullableString('0+'),
      matchingAcls: array('0+', {
        errorCode: int16('0+'),
        errorMessage: nullableString('0+'),
        resourceType: int8('0+'),
        resourceName: string('0+'),
        patternType: int8('1+', { default: 3 }),
        principal: string('0+'),
        host: string('0+'),
        operation: int8('0+'),
        permissionType: int8('0+'),
      }),
    }),
  },
)
export type DeleteAclsResponse = Body<typeof DeleteAclsResponse>
