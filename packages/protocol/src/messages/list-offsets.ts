// ListOffsets: an offset for a timestamp or for one of the special times (earliest, latest …).

import { array, int8, int16, int32, offset, string, timestamp } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

// v0 asks for up to a number of offsets before a time, later versions for the first at or after it.
// Special times: -1 latest, -2 earliest, -3 largest timestamp (v7), -4 earliest local (v8), -5 last in remote storage (v9).
export const ListOffsetsRequest = message(
  'ListOffsetsRequest',
  { key: 2, versions: '0-11', flexible: '6+' },
  {
    replicaId: int32('0+'), // -1 for a consumer
    isolationLevel: int8('2+'), // 0 read_uncommitted, 1 read_committed
    topics: array('0+', {
      name: string('0+'),
      partitions: array('0+', {
        partitionIndex: int32('0+'),
        currentLeaderEpoch: int32('4+', { default: -1, ignorable: true }), // KIP-320
        timestamp: timestamp('0+'),
        maxNumOffsets: int32('0', { default: 1 }),
      }),
    }),
    timeoutMs: int32('10+', { ignorable: true }), // for offsets in remote storage (KIP-1075)
  },
)
export type ListOffsetsRequest = Body<typeof ListOffsetsRequest>

export const ListOffsetsResponse = message(
  'ListOffsetsResponse',
  { key: 2, versions: '0-11', flexible: '6+' },
  {
    throttleTimeMs: int32('2+', { ignorable: true }),
    topics: array('0+', {
      name: string('0+'),
      partitions: array('0+', {
        partitionIndex: int32('0+'),
        errorCode: int16('0+'),
        oldStyleOffsets: array('0', 'int64'), // newest first
        timestamp: timestamp('1+', { default: -1 }),
        offset: offset('1+', { default: -1 }),
        leaderEpoch: int32('4+', { default: -1 }), // KIP-320
      }),
    }),
  },
)
export type ListOffsetsResponse = Body<typeof ListOffsetsResponse>
