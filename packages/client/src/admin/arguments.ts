/** Pure: what programs hand to the admin, checked. The texts are kafkajs' own: programs and tests match on them. */

import { ConfigResourceTypes } from '../enums.js'
import { KafkaJSNonRetriableError } from '../errors.js'
import type { TopicConfig } from './topics.js'

export function checkArray(list: unknown, what: string): void {
  if (!list || !Array.isArray(list)) throw new KafkaJSNonRetriableError(`Invalid ${what} array ${list}`)
}

export function checkTopicName(topic: unknown): void {
  if (!topic || typeof topic !== 'string') throw new KafkaJSNonRetriableError(`Invalid topic ${topic}`)
}

function checkNames(list: readonly { topic: string }[], what: string): void {
  if (list.some(({ topic }) => typeof topic !== 'string'))
    throw new KafkaJSNonRetriableError(`Invalid ${what} array, the topic names have to be a valid string`)
  if (new Set(list.map(({ topic }) => topic)).size < list.length)
    throw new KafkaJSNonRetriableError(`Invalid ${what} array, it cannot have multiple entries for the same topic`)
}

export function checkNewTopics(topics: readonly TopicConfig[]): void {
  checkArray(topics, 'topics')
  checkNames(topics, 'topics')
  for (const { topic, configEntries } of topics) {
    if (configEntries === undefined || configEntries === null) continue
    const place = `Invalid configEntries for topic "${topic}"`
    if (!Array.isArray(configEntries)) throw new KafkaJSNonRetriableError(`${place}, must be an array`)
    configEntries.forEach((entry, index) => {
      if (typeof entry !== 'object' || entry === null)
        throw new KafkaJSNonRetriableError(`${place}. Entry ${index} must be an object`)
      for (const property of ['name', 'value'] as const)
        if (!Object.hasOwn(entry, property) || typeof entry[property] !== 'string')
          throw new KafkaJSNonRetriableError(`${place}. Entry ${index} must have a valid "${property}" property`)
    })
  }
}

export function checkNewPartitions(topicPartitions: readonly { topic: string }[]): void {
  checkArray(topicPartitions, 'topic partitions')
  if (topicPartitions.length === 0) throw new KafkaJSNonRetriableError('Empty topic partitions array')
  checkNames(topicPartitions, 'topic partitions')
}

interface Resource {
  type: ConfigResourceTypes
  name: string
}

export function checkResources(resources: readonly Resource[]): void {
  checkArray(resources, 'resources')
  if (resources.length === 0) throw new KafkaJSNonRetriableError('Resources array cannot be empty')
  const oddType = resources.find(({ type }) => typeof ConfigResourceTypes[type] !== 'string')
  if (oddType !== undefined)
    throw new KafkaJSNonRetriableError(`Invalid resource type ${oddType.type}: ${JSON.stringify(oddType)}`)
  const oddName = resources.find(({ name }) => !name || typeof name !== 'string')
  if (oddName !== undefined)
    throw new KafkaJSNonRetriableError(`Invalid resource name ${oddName.name}: ${JSON.stringify(oddName)}`)
}

export function checkConfigNames(resources: readonly (Resource & { configNames?: string[] })[]): void {
  const odd = resources.find(
    ({ configNames }) => !Array.isArray(configNames) && configNames !== undefined && configNames !== null,
  )
  if (odd !== undefined)
    throw new KafkaJSNonRetriableError(`Invalid resource configNames ${odd.configNames}: ${JSON.stringify(odd)}`)
}

export function checkConfigEntries(
  resources: readonly (Resource & { configEntries: { name: string; value: string }[] })[],
): void {
  const odd = resources.find(({ configEntries }) => !Array.isArray(configEntries))
  if (odd !== undefined)
    throw new KafkaJSNonRetriableError(`Invalid resource configEntries ${odd.configEntries}: ${JSON.stringify(odd)}`)
  const oddValue = resources.find(({ configEntries }) =>
    configEntries.some(({ name, value }) => typeof name !== 'string' || typeof value !== 'string'),
  )
  if (oddValue !== undefined) throw new KafkaJSNonRetriableError(`Invalid resource config value: ${JSON.stringify(oddValue)}`)
}
