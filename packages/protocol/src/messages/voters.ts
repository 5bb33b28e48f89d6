// Voters of the Raft quorum: add, remove, update (KIP-853).

import { array, bool, int16, int32, nullableString, string, struct, uint16, uuid } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

export const AddRaftVoterRequest = message(
  'AddRaftVoterRequest',
  { key: 80, versions: '0-1', flexible: '0+' },
  {
    clusterId: nullableString('0+'),
    timeoutMs: int32('0+'),
    voterId: int32('0+'),
    voterDirectoryId: uuid('0+'),
    listeners: array('0+', {
      name: string('0+', { mapKey: true }),
      host: string('0+'),
      port: uint16('0+'),
    }),
    ackWhenCommitted: bool('1+', { default: true }),
  },
)
export type AddRaftVoterRequest = Body<typeof AddRaftVoterRequest>

export const AddRaftVoterResponse = message(
  'AddRaftVoterResponse',
  { key: 80, versions: '0-1', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: int16('0+'),
    errorMessage: nullableString('0+', { ignorable: true }),
  },
)
export type AddRaftVoterResponse = Body<typeof AddRaftVoterResponse>

export const RemoveRaftVoterRequest = message(
  'RemoveRaftVoterRequest',
  { key: 81, versions: '0', flexible: '0+' },
  {
    clusterId: nullableString('0+'),
    voterId: int32('0+'),
    voterDirectoryId: uuid('0+'),
  },
)
export type RemoveRaftVoterRequest = Body<typeof RemoveRaftVoterRequest>

export const RemoveRaftVoterResponse = message(
  'RemoveRaftVoterResponse',
  { key: 81, versions: '0', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: int16('0+'),
    errorMessage: nullableString('0+', { ignorable: true }),
  },
)
export type RemoveRaftVoterResponse = Body<typeof RemoveRaftVoterResponse>

export const UpdateRaftVoterRequest = message(
  'UpdateRaftVoterRequest',
  { key: 82, versions: '0', flexible: '0+' },
  {
    clusterId: nullableString('0+'),
    currentLeaderEpoch: int32('0+'),
    voterId: int32('0+'),
    voterDirectoryId: uuid('0+'),
    listeners: array('0+', {
      name: string('0+', { mapKey: true }),
      host: string('0+'),
      port: uint16('0+'),
    }),
    kRaftVersionFeature: struct('0+', {
      minSupportedVersion: int16('0+'),
      maxSupportedVersion: int16('0+'),
    }),
  },
)
export type UpdateRaftVoterRequest = Body<typeof UpdateRaftVoterRequest>

export const UpdateRaftVoterResponse = message(
  'UpdateRaftVoterResponse',
  { key: 82, versions: '0', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: int16('0+'),
    currentLeader: struct(
      '0+',
      {
        leaderId: int32('0+', { default: -1 }),
        leaderEpoch: int32('0+', { default: -1 }),
        host: string('0+'),
        port: int32('0+'),
      },
      { tag: 0 },
    ),
  },
)
export type UpdateRaftVoterResponse = Body<typeof UpdateRaftVoterResponse>
