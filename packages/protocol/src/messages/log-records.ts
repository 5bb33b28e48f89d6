// Small binary records of a log: control record key and value, aborted transactions, producer snapshots.
// A leading int16 names the version.

import { array, int16, int32, int64, offset, timestamp, uint32 } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

export const ControlRecordTypeSchema = message(
  'ControlRecordTypeSchema',
  { versions: '0' },
  {
    type: int16('0+'), // 0 abort, 1 commit, 2 leader change, 3 and 4 snapshot header and footer, 5 KRaft version, 6 voters
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

// One entry of a .txnindex.
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

// The file NNN.snapshot beside a segment. The CRC-32C covers what follows it.
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
      offsetDelta: int32('1'), // last offset minus first of the last batch
      timestamp: timestamp('1'),
      coordinatorEpoch: int32('1'), // of the last marker
      currentTxnFirstOffset: offset('1'), // -1: no open transaction
    }),
  },
)
export type ProducerSnapshot = Body<typeof ProducerSnapshot>
