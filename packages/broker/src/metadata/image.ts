/**
 * An immutable picture of the cluster: brokers, topics by name and id, partition states, topic configs, the controller. Handlers read
 * it without locks or awaits; a change makes a new picture that shares all that did not change.
 */
import { PersistentMap } from './persistent-map.js'

export interface EndpointImage {
  readonly listenerName: string
  readonly securityProtocol: string
  readonly host: string
  readonly port: number
}

export interface BrokerImage {
  readonly id: number
  /** Transaction id of the registration: rises with every start. */
  readonly epoch: number
  readonly rack: string | null
  readonly endpoints: readonly EndpointImage[]
}

/** `NO_LEADER` when no replica can lead: clients get LEADER_NOT_AVAILABLE. */
export const NO_LEADER = -1

export interface PartitionImage {
  readonly leader: number
  readonly leaderEpoch: number
  /** In-sync replicas, in the order in which the controller wrote them. */
  readonly isr: readonly number[]
  /** Assigned replicas; the first is the preferred leader. */
  readonly replicas: readonly number[]
  readonly offlineReplicas: readonly number[]
  readonly addingReplicas: readonly number[]
  readonly removingReplicas: readonly number[]
  /** Version of the state in the store: what a change of the ISR is compared with. */
  readonly partitionEpoch: number
  /** Epoch of the controller that wrote the state. */
  readonly controllerEpoch: number
}

export interface TopicImage {
  readonly name: string
  /** 22 characters of base64url; the zero id for a topic that never got one. */
  readonly topicId: string
  readonly isInternal: boolean
  /** By index, without holes. */
  readonly partitions: readonly PartitionImage[]
  /** Overrides only, by topic config name, as text. */
  readonly configs: Readonly<Record<string, string>>
}

export const ZERO_TOPIC_ID = 'AAAAAAAAAAAAAAAAAAAAAA'

export interface ImageChange {
  readonly clusterId?: string
  /** -1: none. */
  readonly controllerId?: number
  readonly controllerEpoch?: number
  readonly brokers?: readonly BrokerImage[]
  readonly brokersGone?: readonly number[]
  /** Whole topics, new or replaced. */
  readonly topics?: readonly TopicImage[]
  readonly topicsGone?: readonly string[]
}

interface ImageFields {
  readonly clusterId: string
  readonly controllerId: number
  readonly controllerEpoch: number
  readonly brokers: ReadonlyMap<number, BrokerImage>
  readonly topics: PersistentMap<TopicImage>
  readonly names: PersistentMap<string>
  readonly partitionCount: number
}

export class MetadataImage {
  static readonly empty = new MetadataImage({
    clusterId: '',
    controllerId: -1,
    controllerEpoch: 0,
    brokers: new Map(),
    topics: PersistentMap.empty(),
    names: PersistentMap.empty(),
    partitionCount: 0,
  })

  readonly #fields: ImageFields

  private constructor(fields: ImageFields) {
    this.#fields = fields
  }

  get clusterId(): string {
    return this.#fields.clusterId
  }
  /** -1 while there is none. */
  get controllerId(): number {
    return this.#fields.controllerId
  }
  get controllerEpoch(): number {
    return this.#fields.controllerEpoch
  }
  /** Live brokers by id. */
  get brokers(): ReadonlyMap<number, BrokerImage> {
    return this.#fields.brokers
  }
  get topicCount(): number {
    return this.#fields.topics.size
  }
  get partitionCount(): number {
    return this.#fields.partitionCount
  }
  /** In no order. */
  topics(): Iterable<TopicImage> {
    return this.#fields.topics.values()
  }
  topic(name: string): TopicImage | undefined {
    return this.#fields.topics.get(name)
  }
  topicById(topicId: string): TopicImage | undefined {
    const name = this.#fields.names.get(topicId)
    return name === undefined ? undefined : this.topic(name)
  }
  partition(topic: string, index: number): PartitionImage | undefined {
    return this.topic(topic)?.partitions[index]
  }

  /** The next picture. Costs in proportion to what the change names, not to what there is. */
  with(change: ImageChange): MetadataImage {
    const now = this.#fields
    const topicChanges: [string, TopicImage | undefined][] = []
    const nameChanges: [string, string | undefined][] = []
    let partitionCount = now.partitionCount
    const forget = (name: string) => {
      const old = now.topics.get(name)
      if (old === undefined) return
      partitionCount -= old.partitions.length
      if (old.topicId !== ZERO_TOPIC_ID) nameChanges.push([old.topicId, undefined])
    }
    for (const name of change.topicsGone ?? []) {
      forget(name)
      topicChanges.push([name, undefined])
    }
    for (const topic of change.topics ?? []) {
      forget(topic.name)
      partitionCount += topic.partitions.length
      topicChanges.push([topic.name, topic])
      if (topic.topicId !== ZERO_TOPIC_ID) nameChanges.push([topic.topicId, topic.name])
    }
    return new MetadataImage({
      clusterId: change.clusterId ?? now.clusterId,
      controllerId: change.controllerId ?? now.controllerId,
      controllerEpoch: change.controllerEpoch ?? now.controllerEpoch,
      brokers: withBrokers(now.brokers, change),
      topics: topicChanges.length > 0 ? now.topics.with(topicChanges) : now.topics,
      names: nameChanges.length > 0 ? now.names.with(nameChanges) : now.names,
      partitionCount,
    })
  }
}

function withBrokers(now: ReadonlyMap<number, BrokerImage>, change: ImageChange): ReadonlyMap<number, BrokerImage> {
  if (!change.brokers?.length && !change.brokersGone?.length) return now
  const next = new Map(now)
  for (const id of change.brokersGone ?? []) next.delete(id)
  for (const broker of change.brokers ?? []) next.set(broker.id, broker)
  return next
}
