/**
 * Pure: the store's operations for what the controller decided. Each list is one `multi`; long topics need several, none of which is
 * larger than a ZooKeeper server takes (1 MiB). All are fenced by the controller epoch's version.
 */
import type { TopicImage } from '../metadata/image.js'
import { ZERO_TOPIC_ID } from '../metadata/image.js'
import type { StoreOperation } from '../metadata/store.js'
import { type PartitionState, type TopicAssignment, ZNODES } from '../metadata/znodes.js'

/** Version of `/controller_epoch` as this controller wrote it: another controller's write makes every later one of ours refuse. */
export type ControllerFence = number

const OPERATIONS_LIMIT = 1000

/** Null: before there is a controller, when only this broker writes. */
const fenced = (fence: ControllerFence | null, operations: StoreOperation[]): StoreOperation[] => {
  if (fence === null) return operations
  return [{ kind: 'check', path: ZNODES.controllerEpoch.path(), version: fence }, ...operations]
}

/** Lists of at most OPERATIONS_LIMIT operations, in order. */
export function fencedBatches(fence: ControllerFence | null, operations: readonly StoreOperation[]): StoreOperation[][] {
  const batches: StoreOperation[][] = []
  for (let at = 0; at < operations.length; at += OPERATIONS_LIMIT) {
    batches.push(fenced(fence, operations.slice(at, at + OPERATIONS_LIMIT)))
  }
  return batches
}

/** The topic itself and its configs, with no partition state yet: as long as a state is missing, its partition never existed. */
export function newTopic(topic: TopicImage, configNode: 'absent' | 'present', fence: ControllerFence): StoreOperation[] {
  const config = { path: ZNODES.entityConfig.path('topics', topic.name), data: ZNODES.entityConfig.encode(topic.configs) }
  return fenced(fence, [
    configNode === 'absent' ? { kind: 'create', ...config } : { kind: 'set', ...config },
    { kind: 'create', path: ZNODES.topic.path(topic.name), data: ZNODES.topic.encode(assignmentOf(topic)) },
    { kind: 'create', path: ZNODES.partitions.path(topic.name), data: null },
  ])
}

/** The list of partitions grew. */
export function grownTopic(topic: TopicImage, fence: ControllerFence): StoreOperation[] {
  return fenced(fence, [{ kind: 'set', path: ZNODES.topic.path(topic.name), data: ZNODES.topic.encode(assignmentOf(topic)) }])
}

/** States of the partitions from `firstNew` on. */
export function newStates(topic: TopicImage, firstNew: number, fence: ControllerFence | null): StoreOperation[][] {
  const operations = topic.partitions.slice(firstNew).flatMap((partition, at): StoreOperation[] => {
    if (partition.isr.length === 0) return [] // no replica has lived yet: the state comes with the first leader
    const index = firstNew + at
    return [
      { kind: 'create', path: ZNODES.partition.path(topic.name, index), data: null },
      {
        kind: 'create',
        path: ZNODES.partitionState.path(topic.name, index),
        data: ZNODES.partitionState.encode(stateOf(partition)),
      },
    ]
  })
  return fencedBatches(fence, operations)
}

export function assignmentOf(topic: TopicImage): TopicAssignment {
  const listOf = (key: 'replicas' | 'addingReplicas' | 'removingReplicas') =>
    new Map(topic.partitions.map((partition, index) => [index, partition[key]] as const))
  const some = (lists: Map<number, readonly number[]>) => new Map([...lists].filter(([, replicas]) => replicas.length > 0))
  return {
    topicId: topic.topicId === ZERO_TOPIC_ID ? null : topic.topicId,
    partitions: listOf('replicas'),
    addingReplicas: some(listOf('addingReplicas')),
    removingReplicas: some(listOf('removingReplicas')),
  }
}

export function stateOf(partition: TopicImage['partitions'][number]): PartitionState {
  const { controllerEpoch, leader, leaderEpoch, isr } = partition
  return { controllerEpoch, leader, leaderEpoch, isr, isRecovering: false }
}

/** New overrides, and the notice that tells other brokers to read them. */
export function changedConfigs(topic: TopicImage, configNode: 'absent' | 'present', fence: ControllerFence): StoreOperation[] {
  const node = { path: ZNODES.entityConfig.path('topics', topic.name), data: ZNODES.entityConfig.encode(topic.configs) }
  const notice = ZNODES.configChange.encode({ entityPath: `topics/${topic.name}` })
  return fenced(fence, [
    configNode === 'absent' ? { kind: 'create', ...node } : { kind: 'set', ...node },
    { kind: 'create', path: ZNODES.configChange.path(''), data: notice, sequential: true },
  ])
}
