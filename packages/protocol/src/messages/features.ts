// UpdateFeatures: finalized feature levels (KIP-584).

import { array, bool, int8, int16, int32, nullableString, string } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

export const UpdateFeaturesRequest = message(
  'UpdateFeaturesRequest',
  { key: 57, versions: '0-2', flexible: '0+' },
  {
    timeoutMs: int32('0+', { default: 60000 }),
    featureUpdates: array('0+', {
      feature: string('0+', { mapKey: true }),
      maxVersionLevel: int16('0+'),
      allowDowngrade: bool('0'),
      upgradeType: int8('1+', { default: 1 }),
    }),
    validateOnly: bool('1+'),
  },
)
export type UpdateFeaturesRequest = Body<typeof UpdateFeaturesRequest>

export const UpdateFeaturesResponse = message(
  'UpdateFeaturesResponse',
  { key: 57, versions: '0-2', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: int16('0+'),
    errorMessage: nullableString('0+'),
    results: array(
      '0-1',
      {
        feature: string('0+', { mapKey: true }),
        errorCode: int16('0+'),
        errorMessage: nullableString('0+'),
      },
      { ignorable: true },
    ),
  },
)
export type UpdateFeaturesResponse = Body<typeof UpdateFeaturesResponse>
