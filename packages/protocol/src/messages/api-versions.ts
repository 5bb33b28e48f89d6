// ApiVersions: what a broker speaks. Its response always has header version 0, so that any client can read it.

import { array, bool, int16, int32, int64, nullableString, string } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

export const ApiVersionsRequest = message(
  'ApiVersionsRequest',
  { key: 18, versions: '0-5', flexible: '3+' },
  {
    clientSoftwareName: string('3+', { ignorable: true }),
    clientSoftwareVersion: string('3+', { ignorable: true }),
    clusterId: nullableString('5+', { default: null, ignorable: true }),
    nodeId: int32('5+', { default: -1, ignorable: true }),
  },
)
export type ApiVersionsRequest = Body<typeof ApiVersionsRequest>

export const ApiVersionsResponse = message(
  'ApiVersionsResponse',
  { key: 18, versions: '0-5', flexible: '3+' },
  {
    errorCode: int16('0+'),
    apiKeys: array('0+', {
      apiKey: int16('0+', { mapKey: true }),
      minVersion: int16('0+'),
      maxVersion: int16('0+'),
    }),
    throttleTimeMs: int32('1+', { ignorable: true }),
    supportedFeatures: array(
      '3+',
      {
        name: string('3+', { mapKey: true }),
        minVersion: int16('3+'),
        maxVersion: int16('3+'),
      },
      { ignorable: true, tag: 0 },
    ),
    finalizedFeaturesEpoch: int64('3+', { default: -1, ignorable: true, tag: 1 }),
    finalizedFeatures: array(
      '3+',
      {
        name: string('3+', { mapKey: true }),
        maxVersionLevel: int16('3+'),
        minVersionLevel: int16('3+'),
      },
      { ignorable: true, tag: 2 },
    ),
    zkMigrationReady: bool('3+', { ignorable: true, tag: 3 }),
  },
)
export type ApiVersionsResponse = Body<typeof ApiVersionsResponse>
