// The Raft quorum of KRaft: elections, state, snapshots (KIP-595, KIP-630).

import {
  array,
  bool,
  int16,
  int32,
  int64,
  nullableString,
  offset,
  records,
  string,
  struct,
  timestamp,
  uint16,
  uuid,
} from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

// 4.x renames candidate to replica, since a voter may ask without being a candidate (KIP-996); here the names of 3.9.1 stay.
export const VoteRequest = message(
  'VoteRequest',
  { key: 52, versions: '0-2', flexible: '0+' },
  {
    clusterId: nullableString('0+', { default: null }),
    voterId: int32('1+', { default: -1, ignorable: true }),
    topics: array('0+', {
      topicName: string('0+'),
      partitions: array('0+', {
        partitionIndex: int32('0+'),
        candidateEpoch: int32('0+'),
        candidateId: int32('0+'),
        candidateDirectoryId: uuid('1+', { ignorable: true }),
        voterDirectoryId: uuid('1+', { ignorable: true }),
        lastOffsetEpoch: int32('0+'),
        lastOffset: offset('0+'),
        preVote: bool('2+'),
      }),
    }),
  },
)
export type VoteRequest = Body<typeof VoteRequest>

export const VoteResponse = message(
  'VoteResponse',
  { key: 52, versions: '0-2', flexible: '0+' },
  {
    errorCode: int16('0+'),
    topics: array('0+', {
      topicName: string('0+'),
      partitions: array('0+', {
        partitionIndex: int32('0+'),
        errorCode: int16('0+'),
        leaderId: int32('0+'),
        leaderEpoch: int32('0+'),
        voteGranted: bool('0+'),
      }),
    }),
    nodeEndpoints: array(
      '1+',
      {
        nodeId: int32('1+', { mapKey: true }),
        host: string('1+'),
        port: uint16('1+'),
      },
      { tag: 0 },
    ),
  },
)
export type VoteResponse = Body<typeof VoteResponse>

export const BeginQuorumEpochRequest = message(
  'BeginQuorumEpochRequest',
  { key: 53, versions: '0-1', flexible: '1+' },
  {
    clusterId: nullableString('0+', { default: null }),
    voterId: int32('1+', { default: -1, ignorable: true }),
    topics: array('0+', {
      topicName: string('0+'),
      partitions: array('0+', {
        partitionIndex: int32('0+'),
        voterDirectoryId: uuid('1+', { ignorable: true }),
        leaderId: int32('0+'),
        leaderEpoch: int32('0+'),
      }),
    }),
    leaderEndpoints: array(
      '1+',
      {
        name: string('1+', { mapKey: true }),
        host: string('1+'),
        port: uint16('1+'),
      },
      { ignorable: true },
    ),
  },
)
export type BeginQuorumEpochRequest = Body<typeof BeginQuorumEpochRequest>

export const BeginQuorumEpochResponse = message(
  'BeginQuorumEpochResponse',
  { key: 53, versions: '0-1', flexible: '1+' },
  {
    errorCode: int16('0+'),
    topics: array('0+', {
      topicName: string('0+'),
      partitions: array('0+', {
        partitionIndex: int32('0+'),
        errorCode: int16('0+'),
        leaderId: int32('0+'),
        leaderEpoch: int32('0+'),
      }),
    }),
    nodeEndpoints: array(
      '1+',
      {
        nodeId: int32('1+', { mapKey: true }),
        host: string('1+'),
        port: uint16('1+'),
      },
      { tag: 0 },
    ),
  },
)
export type BeginQuorumEpochResponse = Body<typeof BeginQuorumEpochResponse>

export const EndQuorumEpochRequest = message(
  'EndQuorumEpochRequest',
  { key: 54, versions: '0-1', flexible: '1+' },
  {
    clusterId: nullableString('0+', { default: null }),
    topics: array('0+', {
      topicName: string('0+'),
      partitions: array('0+', {
        partitionIndex: int32('0+'),
        leaderId: int32('0+'),
        leaderEpoch: int32('0+'),
        preferredSuccessors: array('0', 'int32', { ignorable: true }),
        preferredCandidates: array(
          '1+',
          {
            candidateId: int32('1+'),
            candidateDirectoryId: uuid('1+'),
          },
          { ignorable: true },
        ),
      }),
    }),
    leaderEndpoints: array(
      '1+',
      {
        name: string('1+', { mapKey: true }),
        host: string('1+'),
        port: uint16('1+'),
      },
      { ignorable: true },
    ),
  },
)
export type EndQuorumEpochRequest = Body<typeof EndQuorumEpochRequest>

export const EndQuorumEpochResponse = message(
  'EndQuorumEpochResponse',
  { key: 54, versions: '0-1', flexible: '1+' },
  {
    errorCode: int16('0+'),
    topics: array('0+', {
      topicName: string('0+'),
      partitions: array('0+', {
        partitionIndex: int32('0+'),
        errorCode: int16('0+'),
        leaderId: int32('0+'),
        leaderEpoch: int32('0+'),
      }),
    }),
    nodeEndpoints: array(
      '1+',
      {
        nodeId: int32('1+', { mapKey: true }),
        host: string('1+'),
        port: uint16('1+'),
      },
      { tag: 0 },
    ),
  },
)
export type EndQuorumEpochResponse = Body<typeof EndQuorumEpochResponse>

export const DescribeQuorumRequest = message(
  'DescribeQuorumRequest',
  { key: 55, versions: '0-2', flexible: '0+' },
  {
    topics: array('0+', {
      topicName: string('0+'),
      partitions: array('0+', {
        partitionIndex: int32('0+'),
      }),
    }),
  },
)
export type DescribeQuorumRequest = Body<typeof DescribeQuorumRequest>

const replicaState = {
  replicaId: int32('0+'),
  replicaDirectoryId: uuid('2+'),
  logEndOffset: offset('0+'),
  lastFetchTimestamp: timestamp('1+', { default: -1, ignorable: true }),
  lastCaughtUpTimestamp: timestamp('1+', { default: -1, ignorable: true }),
} as const

export const DescribeQuorumResponse = message(
  'DescribeQuorumResponse',
  { key: 55, versions: '0-2', flexible: '0+' },
  {
    errorCode: int16('0+'),
    errorMessage: nullableString('2+', { ignorable: true }),
    topics: array('0+', {
      topicName: string('0+'),
      partitions: array('0+', {
        partitionIndex: int32('0+'),
        errorCode: int16('0+'),
        errorMessage: nullableString('2+', { ignorable: true }),
        leaderId: int32('0+'),
        leaderEpoch: int32('0+'),
        highWatermark: offset('0+'),
        currentVoters: array('0+', replicaState),
        observers: array('0+', replicaState),
      }),
    }),
    nodes: array('2+', {
      nodeId: int32('2+', { mapKey: true }),
      listeners: array('2+', {
        name: string('2+', { mapKey: true }),
        host: string('2+'),
        port: uint16('2+'),
      }),
    }),
  },
)
export type DescribeQuorumResponse = Body<typeof DescribeQuorumResponse>

export const FetchSnapshotRequest = message(
  'FetchSnapshotRequest',
  { key: 59, versions: '0-1', flexible: '0+' },
  {
    clusterId: nullableString('0+', { default: null, tag: 0 }),
    replicaId: int32('0+', { default: -1 }),
    maxBytes: int32('0+', { default: 0x7fffffff }),
    topics: array('0+', {
      name: string('0+'),
      partitions: array('0+', {
        partition: int32('0+'),
        currentLeaderEpoch: int32('0+'),
        snapshotId: struct('0+', {
          endOffset: offset('0+'),
          epoch: int32('0+'),
        }),
        position: int64('0+'),
        replicaDirectoryId: uuid('1+', { ignorable: true, tag: 0 }),
      }),
    }),
  },
)
export type FetchSnapshotRequest = Body<typeof FetchSnapshotRequest>

export const FetchSnapshotResponse = message(
  'FetchSnapshotResponse',
  { key: 59, versions: '0-1', flexible: '0+' },
  {
    throttleTimeMs: int32('0+', { ignorable: true }),
    errorCode: int16('0+'),
    topics: array('0+', {
      name: string('0+'),
      partitions: array('0+', {
        index: int32('0+'),
        errorCode: int16('0+'),
        snapshotId: struct('0+', {
          endOffset: offset('0+'),
          epoch: int32('0+'),
        }),
        currentLeader: struct(
          '0+',
          {
            leaderId: int32('0+'),
            leaderEpoch: int32('0+'),
          },
          { tag: 0 },
        ),
        size: int64('0+'),
        position: int64('0+'),
        unalignedRecords: records('0+'),
      }),
    }),
    nodeEndpoints: array(
      '1+',
      {
        nodeId: int32('1+', { mapKey: true }),
        host: string('1+'),
        port: uint16('1+'),
      },
      { tag: 0 },
    ),
  },
)
export type FetchSnapshotResponse = Body<typeof FetchSnapshotResponse>
