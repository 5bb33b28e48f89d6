/**
 * What the controller's rules give back: results to answer with, and effects for the runner. Effects are carried out in order; the results
 * count only when they were.
 */
import { answerMessage } from '../answer-message.js'
import type { PartitionImage, TopicImage } from '../metadata/image.js'
import { NO_LEADER } from '../metadata/image.js'
import type { ControllerError, ControllerResult } from './api.js'

export type ControllerEffect =
  /** Write these partitions (from `firstNew` on) and, for a new topic, the topic and its configs; then have them led. */
  | { readonly kind: 'writeTopic'; readonly topic: TopicImage; readonly firstNew: number }
  | { readonly kind: 'deleteTopic'; readonly topic: TopicImage }
  /** `names`: configs that the request named, whatever became of them. */
  | { readonly kind: 'writeConfigs'; readonly topic: TopicImage; readonly names: readonly string[] }

export interface Decision<Result> {
  readonly result: Result
  readonly effect: ControllerEffect | null
}

export const NO_ERROR: ControllerResult = { error: 'NONE', message: null }

export const failure = (error: ControllerError, message: string | null): ControllerResult => ({
  error,
  message: answerMessage(message),
})

/** A request for more is refused with INVALID_PARTITIONS: one request must not fill the disk with folders (docs/differences.md). */
export const NEW_PARTITIONS_LIMIT = 10_000

export const tooManyPartitions = (wanted: number): ControllerResult =>
  failure('INVALID_PARTITIONS', `One request may make ${NEW_PARTITIONS_LIMIT} partitions, this one asks for ${wanted}.`)

/** The first state of a partition: its first live replica leads, all live replicas are in sync. Without one it waits for its brokers. */
export function newPartition(
  replicas: readonly number[],
  live: ReadonlyMap<number, unknown>,
  controllerEpoch: number,
): PartitionImage {
  const isr = replicas.filter((id) => live.has(id))
  return {
    leader: isr[0] ?? NO_LEADER,
    leaderEpoch: 0,
    isr,
    replicas,
    offlineReplicas: [],
    addingReplicas: [],
    removingReplicas: [],
    partitionEpoch: 0,
    controllerEpoch,
  }
}
