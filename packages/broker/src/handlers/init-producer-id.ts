/**
 * InitProducerId v0-5: an id and an epoch for an idempotent producer (KIP-98, KIP-360). There are no transactions yet: a
 * transactional id is refused with the error at which every client stops at once.
 */
import { errorCode, type InitProducerIdResponse, type Input } from '@mq/protocol'
import { handler } from './handler.js'
import { nowAndThen } from './now-and-then.js'

type Response = Input<typeof InitProducerIdResponse>

const NONE = -1

export const initProducerId = handler('InitProducerId', { versions: '0-5' }, async (request, context) => {
  const refuse = (error: Parameters<typeof errorCode>[0]): Response => ({
    throttleTimeMs: 0,
    errorCode: errorCode(error),
    producerId: NONE,
    producerEpoch: NONE,
  })
  const { transactionalId, producerId, producerEpoch } = request
  const { broker } = context
  // Both or neither (KIP-360).
  if ((producerId === NONE) !== (producerEpoch === NONE)) return refuse('INVALID_REQUEST')
  if (transactionalId === '') return refuse('INVALID_REQUEST')
  if (transactionalId !== null) {
    const { clientId } = context
    nowAndThen(broker, 'transactional id', () =>
      broker.log.warn({ transactionalId, clientId }, 'refused a transactional id: there are no transactions yet'),
    )
    return refuse('TRANSACTIONAL_ID_AUTHORIZATION_FAILED')
  }
  // A producer without transactions that lost its place simply gets another id.
  const next = await broker.producerIds.next()
  return typeof next === 'number' ? { throttleTimeMs: 0, errorCode: 0, producerId: next, producerEpoch: 0 } : refuse(next)
})
