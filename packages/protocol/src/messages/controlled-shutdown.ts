// ControlledShutdown: a broker asks the controller to move its leaders. Version 0 has request header version 0.

import { array, int16, int32, int64, string } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

export const ControlledShutdownRequest = message(
  'ControlledShutdownRequest',
  { key: 7, versions: '0-3', flexible: '3+' },
  {
    brokerId: int32('0+'),
    brokerEpoch: int64('2+', { default: -1, ignorable: true }), // KIP-380
  },
)
export type ControlledShutdownRequest = Body<typeof ControlledShutdownRequest>

export const ControlledShutdownResponse = message(
  'ControlledShutdownResponse',
  { key: 7, versions: '0-3', flexible: '3+' },
  {
    errorCode: int16('0+'),
    remainingPartitions: array('0+', {
      topicName: string('0+', { mapKey: true }),
      partitionIndex: int32('0+', { mapKey: true }),
    }),
  },
)
export type ControlledShutdownResponse = Body<typeof ControlledShutdownResponse>
