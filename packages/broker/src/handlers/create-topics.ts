/** CreateTopics v0-7. v4 defaults for -1 (KIP-464), v5 flexible and answers with the topic's configs (KIP-525), v7 topic ids. */
import { errorCode } from '@mq/protocol'
import { describeTopic } from '../config/describe.js'
import { handler } from './handler.js'

export const createTopics = handler('CreateTopics', { versions: '0-7' }, async (request, { broker, apiVersion }) => {
  const results = await broker.controller.createTopics({
    topics: request.topics,
    validateOnly: request.validateOnly,
    timeoutMs: request.timeoutMs,
  })
  const options = { includeSynonyms: false, includeDocumentation: false, keys: null }
  return {
    topics: results.map(({ name, topicId, error, message, numPartitions, replicationFactor, configs }) => ({
      name,
      topicId,
      errorCode: errorCode(error),
      errorMessage: message,
      numPartitions,
      replicationFactor,
      configs:
        error !== 'NONE' || apiVersion < 5
          ? []
          : describeTopic(configs, broker.settings, options).map(({ name, value, readOnly, configSource, isSensitive }) => ({
              name,
              value,
              readOnly,
              configSource,
              isSensitive,
            })),
    })),
  }
})
