/** Pure: what CreateTopics makes of a request. Checks, their order and their words are those of 3.9.1. */
import { newUuid } from '@mq/protocol'
import { INTERNAL_TOPICS, type MetadataImage, type TopicImage, ZERO_TOPIC_ID } from '../metadata/image.js'
import type { Random } from '../ports.js'
import { topicNameProblem } from '../topic-name.js'
import type { ControllerDefaults, ControllerResult, CreatableTopic, CreateTopicResult, TopicConfigRules } from './api.js'
import { type Decision, failure, NEW_PARTITIONS_LIMIT, NO_ERROR, newPartition, tooManyPartitions } from './decision.js'
import { placeReplicas } from './placement.js'

const CLUSTER_METADATA_TOPIC = '__cluster_metadata'
const NOT_SET = -1
/** The answer tells the replication factor in 16 bits. */
const MOST_REPLICAS = 32_767

export interface TopicRules {
  readonly image: MetadataImage
  /** Topics whose deletion has begun and not ended. */
  readonly deleting: ReadonlySet<string>
  readonly defaults: ControllerDefaults
  readonly configs: TopicConfigRules
  readonly random: Random
}

/** One decision per entry of the request, in order. */
export function decideCreateTopics(rules: TopicRules, topics: readonly CreatableTopic[]): Decision<CreateTopicResult>[] {
  const times = new Map<string, number>()
  for (const { name } of topics) times.set(name, (times.get(name) ?? 0) + 1)
  // Once the limit is passed all is refused: the rest of a long request is not worth a look.
  let accepted = 0
  const decisions = topics.map((topic) => {
    if (accepted > NEW_PARTITIONS_LIMIT && rules.image.topic(topic.name) === undefined) {
      return refused(topic, tooManyPartitions(accepted))
    }
    if (topic.name === CLUSTER_METADATA_TOPIC) {
      return refused(topic, failure('INVALID_REQUEST', `Creation of internal topic ${CLUSTER_METADATA_TOPIC} is prohibited.`))
    }
    if (times.get(topic.name)! > 1) return refused(topic, failure('INVALID_REQUEST', 'Found multiple entries for this topic.'))
    const outcome = partitionCountOf(topic, rules) > NEW_PARTITIONS_LIMIT ? null : decideOne(rules, topic)
    if (outcome === null) return refused(topic, tooManyPartitions(partitionCountOf(topic, rules)))
    if ('error' in outcome) return refused(topic, outcome)
    accepted += outcome.partitions.length
    return created(outcome)
  })
  return withinLimit(withoutInnerCollisions(decisions))
}

const refused = ({ name }: { readonly name: string }, { error, message }: ControllerResult): Decision<CreateTopicResult> => ({
  result: { name, error, message, topicId: ZERO_TOPIC_ID, numPartitions: -1, replicationFactor: -1, configs: {} },
  effect: null,
})

function created(topic: TopicImage): Decision<CreateTopicResult> {
  const { name, topicId, configs, partitions } = topic
  const replicationFactor = partitions[0]?.replicas.length ?? -1
  return {
    result: { name, topicId, configs, numPartitions: partitions.length, replicationFactor, ...NO_ERROR },
    effect: { kind: 'writeTopic', topic, firstNew: 0 },
  }
}

/** An answer with an error says nothing of the topic but its id, if it has one all the same. */
export const notCreated = (result: CreateTopicResult, { error, message }: ControllerResult): CreateTopicResult => ({
  ...result,
  error,
  message,
  numPartitions: -1,
  replicationFactor: -1,
  configs: {},
})

const partitionCountOf = (topic: CreatableTopic, { defaults }: TopicRules): number => {
  if (topic.assignments.length > 0) return topic.assignments.length
  return topic.numPartitions === NOT_SET ? defaults.numPartitions : topic.numPartitions
}

function decideOne(rules: TopicRules, topic: CreatableTopic): TopicImage | ControllerResult {
  const { image, defaults } = rules
  if (image.topic(topic.name) !== undefined) return failure('TOPIC_ALREADY_EXISTS', `Topic '${topic.name}' already exists.`)
  const nulls = topic.configs.filter(({ value }) => value === null).map(({ name }) => name)
  if (nulls.length > 0) return failure('INVALID_CONFIG', `Null value not supported for topic configs: ${nulls.join(',')}`)
  const hasCounts = topic.numPartitions !== NOT_SET || topic.replicationFactor !== NOT_SET
  if (hasCounts && topic.assignments.length > 0) {
    const message =
      'Both numPartitions or replicationFactor and replicasAssignments were set. Both cannot be used at the same time.'
    return failure('INVALID_REQUEST', message)
  }
  const factor = topic.replicationFactor === NOT_SET ? defaults.replicationFactor : topic.replicationFactor
  const replicas = topic.assignments.length > 0 ? topic.assignments : placed(rules, partitionCountOf(topic, rules), factor)
  if ('error' in replicas) return replicas
  const problem = nameProblem(rules, topic.name) ?? assignmentProblem(replicas)
  if (problem !== null) return problem
  const configs = Object.fromEntries(topic.configs.map(({ name, value }) => [name, value ?? '']))
  const wrong = rules.configs.problem(configs)
  if (wrong !== null) return failure('INVALID_CONFIG', wrong)
  const inOrder = [...replicas].sort((a, b) => a.partitionIndex - b.partitionIndex)
  return {
    name: topic.name,
    topicId: newUuid(rules.random),
    isInternal: INTERNAL_TOPICS.has(topic.name),
    partitions: inOrder.map(({ brokerIds }) => newPartition(brokerIds, image.brokers, image.controllerEpoch)),
    configs,
  }
}

type Assignments = CreatableTopic['assignments']

function placed(
  { image, random }: TopicRules,
  partitionCount: number,
  replicationFactor: number,
): Assignments | ControllerResult {
  const brokers = [...image.brokers.values()]
  const anywhere = () => Math.floor(random.next() * brokers.length)
  const placement = placeReplicas({
    brokers,
    partitionCount,
    replicationFactor,
    firstPartition: 0,
    start: anywhere(),
    shift: anywhere(),
  })
  if (placement.kind === 'refused') return placement
  return placement.replicas.map((brokerIds, partitionIndex) => ({ partitionIndex, brokerIds }))
}

function nameProblem({ image, deleting }: TopicRules, name: string): ControllerResult | null {
  const problem = topicNameProblem(name)
  if (problem !== null) return failure('INVALID_TOPIC_EXCEPTION', problem)
  if (deleting.has(name)) return failure('TOPIC_ALREADY_EXISTS', `Topic '${name}' is marked for deletion.`)
  return collisionProblem(name, image.collisions(name))
}

function collisionProblem(name: string, collisions: readonly string[]): ControllerResult | null {
  if (collisions.length === 0) return null
  return failure('INVALID_TOPIC_EXCEPTION', `Topic '${name}' collides with existing topics: ${collisions.join(', ')}`)
}

function assignmentProblem(assignments: Assignments): ControllerResult | null {
  const wrong = (message: string) => failure('INVALID_REPLICA_ASSIGNMENT', message)
  if (new Set(assignments.map(({ brokerIds }) => brokerIds.length)).size !== 1) {
    return wrong('All partitions should have the same number of replicas')
  }
  const factor = assignments[0]?.brokerIds.length ?? 0
  if (factor === 0) return wrong('A partition needs a replica: the list of brokers is empty')
  if (factor > MOST_REPLICAS) return wrong(`A partition has at most ${MOST_REPLICAS} replicas, these are ${factor}`)
  if (assignments.some(({ brokerIds }) => new Set(brokerIds).size !== brokerIds.length)) {
    const text = assignments
      .map(({ partitionIndex, brokerIds }) => `${partitionIndex} -> List(${brokerIds.join(', ')})`)
      .join(', ')
    return wrong(`Duplicate replica assignment found: Map(${text})`)
  }
  const indexes = new Set(assignments.map(({ partitionIndex }) => partitionIndex))
  const isWhole = indexes.size === assignments.length && assignments.every((_, index) => indexes.has(index))
  return isWhole ? null : wrong('partitions should be a consecutive 0-based integer sequence')
}

/** Two new names of one request may collide with each other as well: the first one wins, as if they had come one by one. */
function withoutInnerCollisions(decisions: Decision<CreateTopicResult>[]): Decision<CreateTopicResult>[] {
  const taken = new Map<string, string>()
  return decisions.map((decision) => {
    if (decision.effect === null) return decision
    const { name } = decision.result
    const key = name.replaceAll('.', '_')
    const other = taken.get(key)
    taken.set(key, other ?? name)
    return other === undefined ? decision : refused(decision.result, collisionProblem(name, [other])!)
  })
}

function withinLimit(decisions: Decision<CreateTopicResult>[]): Decision<CreateTopicResult>[] {
  const wanted = decisions.reduce((sum, { result }) => sum + Math.max(0, result.numPartitions), 0)
  if (wanted <= NEW_PARTITIONS_LIMIT) return decisions
  return decisions.map((decision) => (decision.effect === null ? decision : refused(decision.result, tooManyPartitions(wanted))))
}
