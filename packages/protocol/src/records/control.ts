/**
 * Control records: what a control batch says to readers instead of to users.
 *
 *   key    version int16 | type int16
 *   value  of COMMIT and ABORT (EndTxnMarker):  version int16 | coordinator epoch int32
 */

import { fixed, layout } from '../layout.js'
import { BatchBuilder } from './builder.js'
import { invalid } from './errors.js'

const CONTROL_KEY = layout({ version: fixed.int16, type: fixed.int16 })
const END_TXN_MARKER = layout({ version: fixed.int16, coordinatorEpoch: fixed.int32 })

/** Types by code; KRaft's are known by name only. */
const CONTROL_TYPES = [
  'ABORT',
  'COMMIT',
  'LEADER_CHANGE',
  'SNAPSHOT_HEADER',
  'SNAPSHOT_FOOTER',
  'KRAFT_VERSION',
  'KRAFT_VOTERS',
] as const

export type ControlType = (typeof CONTROL_TYPES)[number] | 'UNKNOWN'

export interface ControlRecord {
  readonly type: ControlType
  /** Version of the key. */
  readonly version: number
  /** Of COMMIT and ABORT, otherwise null. */
  readonly coordinatorEpoch: number | null
}

/**
 * What a record of a control batch says. Newer versions are read as the known one: they may only add fields.
 * @throws RecordsError INVALID_RECORD
 */
export function readControlRecord(record: { readonly key: Buffer | null; readonly value: Buffer | null }): ControlRecord {
  const { key, value } = record
  if (key === null || key.length < CONTROL_KEY.size)
    throw invalid(`control record key of ${key === null ? 'no' : key.length} bytes`)
  const version = CONTROL_KEY.version.get(key, 0)
  if (version < 0) throw invalid(`control record key version ${version}`)
  const type = CONTROL_TYPES[CONTROL_KEY.type.get(key, 0)] ?? 'UNKNOWN'
  if (type !== 'ABORT' && type !== 'COMMIT') return { type, version, coordinatorEpoch: null }
  if (value === null || value.length < END_TXN_MARKER.size)
    throw invalid(`${type} marker value of ${value === null ? 'no' : value.length} bytes`)
  if (END_TXN_MARKER.version.get(value, 0) < 0) throw invalid(`${type} marker version ${END_TXN_MARKER.version.get(value, 0)}`)
  return { type, version, coordinatorEpoch: END_TXN_MARKER.coordinatorEpoch.get(value, 0) }
}

export interface EndTransactionMarker {
  readonly producerId: number
  readonly producerEpoch: number
  readonly commit: boolean
  readonly coordinatorEpoch: number
  /** Milliseconds since 1970. */
  readonly timestamp: number
  readonly offset?: number
  readonly leaderEpoch?: number
}

/** The whole control batch that ends a transaction in one partition. */
export function endTransactionMarker(marker: EndTransactionMarker): Buffer {
  const key = Buffer.alloc(CONTROL_KEY.size)
  CONTROL_KEY.type.set(key, 0, CONTROL_TYPES.indexOf(marker.commit ? 'COMMIT' : 'ABORT'))
  const value = Buffer.alloc(END_TXN_MARKER.size)
  END_TXN_MARKER.coordinatorEpoch.set(value, 0, marker.coordinatorEpoch)
  const builder = new BatchBuilder({
    producerId: marker.producerId,
    producerEpoch: marker.producerEpoch,
    transactional: true,
    control: true,
    baseOffset: marker.offset ?? 0,
    ...(marker.leaderEpoch === undefined ? {} : { leaderEpoch: marker.leaderEpoch }),
  })
  builder.tryAppend({ timestamp: marker.timestamp, key, value })
  return builder.build()
}
