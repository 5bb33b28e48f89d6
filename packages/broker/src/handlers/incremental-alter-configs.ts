/** IncrementalAlterConfigs v0-1 (KIP-339): set, delete, append to or subtract from single overrides of topics. v1 flexible. */
import { errorCode } from '@mq/protocol'
import { alterProblem, inOrder, repeatedIn } from './alterable.js'
import { handler } from './handler.js'

/** AlterConfigOp.OpType of the protocol, by number. */
const OPERATIONS = ['set', 'delete', 'append', 'subtract'] as const
const DELETE = 1

export const incrementalAlterConfigs = handler('IncrementalAlterConfigs', { versions: '0-1' }, async (request, { broker }) => {
  const repeated = repeatedIn(request.resources)
  const { sound, answers } = inOrder(request.resources, (resource) => {
    const unknown = resource.configs.find(({ configOperation }) => OPERATIONS[configOperation] === undefined)
    if (unknown) return `Unknown operations type ${unknown.configOperation}`
    // A deletion needs no value.
    const configs = resource.configs.map((one) => (one.configOperation === DELETE ? { ...one, value: '' } : one))
    return alterProblem({ ...resource, configs }, repeated)
  })
  const results = await broker.controller.incrementalAlterTopicConfigs({
    topics: sound.map(({ resourceName, configs }) => ({
      topic: resourceName,
      changes: configs.map(({ name, configOperation, value }) => ({ name, operation: OPERATIONS[configOperation]!, value })),
    })),
    validateOnly: request.validateOnly,
  })
  return { responses: answers(results, errorCode) }
})
