// Records of __share_group_state (KIP-932). The leading int16 of a key is its record type, here its version.

import { array, int8, int16, int32, offset, string, timestamp, uuid } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

export const ShareSnapshotKey = message(
  'ShareSnapshotKey',
  { versions: '0' },
  {
    groupId: string('0'),
    topicId: uuid('0'),
    partition: int32('0'),
  },
)
export type ShareSnapshotKey = Body<typeof ShareSnapshotKey>

export const ShareSnapshotValue = message(
  'ShareSnapshotValue',
  { versions: '0', flexible: '0+' },
  {
    snapshotEpoch: int32('0+'),
    stateEpoch: int32('0+'),
    leaderEpoch: int32('0+'),
    startOffset: offset('0+'),
    deliveryCompleteCount: int32('0+', { default: -1, tag: 0 }),
    createTimestamp: timestamp('0+'),
    writeTimestamp: timestamp('0+'),
    stateBatches: array('0+', {
      firstOffset: offset('0+'),
      lastOffset: offset('0+'),
      deliveryState: int8('0+'),
      deliveryCount: int16('0+'),
    }),
  },
)
export type ShareSnapshotValue = Body<typeof ShareSnapshotValue>

export const ShareUpdateKey = message(
  'ShareUpdateKey',
  { versions: '1' },
  {
    groupId: string('1'),
    topicId: uuid('1'),
    partition: int32('1'),
  },
)
export type ShareUpdateKey = Body<typeof ShareUpdateKey>

export const ShareUpdateValue = message(
  'ShareUpdateValue',
  { versions: '0', flexible: '0+' },
  {
    snapshotEpoch: int32('0+'),
    leaderEpoch: int32('0+'),
    startOffset: offset('0+'),
    deliveryCompleteCount: int32('0+', { default: -1, tag: 0 }),
    stateBatches: array('0+', {
      firstOffset: offset('0+'),
      lastOffset: offset('0+'),
      deliveryState: int8('0+'),
      deliveryCount: int16('0+'),
    }),
  },
)
export type ShareUpdateValue = Body<typeof ShareUpdateValue>
