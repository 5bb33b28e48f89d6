// Small binary records of a log: control record key and value, aborted transactions, producer snapshots. A leading int16 names the version.

import { array, int16, int32, int64, offset, timestamp, uint32 } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

export const ControlRecordTypeSchema = message(
  'ControlRecordTypeSchema',
  { versions: '0' },
  {
    type: int16('0+'),
  },
)
export type ControlRecordTypeSchema = Body<typeof ControlRecordTypeSchema>

export const EndTxnMarker = message(
  'EndTxnMarker',
  { versions: '0' },
  {
    coordinatorEpoch: int32('0+'),
  },
)
export type EndTxnMarker = Body<typeof EndTxnMarker>

export const AbortedTxn = message(
  'AbortedTxn',
  { versions: '0' },
  {
    producerId: int64('0+'),
    firstOffset: offset('0+'),
    lastOffset: offset('0+'),
    lastStableOffset: offset('0+'),
  },
)
export type AbortedTxn = Body<typeof AbortedTxn>

export const ProducerSnapshot = message(
  'ProducerSnapshot',
  { versions: '1' },
  {
    crc: uint32('1'),
    producerEntries: array('1', {
      producerId: int64('1'),
      epoch: int16('1'),
      lastSequence: int32('1'),
      lastOffset: offset('1'),
      offsetDelta: int32('1'),
      timestamp: timestamp('1'),
      coordinatorEpoch: int32('1'),
      currentTxnFirstOffset: offset('1'),
    }),
  },
)
export type ProducerSnapshot = Body<typeof ProducerSnapshot>
