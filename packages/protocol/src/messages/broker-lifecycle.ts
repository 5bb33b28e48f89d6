// How brokers and controllers enter and leave a KRaft cluster (KIP-631).

import {
  array,
  bool,
  int16,
  int32,
  int64,
  nullableArray,
  nullableString,
  offset,
  string,
  uint16,
  uuid,
} from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

export const BrokerRegistrationRequest = message(
  'BrokerRegistrationRequest',
  { key: 62, versions: '0-4', flexible: '0+' },
  {
    brokerId: int32('0+'),
    clusterId: string('0+'),
    incarnationId: uuid('0+'),
    listeners: array('0+', {
      name: string('0+', { mapKey: true }),
      host: string('0+'),
      port: uint16('0+'),
      securityProtocol: int16('0+'),
    }),
    features: array('0+', {
      name: string('0+', { mapKey: true }),
      minSupportedVersion: int16('0+'),
      maxSupportedVersion: int16('0+'),
    }),
    rack: nullableString('0+'),
    isMigratingZkBroker: bool('1+'),
    logDirs: array('2+', 'uuid', { ignorable: true }),
    previousBrokerEpoch: int64('3+', { default: -1, ignorable: true }),
  },
)
export type BrokerRegistrationRequest = Body<typeof BrokerRegistrationRequest>

export const BrokerRegistrationResponse = message(
  'BrokerRegistrationResponse',
  { key: 62, versions: '0-4', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: int16('0+'),
    brokerEpoch: int64('0+', { default: -1 }),
  },
)
export type BrokerRegistrationResponse = Body<typeof BrokerRegistrationResponse>

export const BrokerHeartbeatRequest = message(
  'BrokerHeartbeatRequest',
  { key: 63, versions: '0-2', flexible: '0+' },
  {
    brokerId: int32('0+'),
    brokerEpoch: int64('0+', { default: -1 }),
    currentMetadataOffset: offset('0+'),
    wantFence: bool('0+'),
    wantShutDown: bool('0+'),
    offlineLogDirs: array('1+', 'uuid', { tag: 0 }),
    cordonedLogDirs: nullableArray('2+', 'uuid', { default: null, tag: 1 }),
  },
)
export type BrokerHeartbeatRequest = Body<typeof BrokerHeartbeatRequest>

export const BrokerHeartbeatResponse = message(
  'BrokerHeartbeatResponse',
  { key: 63, versions: '0-2', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: int16('0+'),
    isCaughtUp: bool('0+'),
    isFenced: bool('0+', { default: true }),
    shouldShutDown: bool('0+'),
  },
)
export type BrokerHeartbeatResponse = Body<typeof BrokerHeartbeatResponse>

export const UnregisterBrokerRequest = message(
  'UnregisterBrokerRequest',
  { key: 64, versions: '0', flexible: '0+' },
  {
    brokerId: int32('0+'),
  },
)
export type UnregisterBrokerRequest = Body<typeof UnregisterBrokerRequest>

export const UnregisterBrokerResponse = message(
  'UnregisterBrokerResponse',
  { key: 64, versions: '0', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: int16('0+'),
    errorMessage: nullableString('0+'),
  },
)
export type UnregisterBrokerResponse = Body<typeof UnregisterBrokerResponse>

export const ControllerRegistrationRequest = message(
  'ControllerRegistrationRequest',
  { key: 70, versions: '0', flexible: '0+' },
  {
    controllerId: int32('0+'),
    incarnationId: uuid('0+'),
    zkMigrationReady: bool('0+'),
    listeners: array('0+', {
      name: string('0+', { mapKey: true }),
      host: string('0+'),
      port: uint16('0+'),
      securityProtocol: int16('0+'),
    }),
    features: array('0+', {
      name: string('0+', { mapKey: true }),
      minSupportedVersion: int16('0+'),
      maxSupportedVersion: int16('0+'),
    }),
  },
)
export type ControllerRegistrationRequest = Body<typeof ControllerRegistrationRequest>

export const ControllerRegistrationResponse = message(
  'ControllerRegistrationResponse',
  { key: 70, versions: '0', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: int16('0+'),
    errorMessage: nullableString('0+'),
  },
)
export type ControllerRegistrationResponse = Body<typeof ControllerRegistrationResponse>

export const UnregisterControllerRequest = message(
  'UnregisterControllerRequest',
  { key: 94, versions: '0', flexible: '0+' },
  {
    controllerId: int32('0+'),
  },
)
export type UnregisterControllerRequest = Body<typeof UnregisterControllerRequest>

export const UnregisterControllerResponse = message(
  'UnregisterControllerResponse',
  { key: 94, versions: '0', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: int16('0+'),
    errorMessage: nullableString('0+'),
  },
)
export type UnregisterControllerResponse = Body<typeof UnregisterControllerResponse>
