// ApiVersions: what a broker speaks. Its response always has header version 0, so that any client can read it.

import { array, bool, int16, int32, int64, nullableString, string } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

// An unknown version is answered in version 0 with UNSUPPORTED_VERSION and the range of this API (KIP-511).
export const ApiVersionsRequest = message(
  'ApiVersionsRequest',
  { key: 18, versions: '0-5', flexible: '3+' },
  {
    clientSoftwareName: string('3+', { ignorable: true }), // letters, digits, dots and hyphens, else INVALID_REQUEST (KIP-511)
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
    // KIP-584
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
    zkMigrationReady: bool('3+', { ignorable: true, tag: 3 }), // KIP-866
  },
)
export type ApiVersionsResponse = Body<typeof ApiVersionsResponse>
