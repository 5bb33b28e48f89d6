// WriteTxnMarkers: the transaction coordinator has markers written to partitions.

import { array, bool, int8, int16, int32, int64, string } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

export const WriteTxnMarkersRequest = message(
  'WriteTxnMarkersRequest',
  { key: 27, versions: '0-2', flexible: '1+' },
  {
    markers: array('0+', {
      producerId: int64('0+'),
      producerEpoch: int16('0+'),
      transactionResult: bool('0+'), // true: commit
      topics: array('0+', {
        name: string('0+'),
        partitionIndexes: array('0+', 'int32'),
      }),
      coordinatorEpoch: int32('0+'),
      transactionVersion: int8('2+', { ignorable: true }),
    }),
  },
)
export type WriteTxnMarkersRequest = Body<typeof WriteTxnMarkersRequest>

export const WriteTxnMarkersResponse = message(
  'WriteTxnMarkersResponse',
  { key: 27, versions: '0-2', flexible: '1+' },
  {
    markers: array('0+', {
      producerId: int64('0+'),
      topics: array('0+', {
        name: string('0+'),
        partitions: array('0+', {
          partitionIndex: int32('0+'),
          errorCode: int16('0+'),
        }),
      }),
    }),
  },
)
export type WriteTxnMarkersResponse = Body<typeof WriteTxnMarkersResponse>
