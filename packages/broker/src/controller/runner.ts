/**
 * The controller of a single broker: takes commands one at a time, asks the pure rules, writes what they decided to the store, has the
 * partitions follow by the channel, and publishes the next picture. The channel and the rules are those that a cluster's controller needs too.
 */
import { newUuid } from '@mq/protocol'
import { Mailbox } from '@mq/replica'
import {
  type BrokerImage,
  type ImageChange,
  type MetadataImage,
  NO_LEADER,
  type PartitionImage,
  type TopicImage,
  ZERO_TOPIC_ID,
} from '../metadata/image.js'
import { loadMetadata } from '../metadata/load.js'
import { isStoreError, type MetadataStore } from '../metadata/store.js'
import { ensurePaths, pathsBelow, removals } from '../metadata/subtree.js'
import { PERSISTENT_PATHS, ZNODES } from '../metadata/znodes.js'
import type { Clock, Logger, Random } from '../ports.js'
import type {
  BrokerChannel,
  Controller,
  ControllerDefaults,
  ControllerResult,
  CreatableTopic,
  CreateTopicResult,
  DeletableTopic,
  DeleteTopicResult,
  NamedResult,
  NewPartitions,
  TopicConfigChange,
  TopicConfigRules,
} from './api.js'
import { decideCreatePartitions } from './create-partitions.js'
import { decideCreateTopics, notCreated } from './create-topics.js'
import { type ControllerEffect, type Decision, failure } from './decision.js'
import { decideDeleteTopics } from './delete-topics.js'
import { electController, type Registration, registerBroker } from './election.js'
import { PartitionWriter } from './partition-writer.js'
import { NO_FACTS, type PartitionFacts } from './start.js'
import { decideChangeConfigs, decideReplaceConfigs } from './topic-configs.js'
import { type ControllerFence, changedConfigs, fencedBatches, grownTopic, newTopic } from './writes.js'

export interface ControllerOptions {
  readonly registration: Registration
  readonly store: MetadataStore
  readonly channel: BrokerChannel
  readonly configs: TopicConfigRules
  readonly defaults: ControllerDefaults
  readonly clock: Pick<Clock, 'now'>
  readonly random: Random
  readonly log: Logger
  /** What the disks of this broker say (adoption). */
  readonly facts: (topic: string, index: number) => PartitionFacts
}

/** Another broker is the controller: a cluster, which this controller does not lead. */
export class NotControllerError extends Error {
  override readonly name = 'NotControllerError'
}

const WAITING_LIMIT = 10_000
const EFFECTS_AT_A_TIME = 32
const NOTICES_KEPT_MS = 15 * 60_000

/** Configs whose naming says that the user has decided what may be deleted. */
const RELEASING: ReadonlySet<string> = new Set(['cleanup.policy', 'retention.ms', 'retention.bytes'])

export class SingleController implements Controller {
  readonly #options: ControllerOptions
  readonly #mailbox = new Mailbox(WAITING_LIMIT)
  readonly #listeners = new Set<(now: MetadataImage, before: MetadataImage) => void>()
  readonly #writer: PartitionWriter
  readonly #fence: ControllerFence
  readonly #deleting: Set<string>
  readonly deletedAtStart: ReadonlySet<string>
  /** Names whose folders went since the disks were looked at. */
  readonly #deleted = new Set<string>()
  #image: MetadataImage
  #closed = false

  private constructor(options: ControllerOptions, fence: ControllerFence, image: MetadataImage, deleting: ReadonlySet<string>) {
    this.#options = options
    this.#fence = fence
    this.#image = image
    this.#deleting = new Set(deleting)
    this.deletedAtStart = new Set(deleting)
    // A topic that takes the name of a deleted one has nothing on the disks that were looked at before.
    const facts = (topic: string, index: number) => (this.#deleted.has(topic) ? NO_FACTS : options.facts(topic, index))
    this.#writer = new PartitionWriter({ ...options, facts, brokerId: options.registration.brokerId, fence })
  }

  /** Registers the broker, becomes controller, gives every partition its leader, and ends what deletions were under way. */
  static async start(options: ControllerOptions): Promise<SingleController> {
    const { store, clock, registration } = options
    await ensurePaths(store, PERSISTENT_PATHS)
    const broker: BrokerImage = await registerBroker(store, registration, clock.now())
    const election = await electController(store, registration.brokerId, clock.now())
    if (election === null) throw new NotControllerError('another broker is the controller of this metadata')
    if ((await store.exists(ZNODES.feature.path())) === null) {
      await store.create(ZNODES.feature.path(), ZNODES.feature.encode({ version: 2, status: 1, features: {} }))
    }
    const { image, deleting } = await loadMetadata(store)
    const controller = new SingleController(options, election.fence, image.with({ brokers: [broker] }), deleting)
    const kept = [...image.topics()].filter(({ name }) => !deleting.has(name))
    const topics = await controller.#writer.start(controller.#image, await controller.#withIds(kept))
    controller.#publish({ topics, topicsGone: [...deleting] })
    for (const name of deleting) await controller.#finishDeletion(name, image.topic(name)?.partitions.length ?? 0)
    return controller
  }

  /**
   * Topics that older brokers made have no id: each gets one, as by Kafka's controller, and its partitions write it into their folders. A topic
   * whose configs are not known yet keeps waiting: the metadata that may still be imported can have an id for it.
   */
  async #withIds(topics: readonly TopicImage[]): Promise<TopicImage[]> {
    const { store, random, log } = this.#options
    const named: TopicImage[] = []
    for (const topic of topics) {
      const isNameless = topic.topicId === ZERO_TOPIC_ID && (await store.exists(ZNODES.heldTopic.path(topic.name))) === null
      named.push(isNameless ? { ...topic, topicId: newUuid(random) } : topic)
      if (!isNameless) continue
      await store.multi(grownTopic(named.at(-1)!, this.#fence))
      log.info({ topic: topic.name, topicId: named.at(-1)!.topicId }, `the topic ${topic.name} had no id and has one now`)
    }
    return named
  }

  image(): MetadataImage {
    return this.#image
  }

  onImage(listener: (now: MetadataImage, before: MetadataImage) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async createTopics(request: {
    topics: readonly CreatableTopic[]
    validateOnly: boolean
    timeoutMs: number
  }): Promise<readonly CreateTopicResult[]> {
    const results = await this.#run(() => decideCreateTopics(this.#rules(), request.topics), request, notCreated)
    // Nobody has the id of a topic that was only checked.
    return request.validateOnly ? results.map((result) => ({ ...result, topicId: ZERO_TOPIC_ID })) : results
  }

  async autoCreateTopics(names: readonly string[]): Promise<readonly NamedResult[]> {
    const { defaults } = this.#options
    const topics = [...new Set(names)].map((name): CreatableTopic => {
      const internal = Object.hasOwn(defaults.internalTopics, name) ? defaults.internalTopics[name] : undefined
      const configs = Object.entries(internal?.configs ?? {}).map(([key, value]) => ({ name: key, value }))
      const [numPartitions, replicationFactor] = [internal?.partitions ?? -1, internal?.replicationFactor ?? -1]
      return { name, numPartitions, replicationFactor, assignments: [], configs }
    })
    const results = await this.createTopics({ topics, validateOnly: false, timeoutMs: 1 })
    return results.map(({ name, error, message }) => {
      const isThere = error === 'NONE' || error === 'TOPIC_ALREADY_EXISTS' || error === 'REQUEST_TIMED_OUT'
      return isThere ? { name, error: 'LEADER_NOT_AVAILABLE', message: null } : { name, error, message }
    })
  }

  deleteTopics(request: { topics: readonly DeletableTopic[]; timeoutMs: number }): Promise<readonly DeleteTopicResult[]> {
    return this.#run(() => decideDeleteTopics(this.#rules(), request.topics), { ...request, validateOnly: false }, withFailure)
  }

  createPartitions(request: {
    topics: readonly NewPartitions[]
    validateOnly: boolean
    timeoutMs: number
  }): Promise<readonly NamedResult[]> {
    return this.#run(() => decideCreatePartitions(this.#rules(), request.topics), request, withFailure)
  }

  alterTopicConfigs(request: {
    topics: readonly {
      readonly topic: string
      readonly configs: readonly { readonly name: string; readonly value: string | null }[]
    }[]
    validateOnly: boolean
  }): Promise<readonly NamedResult[]> {
    const decide = () => request.topics.map(({ topic, configs }) => decideReplaceConfigs(this.#rules(), topic, configs))
    return this.#run(decide, { ...request, timeoutMs: 1 }, withFailure)
  }

  incrementalAlterTopicConfigs(request: {
    topics: readonly TopicConfigChange[]
    validateOnly: boolean
  }): Promise<readonly NamedResult[]> {
    const decide = () => request.topics.map(({ topic, changes }) => decideChangeConfigs(this.#rules(), topic, changes))
    return this.#run(decide, { ...request, timeoutMs: 1 }, withFailure)
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#mailbox.run(() => {})
    this.#listeners.clear()
    for (const path of [ZNODES.controller.path(), ZNODES.broker.path(this.#options.registration.brokerId)]) {
      await this.#options.store.delete(path).catch(() => {}) // gone with the session anyway
    }
  }

  #rules() {
    const { configs, defaults, random } = this.#options
    return { image: this.#image, deleting: this.#deleting, defaults, configs, random }
  }

  async #run<R extends ControllerResult>(
    decide: () => Decision<R>[],
    { validateOnly, timeoutMs }: { validateOnly: boolean; timeoutMs: number },
    refuse: (result: R, why: ControllerResult) => R,
  ): Promise<readonly R[]> {
    const turn = async () => {
      const decisions = decide()
      if (this.#closed) return decisions.map(({ result }) => refuse(result, failure('NOT_CONTROLLER', null)))
      if (validateOnly) return decisions.map(({ result }) => result)
      // Each effect is about a topic of its own: together they share the syncs of store and logs.
      const done = await someAtATime(decisions, async ({ result, effect }): Promise<R> => {
        const why = effect === null ? null : await this.#carryOut(effect)
        if (why !== null) return refuse(result, why)
        return timeoutMs <= 0 && result.error === 'NONE' ? refuse(result, failure('REQUEST_TIMED_OUT', null)) : result
      })
      return done
    }
    const answer = await this.#mailbox.run(turn)
    if (answer !== 'full') return answer
    return decide().map(({ result }) =>
      refuse(result, failure('REQUEST_TIMED_OUT', 'The controller has too many requests waiting.')),
    )
  }

  /** Null when done. What fails half-way is picked up by the next start. */
  async #carryOut(effect: ControllerEffect): Promise<ControllerResult | null> {
    try {
      switch (effect.kind) {
        case 'writeTopic':
          return await this.#writeTopic(effect.topic, effect.firstNew)
        case 'deleteTopic':
          await this.#deleteTopic(effect.topic)
          return null
        case 'writeConfigs':
          await this.#writeConfigs(effect.topic, effect.names)
          return null
      }
    } catch (error) {
      this.#options.log.error({ err: error, topic: effect.topic.name }, `${effect.kind} failed`)
      if (isStoreError(error, 'BAD_VERSION')) return failure('NOT_CONTROLLER', null)
      if (isStoreError(error, 'NODE_EXISTS'))
        return failure('TOPIC_ALREADY_EXISTS', `Topic '${effect.topic.name}' already exists.`)
      return failure(isStoreError(error, 'STORAGE_FAILED') ? 'KAFKA_STORAGE_ERROR' : 'UNKNOWN_SERVER_ERROR', null)
    }
  }

  /** Null when all is led; else what Kafka says when partitions have no leader in time: the topic is there all the same. */
  async #writeTopic(topic: TopicImage, firstNew: number): Promise<ControllerResult | null> {
    const operations =
      firstNew === 0 ? newTopic(topic, await this.#configNode(topic.name), this.#fence) : grownTopic(topic, this.#fence)
    await this.#options.store.multi(operations)
    const partitions: PartitionImage[] = await this.#writer.begin(topic, firstNew)
    this.#publish({ topics: [{ ...topic, partitions }] })
    const waiting = partitions.slice(firstNew).filter(({ leader }) => leader === NO_LEADER)
    if (waiting.length === 0) return null
    const unborn = waiting.filter(({ offlineReplicas }) => offlineReplicas.length > 0)
    if (unborn.length === 0)
      return failure('REQUEST_TIMED_OUT', `${waiting.length} partitions were created without a live replica.`)
    return failure('REQUEST_TIMED_OUT', `${unborn.length} partitions were created, but their log directory has failed.`)
  }

  async #deleteTopic(topic: TopicImage): Promise<void> {
    await this.#options.store.multi([
      { kind: 'check', path: ZNODES.controllerEpoch.path(), version: this.#fence },
      { kind: 'create', path: ZNODES.deleteTopic.path(topic.name), data: null },
    ])
    this.#deleting.add(topic.name)
    this.#publish({ topicsGone: [topic.name] }) // nobody is sent to it from now on
    await this.#finishDeletion(topic.name, topic.partitions.length)
  }

  /** Files first, nodes last: whatever is interrupted is still marked for deletion, and done by the next start. */
  async #finishDeletion(name: string, partitionCount: number): Promise<void> {
    const { store, channel, log } = this.#options
    const partitions = Array.from({ length: partitionCount }, (_, index) => ({ topic: name, index }))
    const failures = await channel.stopReplica(partitions, 'delete')
    if (failures.length > 0) {
      log.warn({ topic: name, failures }, `deletion of ${name} waits: ${failures.length} of its partitions could not be deleted`)
      return
    }
    if (partitions.some(({ index }) => this.#options.facts(name, index) !== NO_FACTS)) this.#deleted.add(name)
    const paths = [
      ...(await pathsBelow(store, ZNODES.topic.path(name))),
      ...(await pathsBelow(store, ZNODES.entityConfig.path('topics', name))),
      ...(await pathsBelow(store, ZNODES.heldTopic.path(name))),
      ...(await pathsBelow(store, ZNODES.scannedTopic.path(name))),
      ...(await pathsBelow(store, ZNODES.deleteTopic.path(name))),
    ]
    for (const batch of fencedBatches(this.#fence, removals(paths))) await store.multi(batch)
    this.#deleting.delete(name)
  }

  async #writeConfigs(topic: TopicImage, names: readonly string[]): Promise<void> {
    const { store, channel, log } = this.#options
    const held = ZNODES.heldTopic.path(topic.name)
    const releases = names.some((name) => RELEASING.has(name)) && (await store.exists(held)) !== null
    await store.multi([
      ...changedConfigs(topic, await this.#configNode(topic.name), this.#fence),
      ...(releases ? removals([held]) : []),
    ])
    channel.topicConfigs(topic.name, topic.configs)
    if (releases) {
      log.info(
        { topic: topic.name },
        `the configs of the adopted topic ${topic.name} are known now: it is deleted and cleaned by them`,
      )
      channel.releaseRetention(topic.name)
    }
    this.#publish({ topics: [topic] })
    await this.#purgeNotices()
  }

  /** Notices of changed configs are for brokers that watch; after a quarter of an hour all have seen them. */
  async #purgeNotices(): Promise<void> {
    const { store, clock } = this.#options
    for (const name of (await store.children(ZNODES.configChanges.path())) ?? []) {
      const path = `${ZNODES.configChanges.path()}/${name}`
      const stat = await store.exists(path)
      if (stat !== null && stat.ctime < clock.now() - NOTICES_KEPT_MS) await store.delete(path)
    }
  }

  async #configNode(topic: string): Promise<'absent' | 'present'> {
    return (await this.#options.store.exists(ZNODES.entityConfig.path('topics', topic))) === null ? 'absent' : 'present'
  }

  #publish(change: ImageChange): void {
    const before = this.#image
    this.#image = before.with(change)
    for (const listener of [...this.#listeners]) listener(this.#image, before)
  }
}

/** Results in the order of the items, of which EFFECTS_AT_A_TIME are under way. */
async function someAtATime<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  let next = 0
  const worker = async () => {
    while (next < items.length) {
      const at = next++
      results[at] = await work(items[at]!)
    }
  }
  await Promise.all(Array.from({ length: Math.min(EFFECTS_AT_A_TIME, items.length) }, worker))
  return results
}

const withFailure = <R extends ControllerResult>(result: R, { error, message }: ControllerResult): R => ({
  ...result,
  error,
  message,
})
