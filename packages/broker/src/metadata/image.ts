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

/** Topics of the brokers themselves: clients may read them, and not write to them. */
export const INTERNAL_TOPICS: ReadonlySet<string> = new Set(['__consumer_offsets', '__transaction_state', '__share_group_state'])

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
  /** Names by topic id. */
  readonly names: PersistentMap<string>
  /** Names by what metrics make of them. */
  readonly unified: PersistentMap<readonly string[]>
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
    unified: PersistentMap.empty(),
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
  /** Topics whose names differ from this one in nothing but '.' and '_'. */
  collisions(name: string): readonly string[] {
    return (this.#fields.unified.get(unified(name)) ?? []).filter((other) => other !== name)
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
    const changes = new Map<string, TopicImage | undefined>()
    for (const name of change.topicsGone ?? []) changes.set(name, undefined)
    for (const topic of change.topics ?? []) changes.set(topic.name, topic)
    const names: [string, string | undefined][] = []
    const unifieds = new Map<string, readonly string[]>()
    let partitionCount = now.partitionCount
    for (const [name, topic] of changes) {
      const old = now.topics.get(name)
      partitionCount += (topic?.partitions.length ?? 0) - (old?.partitions.length ?? 0)
      if (old !== undefined && old.topicId !== topic?.topicId) names.push([old.topicId, undefined])
      if (topic !== undefined && topic.topicId !== ZERO_TOPIC_ID) names.push([topic.topicId, name])
      if ((old === undefined) === (topic === undefined)) continue
      const key = unified(name)
      const others = (unifieds.get(key) ?? now.unified.get(key) ?? []).filter((other) => other !== name)
      unifieds.set(key, topic === undefined ? others : [...others, name])
    }
    return new MetadataImage({
      clusterId: change.clusterId ?? now.clusterId,
      controllerId: change.controllerId ?? now.controllerId,
      controllerEpoch: change.controllerEpoch ?? now.controllerEpoch,
      brokers: withBrokers(now.brokers, change),
      topics: changes.size > 0 ? now.topics.with(changes) : now.topics,
      names: names.length > 0 ? now.names.with(names) : now.names,
      unified:
        unifieds.size > 0
          ? now.unified.with(Array.from(unifieds, ([key, all]) => [key, all.length > 0 ? all : undefined]))
          : now.unified,
      partitionCount,
    })
  }
}

const unified = (name: string): string => name.replaceAll('.', '_')

function withBrokers(now: ReadonlyMap<number, BrokerImage>, change: ImageChange): ReadonlyMap<number, BrokerImage> {
  if (!change.brokers?.length && !change.brokersGone?.length) return now
  const next = new Map(now)
  for (const id of change.brokersGone ?? []) next.delete(id)
  for (const broker of change.brokers ?? []) next.set(broker.id, broker)
  return next
}
