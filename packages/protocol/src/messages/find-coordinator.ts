// FindCoordinator: which broker leads the partition that keeps a group, a transaction or a share state.

import { array, int8, int16, int32, nullableString, string } from '../schema/fields.js'
import { type Body, message } from '../schema/message.js'

// v4 asks for several keys at once (KIP-699).
export const FindCoordinatorRequest = message(
  'FindCoordinatorRequest',
  { key: 10, versions: '0-6', flexible: '3+' },
  {
    key: string('0-3'),
    keyType: int8('1+'), // 0 group, 1 transaction, 2 share partition as group:topicId:partition
    coordinatorKeys: array('4+', 'string'),
  },
)
export type FindCoordinatorRequest = Body<typeof FindCoordinatorRequest>

export const FindCoordinatorResponse = message(
  'FindCoordinatorResponse',
  { key: 10, versions: '0-6', flexible: '3+' },
  {
    throttleTimeMs: int32('1+', { ignorable: true }),
    errorCode: int16('0-3'),
    errorMessage: nullableString('1-3', { ignorable: true }),
    nodeId: int32('0-3'),
    host: string('0-3'),
    port: int32('0-3'),
    coordinators: array('4+', {
      key: string('4+'),
      nodeId: int32('4+'),
      host: string('4+'),
      port: int32('4+'),
      errorCode: int16('4+'),
      errorMessage: nullableString('4+', { ignorable: true }),
    }),
  },
)
export type FindCoordinatorResponse = Body<typeof FindCoordinatorResponse>
