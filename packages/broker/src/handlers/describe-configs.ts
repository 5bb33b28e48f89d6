/** DescribeConfigs v0-4. v1 sources and synonyms (KIP-226), v3 types and documentation (KIP-569), v4 flexible. */
import { type ErrorName, errorCode } from '@mq/protocol'
import { answerMessage } from '../answer-message.js'
import { type DescribedConfig, type DescribeOptions, describeBroker, describeTopic } from '../config/describe.js'
import type { BrokerServices } from '../services.js'
import { topicNameProblem } from '../topic-name.js'
import { handler } from './handler.js'

/** ConfigResource.Type of the protocol. */
export const RESOURCE = { topic: 2, broker: 4, brokerLogger: 8, clientMetrics: 16 } as const

interface Failure {
  readonly error: ErrorName
  readonly message: string | null
}

/** After so many resources other requests have their turn: what is described may be a hundred times what was asked. */
const AT_ONCE = 100

export const describeConfigs = handler('DescribeConfigs', { versions: '0-4' }, async (request, { broker }) => {
  const known: readonly number[] = Object.values(RESOURCE)
  const strange = request.resources.find(({ resourceType }) => !known.includes(resourceType))
  const seen = new Set<string>()
  const results = []
  for (const { resourceType, resourceName, configurationKeys } of request.resources) {
    const options = { ...request, keys: configurationKeys }
    const key = `${resourceType} ${resourceName}`
    const answer = strange
      ? invalidRequest(`Unexpected resource type ${strange.resourceType} for resource ${strange.resourceName}`)
      : seen.has(key)
        ? invalidRequest('Each resource is described once.')
        : describe(resourceType, resourceName, options, broker)
    seen.add(key)
    // 3.9.1 never says `isDefault`, the word of v0 for what later versions call the source.
    if (!('error' in answer)) results.push({ resourceType, resourceName, configs: answer })
    else {
      results.push({
        resourceType,
        resourceName,
        errorCode: errorCode(answer.error),
        errorMessage: answerMessage(answer.message ?? ''),
        configs: [],
      })
    }
    if (results.length % AT_ONCE === 0) await new Promise<void>((resolve) => broker.turn.afterThisTurn(resolve))
  }
  return { results }
})

const invalidRequest = (message: string): Failure => ({ error: 'INVALID_REQUEST', message })

function describe(type: number, name: string, options: DescribeOptions, broker: BrokerServices): DescribedConfig[] | Failure {
  switch (type) {
    case RESOURCE.topic: {
      const problem = topicNameProblem(name)
      if (problem !== null) return { error: 'INVALID_TOPIC_EXCEPTION', message: problem }
      const topic = broker.controller.image().topic(name)
      if (topic === undefined) return { error: 'UNKNOWN_TOPIC_OR_PARTITION', message: null }
      return describeTopic(topic.configs, broker.settings, options)
    }
    case RESOURCE.broker: {
      // The empty name stands for the defaults of the whole cluster, of which none can be set yet.
      if (name === '') return []
      const problem = brokerIdProblem(name, broker.brokerId, 'or empty string, ')
      return problem ?? describeBroker(broker.settings, options)
    }
    case RESOURCE.brokerLogger: {
      if (name === '') return invalidRequest('Broker id must not be empty')
      // Levels of single loggers are a matter of the Java broker; ours has one level for all, set by a flag.
      return brokerIdProblem(name, broker.brokerId, '') ?? []
    }
    default:
      if (name === '') return invalidRequest('Client metrics subscription name must not be empty')
      return invalidRequest('Config type client-metrics is only supported on KRaft clusters')
  }
}

function brokerIdProblem(name: string, brokerId: number, alternative: string): Failure | null {
  if (!/^[+-]?\d{1,10}$/.test(name)) return invalidRequest(`Broker id must be an integer, but it is: ${name}`)
  if (Number(name) === brokerId) return null
  return invalidRequest(`Unexpected broker id, expected ${brokerId} ${alternative}but received ${name}`)
}
