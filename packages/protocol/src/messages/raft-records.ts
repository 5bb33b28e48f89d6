// Control records of a Raft log, and the file quorum-state.

import { array, int16, int32, nullableArray, offset, string, struct, timestamp, uint16, uuid } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

const voter = {
  voterId: int32('0+'),
  voterDirectoryId: uuid('1+'),
} as const

export const LeaderChangeMessage = message(
  'LeaderChangeMessage',
  { versions: '0-1', flexible: '0+' },
  {
    version: int16('0+'),
    leaderId: int32('0+'),
    voters: array('0+', voter),
    grantingVoters: array('0+', voter),
  },
)
export type LeaderChangeMessage = Body<typeof LeaderChangeMessage>

export const KRaftVersionRecord = message(
  'KRaftVersionRecord',
  { versions: '0', flexible: '0+' },
  {
    version: int16('0+'),
    kRaftVersion: int16('0+'),
  },
)
export type KRaftVersionRecord = Body<typeof KRaftVersionRecord>

export const VotersRecord = message(
  'VotersRecord',
  { versions: '0', flexible: '0+' },
  {
    version: int16('0+'),
    voters: array('0+', {
      voterId: int32('0+'),
      voterDirectoryId: uuid('0+'),
      endpoints: array('0+', {
        name: string('0+', { mapKey: true }),
        host: string('0+'),
        port: uint16('0+'),
      }),
      kRaftVersionFeature: struct('0+', {
        minSupportedVersion: int16('0+'),
        maxSupportedVersion: int16('0+'),
      }),
    }),
  },
)
export type VotersRecord = Body<typeof VotersRecord>

export const SnapshotHeaderRecord = message(
  'SnapshotHeaderRecord',
  { versions: '0', flexible: '0+' },
  {
    version: int16('0+'),
    lastContainedLogTimestamp: timestamp('0+'),
  },
)
export type SnapshotHeaderRecord = Body<typeof SnapshotHeaderRecord>

export const SnapshotFooterRecord = message(
  'SnapshotFooterRecord',
  { versions: '0', flexible: '0+' },
  {
    version: int16('0+'),
  },
)
export type SnapshotFooterRecord = Body<typeof SnapshotFooterRecord>

export const QuorumStateData = message(
  'QuorumStateData',
  { versions: '0-1', flexible: '0+' },
  {
    clusterId: string('0'),
    leaderId: int32('0+', { default: -1 }),
    leaderEpoch: int32('0+', { default: -1 }),
    votedId: int32('0+', { default: -1 }),
    votedDirectoryId: uuid('1+'),
    appliedOffset: offset('0'),
    currentVoters: nullableArray('0', {
      voterId: int32('0'),
    }),
  },
)
export type QuorumStateData = Body<typeof QuorumStateData>
