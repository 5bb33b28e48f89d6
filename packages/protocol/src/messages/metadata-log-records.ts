// Records of the KRaft metadata log: features, producer ids, transactions of the log itself, migration.

import { int8, int16, int32, int64, nullableString, string } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

export const FeatureLevelRecord = message(
  'FeatureLevelRecord',
  { key: 12, versions: '0', flexible: '0+' },
  {
    name: string('0+'),
    featureLevel: int16('0+'),
  },
)
export type FeatureLevelRecord = Body<typeof FeatureLevelRecord>

export const ProducerIdsRecord = message(
  'ProducerIdsRecord',
  { key: 15, versions: '0', flexible: '0+' },
  {
    brokerId: int32('0+'),
    brokerEpoch: int64('0+', { default: -1 }),
    nextProducerId: int64('0+'),
  },
)
export type ProducerIdsRecord = Body<typeof ProducerIdsRecord>

export const NoOpRecord = message('NoOpRecord', { key: 20, versions: '0', flexible: '0+' }, {})
export type NoOpRecord = Body<typeof NoOpRecord>

export const BeginTransactionRecord = message(
  'BeginTransactionRecord',
  { key: 23, versions: '0', flexible: '0+' },
  {
    name: nullableString('0+', { default: null, tag: 0 }),
  },
)
export type BeginTransactionRecord = Body<typeof BeginTransactionRecord>

export const EndTransactionRecord = message('EndTransactionRecord', { key: 24, versions: '0', flexible: '0+' }, {})
export type EndTransactionRecord = Body<typeof EndTransactionRecord>

export const AbortTransactionRecord = message(
  'AbortTransactionRecord',
  { key: 25, versions: '0', flexible: '0+' },
  {
    reason: nullableString('0+', { default: null, tag: 0 }),
  },
)
export type AbortTransactionRecord = Body<typeof AbortTransactionRecord>

export const ZkMigrationRecord = message(
  'ZkMigrationRecord',
  { key: 21, versions: '0', flexible: '0+' },
  {
    zkMigrationState: int8('0+'),
  },
)
export type ZkMigrationRecord = Body<typeof ZkMigrationRecord>
