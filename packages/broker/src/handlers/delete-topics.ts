/** DeleteTopics v0-6. v4 flexible, v5 error messages, v6 by topic id. */
import { type Body, type DeleteTopicsRequest, type ErrorName, errorCode, ZERO_UUID } from '@mq/protocol'
import { handler } from './handler.js'

export const deleteTopics = handler('DeleteTopics', { versions: '0-6' }, async (request, { broker, apiVersion }) => {
  const topics = topicsOf(request, apiVersion)
  if (topics.some(({ name, topicId }) => name !== null && topicId !== ZERO_UUID)) {
    return { responses: topics.map((topic) => ({ ...topic, errorCode: errorCode('INVALID_REQUEST') })) }
  }
  const results = await broker.controller.deleteTopics({ topics, timeoutMs: request.timeoutMs })
  return {
    responses: results.map(({ name, topicId, error }) => ({ name, topicId, errorCode: errorCode(known(error, apiVersion)) })),
  }
})

function topicsOf(request: Body<typeof DeleteTopicsRequest>, version: number): { name: string | null; topicId: string }[] {
  return version >= 6 ? request.topics : request.topicNames.map((name) => ({ name, topicId: ZERO_UUID }))
}

/** TOPIC_DELETION_DISABLED came with v3. */
function known(error: ErrorName, version: number): ErrorName {
  return error === 'TOPIC_DELETION_DISABLED' && version < 3 ? 'INVALID_REQUEST' : error
}
