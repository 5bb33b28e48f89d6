// DeleteRecords: move the log start offset.

import { array, int16, int32, offset, string } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

export const DeleteRecordsRequest = message(
  'DeleteRecordsRequest',
  { key: 21, versions: '0-2', flexible: '2+' },
  {
    topics: array('0+', {
      name: string('0+'),
      partitions: array('0+', {
        partitionIndex: int32('0+'),
        offset: offset('0+'), // -1: the high watermark
      }),
    }),
    timeoutMs: int32('0+'),
  },
)
export type DeleteRecordsRequest = Body<typeof DeleteRecordsRequest>

export const DeleteRecordsResponse = message(
  'DeleteRecordsResponse',
  { key: 21, versions: '0-2', flexible: '2+' },
  {
    throttleTimeMs: int32('0+'),
    topics: array('0+', {
      name: string('0+', { mapKey: true }),
      partitions: array('0+', {
        partitionIndex: int32('0+', { mapKey: true }),
        lowWatermark: offset('0+'),
        errorCode: int16('0+'),
      }),
    }),
  },
)
export type DeleteRecordsResponse = Body<typeof DeleteRecordsResponse>
