/** Reads the store's nodes into a picture: brokers, topics, states, configs. Reads go out many at a time. */
import type { BrokerImage, PartitionImage, TopicImage } from './image.js'
import { INTERNAL_TOPICS, MetadataImage, NO_LEADER, ZERO_TOPIC_ID } from './image.js'
import type { MetadataStore } from './store.js'
import { ZNODES } from './znodes.js'

const TOPICS_AT_A_TIME = 200

export interface LoadedMetadata {
  readonly image: MetadataImage
  /** Topics whose deletion was asked for and is not done. */
  readonly deleting: ReadonlySet<string>
}

/** Throws ZnodeError when a node is not what Kafka writes. */
export async function loadMetadata(store: MetadataStore): Promise<LoadedMetadata> {
  const [clusterId, controller, epoch] = await Promise.all([
    store.get(ZNODES.clusterId.path()),
    store.get(ZNODES.controller.path()),
    store.get(ZNODES.controllerEpoch.path()),
  ])
  const names = (await store.children(ZNODES.topics.path())) ?? []
  const topics: TopicImage[] = []
  for (let at = 0; at < names.length; at += TOPICS_AT_A_TIME) {
    const some = names.slice(at, at + TOPICS_AT_A_TIME)
    for (const topic of await Promise.all(some.map((name) => loadTopic(store, name)))) if (topic !== null) topics.push(topic)
  }
  const image = MetadataImage.empty.with({
    clusterId: clusterId === null ? '' : ZNODES.clusterId.decode(clusterId.data, ZNODES.clusterId.path()),
    controllerId: controller === null ? -1 : ZNODES.controller.decode(controller.data, ZNODES.controller.path()).brokerId,
    controllerEpoch: epoch === null ? 0 : ZNODES.controllerEpoch.decode(epoch.data, ZNODES.controllerEpoch.path()),
    brokers: await loadBrokers(store),
    topics,
  })
  return { image, deleting: new Set((await store.children(ZNODES.deleteTopics.path())) ?? []) }
}

export async function loadBrokers(store: MetadataStore): Promise<BrokerImage[]> {
  const ids = ((await store.children(ZNODES.brokerIds.path())) ?? []).filter((id) => /^\d+$/.test(id)).map(Number)
  const brokers = await Promise.all(
    ids.map(async (id): Promise<BrokerImage | null> => {
      const node = await store.get(ZNODES.broker.path(id))
      if (node === null) return null
      const { endpoints, rack } = ZNODES.broker.decode(node.data, ZNODES.broker.path(id))
      return { id, epoch: node.stat.czxid, rack, endpoints }
    }),
  )
  return brokers.filter((broker) => broker !== null)
}

async function loadTopic(store: MetadataStore, name: string): Promise<TopicImage | null> {
  const path = ZNODES.topic.path(name)
  const node = await store.get(path)
  if (node === null || node.data === null) return null
  const { topicId, partitions, addingReplicas, removingReplicas } = ZNODES.topic.decode(node.data, path)
  const configPath = ZNODES.entityConfig.path('topics', name)
  const config = await store.get(configPath)
  const count = partitions.size === 0 ? 0 : Math.max(...partitions.keys()) + 1
  const loaded = Array.from({ length: count }, async (_, index): Promise<PartitionImage> => {
    const replicas = partitions.get(index) ?? []
    const adding = addingReplicas.get(index) ?? []
    const removing = removingReplicas.get(index) ?? []
    return {
      ...(await loadState(store, name, index)),
      replicas,
      offlineReplicas: [],
      addingReplicas: adding,
      removingReplicas: removing,
    }
  })
  return {
    name,
    topicId: topicId ?? ZERO_TOPIC_ID,
    isInternal: INTERNAL_TOPICS.has(name),
    partitions: await Promise.all(loaded),
    configs: config === null || config.data === null ? {} : ZNODES.entityConfig.decode(config.data, configPath),
  }
}

type State = Pick<PartitionImage, 'leader' | 'leaderEpoch' | 'isr' | 'partitionEpoch' | 'controllerEpoch'>

/** A partition without a state never had a leader: epoch -1, empty ISR. */
const NEVER_LED: State = { leader: NO_LEADER, leaderEpoch: -1, isr: [], partitionEpoch: -1, controllerEpoch: 0 }

async function loadState(store: MetadataStore, topic: string, index: number): Promise<State> {
  const path = ZNODES.partitionState.path(topic, index)
  const node = await store.get(path)
  if (node === null) return NEVER_LED
  const { controllerEpoch, leader, leaderEpoch, isr } = ZNODES.partitionState.decode(node.data, path)
  return { controllerEpoch, leader, leaderEpoch, isr, partitionEpoch: node.stat.version }
}

/** Whether the partition has had a state: its log must be somewhere then. */
export const wasLed = (partition: PartitionImage): boolean => partition.partitionEpoch >= 0
