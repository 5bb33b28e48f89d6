/** What AlterConfigs and IncrementalAlterConfigs check alike before the controller sees the request, and how results find their place. */
import type { ErrorName } from '@mq/protocol'
import { answerMessage } from '../answer-message.js'
import { RESOURCE } from './describe-configs.js'

interface Resource {
  readonly resourceType: number
  readonly resourceName: string
  readonly configs: readonly { readonly name: string; readonly value: string | null }[]
}

interface Result {
  readonly error: ErrorName
  readonly message: string | null
}

const keyOf = ({ resourceType, resourceName }: Resource): string => `${resourceType} ${resourceName}`

/** Which resources a request names more than once. One pass: a request has room for millions. */
export function repeatedIn(resources: readonly Resource[]): ReadonlySet<string> {
  const seen = new Set<string>()
  const repeated = new Set<string>()
  for (const resource of resources) {
    const key = keyOf(resource)
    if (seen.has(key)) repeated.add(key)
    seen.add(key)
  }
  return repeated
}

/** Why a resource cannot be altered (INVALID_REQUEST), or null. */
export function alterProblem(resource: Resource, repeated: ReadonlySet<string>): string | null {
  const { resourceType, configs } = resource
  if (repeated.has(keyOf(resource))) return 'Each resource must appear at most once.'
  if (new Set(configs.map(({ name }) => name)).size < configs.length) return 'Error due to duplicate config keys'
  const nulls = configs.filter(({ value }) => value === null).map(({ name }) => name)
  if (nulls.length > 0) return `Null value not supported for : ${nulls.join(', ')}`
  if (resourceType === RESOURCE.topic) return null
  const kind = Object.entries(RESOURCE).find(([, type]) => type === resourceType)?.[0]
  if (kind === undefined) return `Unknown resource type ${resourceType}`
  return `Only the configs of topics can be altered in this version, not those of a resource of type ${kind}.`
}

/** Splits off the resources with a problem, and puts the results of the others between them, in the order of the request. */
export function inOrder<R extends Resource>(resources: readonly R[], problemOf: (resource: R) => string | null) {
  const problems = resources.map(problemOf)
  return {
    sound: resources.filter((_, at) => problems[at] === null),
    answers: (results: readonly Result[], codeOf: (error: ErrorName) => number) => {
      let next = 0
      return resources.map(({ resourceType, resourceName }, at) => {
        const problem = problems[at] ?? null
        const { error, message } = problem === null ? results[next++]! : { error: 'INVALID_REQUEST' as const, message: problem }
        return { resourceType, resourceName, errorCode: codeOf(error), errorMessage: answerMessage(message) }
      })
    },
  }
}
