// Client telemetry (KIP-714).

import { array, bool, bytes, int8, int16, int32, uuid } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

export const GetTelemetrySubscriptionsRequest = message(
  'GetTelemetrySubscriptionsRequest',
  { key: 71, versions: '0', flexible: '0+' },
  {
    clientInstanceId: uuid('0+'),
  },
)
export type GetTelemetrySubscriptionsRequest = Body<typeof GetTelemetrySubscriptionsRequest>

export const GetTelemetrySubscriptionsResponse = message(
  'GetTelemetrySubscriptionsResponse',
  { key: 71, versions: '0', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: int16('0+'),
    clientInstanceId: uuid('0+'),
    subscriptionId: int32('0+'),
    acceptedCompressionTypes: array('0+', 'int8'),
    pushIntervalMs: int32('0+'),
    telemetryMaxBytes: int32('0+'),
    deltaTemporality: bool('0+'),
    requestedMetrics: array('0+', 'string'),
  },
)
export type GetTelemetrySubscriptionsResponse = Body<typeof GetTelemetrySubscriptionsResponse>

export const PushTelemetryRequest = message(
  'PushTelemetryRequest',
  { key: 72, versions: '0', flexible: '0+' },
  {
    clientInstanceId: uuid('0+'),
    subscriptionId: int32('0+'),
    terminating: bool('0+'),
    compressionType: int8('0+'),
    metrics: bytes('0+'),
  },
)
export type PushTelemetryRequest = Body<typeof PushTelemetryRequest>

export const PushTelemetryResponse = message(
  'PushTelemetryResponse',
  { key: 72, versions: '0', flexible: '0+' },
  {
    throttleTimeMs: int32('0+'),
    errorCode: int16('0+'),
  },
)
export type PushTelemetryResponse = Body<typeof PushTelemetryResponse>
