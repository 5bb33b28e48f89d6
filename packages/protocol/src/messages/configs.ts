// Configs of topics, brokers and others: describe, replace (AlterConfigs), change one by one (KIP-339), list.

import { array, bool, int8, int16, int32, nullableArray, nullableString, string } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

export const DescribeConfigsRequest = message(
  'DescribeConfigsRequest',
  { key: 32, versions: '0-4', flexible: '4+' },
  {
    resources: array('0+', {
      resourceType: int8('0+'), // 2 topic, 4 broker, 8 broker logger, 16 client metrics, 32 group
      resourceName: string('0+'),
      configurationKeys: nullableArray('0+', 'string'), // null: all
    }),
    includeSynonyms: bool('1+'), // KIP-226
    includeDocumentation: bool('3+'), // KIP-569
  },
)
export type DescribeConfigsRequest = Body<typeof DescribeConfigsRequest>

export const DescribeConfigsResponse = message(
  'DescribeConfigsResponse',
  { key: 32, versions: '0-4', flexible: '4+' },
  {
    throttleTimeMs: int32('0+'),
    results: array('0+', {
      errorCode: int16('0+'),
      errorMessage: nullableString('0+'),
      resourceType: int8('0+'),
      resourceName: string('0+'),
      configs: array('0+', {
        name: string('0+'),
        value: nullableString('0+'),
        readOnly: bool('0+'),
        isDefault: bool('0'), // v0 has no source
        configSource: int8('1+', { default: -1, ignorable: true }), // 1 topic, 2 broker, 3 all brokers, 4 static file, 5 default
        isSensitive: bool('0+'),
        synonyms: array(
          '1+',
          {
            name: string('1+'),
            value: nullableString('1+'),
            source: int8('1+'),
          },
          { ignorable: true },
        ),
        configType: int8('3+', { ignorable: true }), // KIP-569
        documentation: nullableString('3+', { ignorable: true }),
      }),
    }),
  },
)
export type DescribeConfigsResponse = Body<typeof DescribeConfigsResponse>

export const AlterConfigsRequest = message(
  'AlterConfigsRequest',
  { key: 33, versions: '0-2', flexible: '2+' },
  {
    resources: array('0+', {
      resourceType: int8('0+', { mapKey: true }),
      resourceName: string('0+', { mapKey: true }),
      // all of them: what is not here goes back to its default
      configs: array('0+', {
        name: string('0+', { mapKey: true }),
        value: nullableString('0+'),
      }),
    }),
    validateOnly: bool('0+'),
  },
)
export type AlterConfigsRequest = Body<typeof AlterConfigsRequest>

export const AlterConfigsResponse = message(
  'AlterConfigsResponse',
  { key: 33, versions: '0-2', flexible: '2+' },
  {
    throttleTimeMs: int32('0+'),
    responses: array('0+', {
      errorCode: int16('0+'),
      errorMessage: nullableString('0+'),
      resourceType: int8('0+'),
      resourceName: string('0+'),
    }),
  },
)
export type AlterConfigsResponse = Body<typeof AlterConfigsResponse>

export const IncrementalAlterConfigsRequest = message(
  'IncrementalAlterConfigsRequest',
  { key: 44, versions: '0-1', flexible: '1+' },
  {
    resources: array('0+', {
      resourceType: int8('0+', { mapKey: true }),
      resourceName: string('0+', { mapKey: true }),
      configs: array('0+', {
        name: string('0+', { mapKey: true }),
        configOperation: int8('0+', { mapKey: true }), // 0 set, 1 delete, 2 append, 3 subtract
        value: nullableString('0+'),
      }),
    }),
    validateOnly: bool('0+'),
  },
)
export type IncrementalAlterConfigsRequest = Body<typeof IncrementalAlterConfigsRequest>

export const IncrementalAlterConfigsResponse = message(
  'IncrementalAlterConfigsResponse',
  { key: 44, versions: '0-1', flexible: '1+' },
  {
    throttleTimeMs: int32('0+'),
    responses: array('0+', {
      errorCode: int16('0+'),
      errorMessage: nullableString('0+'),
      resourceType: int8('0+'),
      resourceName: string('0+'),
    }),
  },
)
export type IncrementalAlterConfigsResponse = Body<typeof IncrementalAlterConfigsResponse>

export const ListConfigResourcesRequest = message(
  'ListConfigResourcesRequest',
  { key: 74, versions: '0-1', flexible: '0+' },
  {
    resourceTypes: array('1+', 'int8'),
  },
)
export type ListConfigResourcesRequest = Body<typeof ListConfigResourcesRequest>

export const ListConfigResourcesResponse = message(
  'ListConfigResourcesResponse',
  { key: 74, versions: '0-1', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: int16('0+'),
    configResources: array('0+', {
      resourceName: string('0+'),
      resourceType: int8('1+', { default: 16, ignorable: true }),
    }),
  },
)
export type ListConfigResourcesResponse = Body<typeof ListConfigResourcesResponse>

// The name of ListConfigResources v0 in 3.9; the bytes are the same.
export const ListClientMetricsResourcesRequest = message(
  'ListClientMetricsResourcesRequest',
  { key: 74, versions: '0', flexible: '0+' },
  {},
)
export type ListClientMetricsResourcesRequest = Body<typeof ListClientMetricsResourcesRequest>

export const ListClientMetricsResourcesResponse = message(
  'ListClientMetricsResourcesResponse',
  { key: 74, versions: '0', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: int16('0+'),
    clientMetricsResources: array('0+', {
      name: string('0+'),
    }),
  },
)
export type ListClientMetricsResourcesResponse = Body<typeof ListClientMetricsResourcesResponse>
