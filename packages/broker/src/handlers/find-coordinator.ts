/**
 * FindCoordinator v0-6: which broker keeps a group. v1 transactional ids (key type 1), v4 several keys at a time (KIP-699), v6 share
 * groups (key type 2, KIP-932). This broker has no transactions yet and says so with an error that no client retries.
 */
import { ERRORS, type ErrorName, errorCode } from '@mq/protocol'
import { OFFSETS_TOPIC } from '../group-coordinator.js'
import type { BrokerServices, RequestContext } from '../services.js'
import { handler } from './handler.js'
import { nowAndThen } from './now-and-then.js'

const GROUP = 0
const TRANSACTION = 1
const SHARE = 2

interface Found {
  readonly error: ErrorName
  readonly message: string | null
  readonly nodeId: number
  readonly host: string
  readonly port: number
}

export const findCoordinator = handler('FindCoordinator', { versions: '0-6' }, async (request, context) => {
  if (context.apiVersion < 4) {
    const { error, message, ...node } = await find(request.key, request.keyType, context)
    // No error is called NONE, as by Kafka.
    return { errorCode: errorCode(error), errorMessage: message ?? (error === 'NONE' ? error : ERRORS[error].meaning), ...node }
  }
  const coordinators = []
  for (const key of request.coordinatorKeys) {
    const { error, message, ...node } = await find(key, request.keyType, context)
    coordinators.push({ key, errorCode: errorCode(error), errorMessage: message ?? '', ...node })
  }
  return { coordinators }
})

const notFound = (error: ErrorName, message: string | null = null): Found => ({ error, message, nodeId: -1, host: '', port: -1 })

async function find(key: string, keyType: number, context: RequestContext): Promise<Found> {
  const { broker, apiVersion } = context
  if (keyType === TRANSACTION) {
    nowAndThen(broker, 'transactions', () =>
      broker.log.warn(
        { transactionalId: key, client: context.clientId },
        'a client asked for transactions, which this broker does not have yet',
      ),
    )
    return notFound('TRANSACTIONAL_ID_AUTHORIZATION_FAILED', 'This broker has no transactions yet.')
  }
  if (keyType === SHARE && apiVersion >= 6) return notFound('COORDINATOR_NOT_AVAILABLE')
  if (keyType === SHARE) return notFound('INVALID_REQUEST')
  if (keyType !== GROUP) return notFound('INVALID_REQUEST', `There is no key type ${keyType}.`)
  const partition = (await offsetsTopic(broker))?.partitions[broker.groups.partitionFor(key)]
  const leader = partition && broker.controller.image().brokers.get(partition.leader)
  const endpoint = leader?.endpoints.find(({ listenerName }) => listenerName === context.listenerName)
  if (!leader || !endpoint) return notFound('COORDINATOR_NOT_AVAILABLE')
  return { error: 'NONE', message: null, nodeId: leader.id, host: endpoint.host, port: endpoint.port }
}

/** The topic that keeps groups is made when the first one is asked for. */
async function offsetsTopic(broker: BrokerServices) {
  const existing = broker.controller.image().topic(OFFSETS_TOPIC)
  if (existing) return existing
  const [result] = await broker.controller.autoCreateTopics([OFFSETS_TOPIC])
  const created = broker.controller.image().topic(OFFSETS_TOPIC)
  if (!created && result) complain(broker, result.error, result.message)
  return created
}

/** Which setting it is, since the client will only hear that there is no coordinator. */
function complain(broker: BrokerServices, error: string, reason: string | null): void {
  const fields = {
    error,
    reason,
    'offsets.topic.replication.factor': broker.config['offsets.topic.replication.factor'],
    brokers: broker.controller.image().brokers.size,
  }
  nowAndThen(broker, 'offsets topic', () =>
    broker.log.warn(
      fields,
      'no group can be served: the offsets topic could not be created (see offsets.topic.replication.factor)',
    ),
  )
}
