/** Pure: what CreatePartitions makes of a request. A count can only grow. Checks and words are those of 3.9.1. */
import type { MetadataImage, TopicImage } from '../metadata/image.js'
import type { ControllerResult, NamedResult, NewPartitions } from './api.js'
import { type Decision, failure, NEW_PARTITIONS_LIMIT, NO_ERROR, newPartition, tooManyPartitions } from './decision.js'
import { placeReplicas } from './placement.js'

export interface PartitionRules {
  readonly image: MetadataImage
  readonly deleting: ReadonlySet<string>
}

/** One decision per name; a name that stands twice is refused, and answered once. */
export function decideCreatePartitions(rules: PartitionRules, requests: readonly NewPartitions[]): Decision<NamedResult>[] {
  const byName = new Map<string, NewPartitions>()
  const repeated = new Set<string>()
  for (const request of requests) {
    if (byName.has(request.name)) repeated.add(request.name)
    else byName.set(request.name, request)
  }
  // Only what could be made counts: a topic that is not there is no reason to refuse another one.
  const increase = [...byName].reduce((sum, [name, { count }]) => {
    const topic = repeated.has(name) ? undefined : rules.image.topic(name)
    return topic === undefined ? sum : sum + Math.max(0, count - topic.partitions.length)
  }, 0)
  return [...byName].map(([name, request]) => {
    if (repeated.has(name)) {
      return { result: { name, ...failure('INVALID_REQUEST', 'Duplicate topic in request.') }, effect: null }
    }
    const outcome = decideOne(rules, request, increase)
    if ('error' in outcome) return { result: { name, ...outcome }, effect: null }
    const firstNew = rules.image.topic(name)!.partitions.length
    return { result: { name, ...NO_ERROR }, effect: { kind: 'writeTopic', topic: outcome, firstNew } }
  })
}

/** The topic with the added partitions, or why not. */
function decideOne({ image, deleting }: PartitionRules, request: NewPartitions, increase: number): TopicImage | ControllerResult {
  const { name, count } = request
  if (deleting.has(name)) return failure('INVALID_TOPIC_EXCEPTION', 'The topic is queued for deletion.')
  const topic = image.topic(name)
  if (topic === undefined) return failure('UNKNOWN_TOPIC_OR_PARTITION', `The topic '${name}' does not exist.`)
  if (topic.partitions.some(({ addingReplicas, removingReplicas }) => addingReplicas.length + removingReplicas.length > 0)) {
    return failure('REASSIGNMENT_IN_PROGRESS', `A partition reassignment is in progress for the topic '${name}'.`)
  }
  const now = topic.partitions.length
  if (count < now) {
    return failure('INVALID_PARTITIONS', `Topic currently has ${now} partitions, which is higher than the requested ${count}.`)
  }
  if (count === now) return failure('INVALID_PARTITIONS', `Topic already has ${now} partitions.`)
  if (increase > NEW_PARTITIONS_LIMIT) return tooManyPartitions(increase)
  const replicas = request.assignments === null ? placed(image, topic, count) : checked(image, topic, request.assignments, count)
  if ('error' in replicas) return replicas
  const added = replicas.map((each) => newPartition(each, image.brokers, image.controllerEpoch))
  return { ...topic, partitions: [...topic.partitions, ...added] }
}

function placed(image: MetadataImage, topic: TopicImage, count: number): readonly (readonly number[])[] | ControllerResult {
  const brokers = [...image.brokers.values()].sort((a, b) => a.id - b.id)
  const pattern = topic.partitions[0]!.replicas
  // Goes on where the topic's first partition began, so that growing step by step spreads like making all at once.
  const start = Math.max(
    0,
    brokers.findIndex(({ id }) => id >= (pattern[0] ?? 0)),
  )
  const placement = placeReplicas({
    brokers,
    partitionCount: count - topic.partitions.length,
    replicationFactor: pattern.length,
    firstPartition: topic.partitions.length,
    start,
    shift: start,
  })
  return placement.kind === 'placed' ? placement.replicas : placement
}

function checked(
  image: MetadataImage,
  topic: TopicImage,
  assignments: readonly (readonly number[])[],
  count: number,
): readonly (readonly number[])[] | ControllerResult {
  const wrong = (message: string) => failure('INVALID_REPLICA_ASSIGNMENT', message)
  const now = topic.partitions.length
  const unknown = new Set(assignments.flat().filter((id) => !image.brokers.has(id)))
  if (unknown.size > 0) return wrong(`Unknown broker(s) in replica assignment: ${[...unknown].join(', ')}.`)
  if (assignments.length !== count - now) {
    return wrong(`Increasing the number of partitions by ${count - now} but ${assignments.length} assignments provided.`)
  }
  for (const [at, replicas] of assignments.entries()) {
    if (replicas.length === 0) return wrong(`Cannot have replication factor of 0 for partition id ${now + at}.`)
    if (new Set(replicas).size !== replicas.length) {
      return wrong(`Duplicate brokers not allowed in replica assignment: ${replicas.join(', ')} for partition id ${now + at}.`)
    }
  }
  const factor = topic.partitions[0]!.replicas.length
  const odd = assignments.flatMap((replicas, at) =>
    replicas.length === factor ? [] : [{ index: now + at, factor: replicas.length }],
  )
  if (odd.length === 0) return assignments
  const [indexes, factors] = [odd.map(({ index }) => index).join(', '), odd.map((each) => each.factor).join(', ')]
  return wrong(
    `Inconsistent replication factor between partitions, partition 0 has ${factor} while partitions [${indexes}] ` +
      `have replication factors [${factors}], respectively.`,
  )
}
