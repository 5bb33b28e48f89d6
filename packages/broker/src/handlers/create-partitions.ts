/** CreatePartitions v0-3. v2 flexible. */
import { errorCode } from '@mq/protocol'
import { handler } from './handler.js'

export const createPartitions = handler('CreatePartitions', { versions: '0-3' }, async (request, { broker }) => {
  const results = await broker.controller.createPartitions({
    topics: request.topics.map(({ name, count, assignments }) => ({
      name,
      count,
      assignments: assignments === null ? null : assignments.map(({ brokerIds }) => brokerIds),
    })),
    validateOnly: request.validateOnly,
    timeoutMs: request.timeoutMs,
  })
  return {
    results: results.map(({ name, error, message }) => ({ name, errorCode: errorCode(error), errorMessage: message })),
  }
})
