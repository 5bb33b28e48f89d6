// OffsetDelete: forget positions of a group (KIP-496).

import { array, int16, int32, string } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

export const OffsetDeleteRequest = message(
  'OffsetDeleteRequest',
  { key: 47, versions: '0' },
  {
    groupId: string('0+'),
    topics: array('0+', {
      name: string('0+', { mapKey: true }),
      partitions: array('0+', {
        partitionIndex: int32('0+'),
      }),
    }),
  },
)
export type OffsetDeleteRequest = Body<typeof OffsetDeleteRequest>

export const OffsetDeleteResponse = message(
  'OffsetDeleteResponse',
  { key: 47, versions: '0' },
  {
    errorCode: int16('0+'),
    throttleTimeMs: int32('0+', { ignorable: true }),
    topics: array('0+', {
      name: string('0+', { mapKey: true }),
      partitions: array('0+', {
        partitionIndex: int32('0+', { mapKey: true }),
        errorCode: int16('0+'),
      }),
    }),
  },
)
export type OffsetDeleteResponse = Body<typeof OffsetDeleteResponse>
