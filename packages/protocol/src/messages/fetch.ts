// Fetch: records of partitions, for consumers and followers, in sessions (KIP-227).

import {
  array,
  int8,
  int16,
  int32,
  int64,
  nullableArray,
  nullableRecords,
  nullableString,
  offset,
  string,
  struct,
  uuid,
} from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

// v10 allows zstd (KIP-110), v12 finds diverging epochs (KIP-595), v13 names topics by id (KIP-516).
// From v15 on a follower stands in a tag, with its broker epoch (KIP-903).
export const FetchRequest = message(
  'FetchRequest',
  { key: 1, versions: '0-18', flexible: '12+' },
  {
    clusterId: nullableString('12+', { default: null, ignorable: true, tag: 0 }), // for voters of a Raft quorum
    replicaId: int32('0-14', { default: -1 }), // broker id of a follower, -1 for a consumer, -2 for debugging
    // replica id and epoch, from v15 on (KIP-903)
    replicaState: struct(
      '15+',
      {
        replicaId: int32('15+', { default: -1 }), // broker id of a follower, -1 for a consumer, -2 for debugging
        replicaEpoch: int64('15+', { default: -1 }),
      },
      { tag: 1 },
    ),
    maxWaitMs: int32('0+'),
    minBytes: int32('0+'),
    maxBytes: int32('3+', { default: 0x7fffffff, ignorable: true }), // of the whole answer (KIP-74)
    isolationLevel: int8('4+', { ignorable: true }), // 0 read_uncommitted, 1 read_committed (KIP-98)
    sessionId: int32('7+', { ignorable: true }), // 0 opens a session (KIP-227)
    sessionEpoch: int32('7+', { default: -1, ignorable: true }), // -1 none, 0 first, then counted
    topics: array('0+', {
      topic: string('0-12', { ignorable: true }),
      topicId: uuid('13+', { ignorable: true }),
      partitions: array('0+', {
        partition: int32('0+'),
        currentLeaderEpoch: int32('9+', { default: -1, ignorable: true }), // checked against the leader (KIP-320)
        fetchOffset: offset('0+'),
        lastFetchedEpoch: int32('12+', { default: -1 }), // epoch of the last record the follower has (KIP-595)
        logStartOffset: offset('5+', { default: -1, ignorable: true }), // of the follower
        partitionMaxBytes: int32('0+'),
        replicaDirectoryId: uuid('17+', { ignorable: true, tag: 0 }), // KIP-853
        highWatermark: offset('18+', { default: 9223372036854775807n, ignorable: true, tag: 1 }), // known to the follower
      }),
    }),
    // partitions that leave the session
    forgottenTopicsData: array('7+', {
      topic: string('7-12', { ignorable: true }),
      topicId: uuid('13+', { ignorable: true }),
      partitions: array('7+', 'int32'),
    }),
    rackId: string('11+', { ignorable: true }), // for reading from the nearest replica (KIP-392)
  },
)
export type FetchRequest = Body<typeof FetchRequest>

export const FetchResponse = message(
  'FetchResponse',
  { key: 1, versions: '0-18', flexible: '12+' },
  {
    throttleTimeMs: int32('1+', { ignorable: true }),
    errorCode: int16('7+', { ignorable: true }),
    sessionId: int32('7+'), // 0: no session (KIP-227)
    responses: array('0+', {
      topic: string('0-12', { ignorable: true }),
      topicId: uuid('13+', { ignorable: true }),
      partitions: array('0+', {
        partitionIndex: int32('0+'),
        errorCode: int16('0+'),
        highWatermark: offset('0+'),
        lastStableOffset: offset('4+', { default: -1, ignorable: true }), // below it no transaction is open (KIP-98)
        logStartOffset: offset('5+', { default: -1, ignorable: true }),
        // where the logs part: the follower truncates (KIP-595)
        divergingEpoch: struct(
          '12+',
          {
            epoch: int32('12+', { default: -1 }),
            endOffset: offset('12+', { default: -1 }),
          },
          { tag: 0 },
        ),
        // where to go instead (KIP-951)
        currentLeader: struct(
          '12+',
          {
            leaderId: int32('12+', { default: -1 }),
            leaderEpoch: int32('12+', { default: -1 }),
          },
          { tag: 1 },
        ),
        // the follower must fetch a snapshot first (KIP-630)
        snapshotId: struct(
          '12+',
          {
            endOffset: offset('0+', { default: -1 }),
            epoch: int32('0+', { default: -1 }),
          },
          { tag: 2 },
        ),
        // null when everything was asked for
        abortedTransactions: nullableArray(
          '4+',
          {
            producerId: int64('4+'),
            firstOffset: offset('4+'),
          },
          { ignorable: true },
        ),
        preferredReadReplica: int32('11+', { default: -1 }), // KIP-392
        records: nullableRecords('0+'),
      }),
    }),
    // addresses of the leaders above (KIP-951)
    nodeEndpoints: array(
      '16+',
      {
        nodeId: int32('16+', { mapKey: true }),
        host: string('16+'),
        port: int32('16+'),
        rack: nullableString('16+', { default: null }),
      },
      { tag: 0 },
    ),
  },
)
export type FetchResponse = Body<typeof FetchResponse>
