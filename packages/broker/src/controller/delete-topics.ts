/** Pure: which topics DeleteTopics means, by name or by id. */
import { type MetadataImage, ZERO_TOPIC_ID } from '../metadata/image.js'
import type { ControllerDefaults, ControllerResult, DeletableTopic, DeleteTopicResult } from './api.js'
import { type Decision, failure, NO_ERROR } from './decision.js'

export interface DeletionRules {
  readonly image: MetadataImage
  readonly deleting: ReadonlySet<string>
  readonly defaults: ControllerDefaults
}

/** One decision per entry. A topic that stands twice is deleted once, and both are answered. */
export function decideDeleteTopics(rules: DeletionRules, topics: readonly DeletableTopic[]): Decision<DeleteTopicResult>[] {
  const named = new Set<string>()
  return topics.map((topic) => {
    const name = topic.topicId === ZERO_TOPIC_ID ? topic.name : (rules.image.topicById(topic.topicId)?.name ?? null)
    const problem = problemOf(rules, topic, name)
    if (problem !== null) return { result: { name, topicId: topic.topicId, ...problem }, effect: null }
    const isFirst = !named.has(name!)
    named.add(name!)
    const found = rules.image.topic(name!)
    const effect = isFirst && found !== undefined ? ({ kind: 'deleteTopic', topic: found } as const) : null
    return { result: { name, topicId: topic.topicId, ...NO_ERROR }, effect }
  })
}

function problemOf(
  { image, deleting, defaults }: DeletionRules,
  topic: DeletableTopic,
  name: string | null,
): ControllerResult | null {
  if (!defaults.deleteTopicEnable) return failure('TOPIC_DELETION_DISABLED', null)
  if (topic.name !== null && topic.topicId !== ZERO_TOPIC_ID) {
    return failure('INVALID_REQUEST', 'Topic name and topic ID can not both be specified.')
  }
  if (topic.topicId !== ZERO_TOPIC_ID && name === null) return failure('UNKNOWN_TOPIC_ID', null)
  if (name === null || (image.topic(name) === undefined && !deleting.has(name)))
    return failure('UNKNOWN_TOPIC_OR_PARTITION', null)
  return null
}
