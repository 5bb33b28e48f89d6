// Records of the KRaft metadata log: brokers and controllers.

import { array, bool, int8, int16, int32, int64, nullableArray, nullableString, string, uint16, uuid } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

export const RegisterBrokerRecord = message(
  'RegisterBrokerRecord',
  { key: 0, versions: '0-4', flexible: '0+' },
  {
    brokerId: int32('0+'),
    isMigratingZkBroker: bool('2+'),
    incarnationId: uuid('0+'),
    brokerEpoch: int64('0+'),
    endPoints: array('0+', {
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
    fenced: bool('0+', { default: true }),
    inControlledShutdown: bool('1+'),
    logDirs: array('3+', 'uuid', { tag: 0 }),
    cordonedLogDirs: nullableArray('4+', 'uuid', { default: null, tag: 1 }),
  },
)
export type RegisterBrokerRecord = Body<typeof RegisterBrokerRecord>

export const UnregisterBrokerRecord = message(
  'UnregisterBrokerRecord',
  { key: 1, versions: '0', flexible: '0+' },
  {
    brokerId: int32('0+'),
    brokerEpoch: int64('0+'),
  },
)
export type UnregisterBrokerRecord = Body<typeof UnregisterBrokerRecord>

export const BrokerRegistrationChangeRecord = message(
  'BrokerRegistrationChangeRecord',
  { key: 17, versions: '0-3', flexible: '0+' },
  {
    brokerId: int32('0+'),
    brokerEpoch: int64('0+'),
    fenced: int8('0+', { tag: 0 }),
    inControlledShutdown: int8('1+', { tag: 1 }),
    logDirs: array('2+', 'uuid', { tag: 2 }),
    cordonedLogDirs: nullableArray('3+', 'uuid', { default: null, tag: 3 }),
  },
)
export type BrokerRegistrationChangeRecord = Body<typeof BrokerRegistrationChangeRecord>

export const FenceBrokerRecord = message(
  'FenceBrokerRecord',
  { key: 7, versions: '0', flexible: '0+' },
  {
    id: int32('0+'),
    epoch: int64('0+'),
  },
)
export type FenceBrokerRecord = Body<typeof FenceBrokerRecord>

export const UnfenceBrokerRecord = message(
  'UnfenceBrokerRecord',
  { key: 8, versions: '0', flexible: '0+' },
  {
    id: int32('0+'),
    epoch: int64('0+'),
  },
)
export type UnfenceBrokerRecord = Body<typeof UnfenceBrokerRecord>

export const RegisterControllerRecord = message(
  'RegisterControllerRecord',
  { key: 27, versions: '0', flexible: '0+' },
  {
    controllerId: int32('0+'),
    incarnationId: uuid('0+'),
    zkMigrationReady: bool('0+'),
    endPoints: array('0+', {
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
export type RegisterControllerRecord = Body<typeof RegisterControllerRecord>

export const UnregisterControllerRecord = message(
  'UnregisterControllerRecord',
  { key: 29, versions: '0', flexible: '0+' },
  {
    controllerId: int32('0+'),
  },
)
export type UnregisterControllerRecord = Body<typeof UnregisterControllerRecord>
