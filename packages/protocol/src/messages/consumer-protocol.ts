// What consumers put into the opaque bytes of JoinGroup and SyncGroup. A leading int16 names the version.

import { array, int32, nullableBytes, nullableString, string } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

// v1 names owned partitions for cooperative rebalances (KIP-429), v2 the generation they are of, v3 the rack (KIP-881).
export const ConsumerProtocolSubscription = message(
  'ConsumerProtocolSubscription',
  { versions: '0-3' },
  {
    topics: array('0+', 'string'),
    userData: nullableBytes('0+', { default: null }),
    // KIP-429
    ownedPartitions: array(
      '1+',
      {
        topic: string('1+', { mapKey: true }),
        partitions: array('1+', 'int32'),
      },
      { ignorable: true },
    ),
    generationId: int32('2+', { default: -1, ignorable: true }), // KIP-792
    rackId: nullableString('3+', { default: null, ignorable: true }), // KIP-881
  },
)
export type ConsumerProtocolSubscription = Body<typeof ConsumerProtocolSubscription>

export const ConsumerProtocolAssignment = message(
  'ConsumerProtocolAssignment',
  { versions: '0-3' },
  {
    assignedPartitions: array('0+', {
      topic: string('0+', { mapKey: true }),
      partitions: array('0+', 'int32'),
    }),
    userData: nullableBytes('0+', { default: null }),
  },
)
export type ConsumerProtocolAssignment = Body<typeof ConsumerProtocolAssignment>
