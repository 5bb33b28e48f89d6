/** AlterConfigs v0-2: the overrides of a topic become exactly what the request says. v2 flexible. Other resources come later. */
import { errorCode } from '@mq/protocol'
import { alterProblem, inOrder, repeatedIn } from './alterable.js'
import { handler } from './handler.js'

export const alterConfigs = handler('AlterConfigs', { versions: '0-2' }, async (request, { broker }) => {
  const repeated = repeatedIn(request.resources)
  const { sound, answers } = inOrder(request.resources, (resource) => alterProblem(resource, repeated))
  const results = await broker.controller.alterTopicConfigs({
    topics: sound.map(({ resourceName, configs }) => ({ topic: resourceName, configs })),
    validateOnly: request.validateOnly,
  })
  return { responses: answers(results, errorCode) }
})
