/**
 * Brings decided partitions into being: their logs by the channel, their states in the store, in the order that survives a crash. A state
 * is created only after the log's folder is there; so a state without a folder means a loss, and no state means that nothing was ever in it.
 */
import type { MetadataImage, PartitionImage, TopicImage } from '../metadata/image.js'
import { NO_LEADER } from '../metadata/image.js'
import { wasLed } from '../metadata/load.js'
import type { MetadataStore, StoreOperation } from '../metadata/store.js'
import { ZNODES } from '../metadata/znodes.js'
import type { Logger } from '../ports.js'
import type { BrokerChannel, PartitionAssignment, PartitionFailure } from './api.js'
import { decideStart, type PartitionFacts, stateDiffers } from './start.js'
import { type ControllerFence, fencedBatches, newStates, stateOf } from './writes.js'

export interface PartitionWriterOptions {
  readonly brokerId: number
  readonly store: MetadataStore
  readonly channel: BrokerChannel
  readonly fence: ControllerFence
  readonly log: Logger
  readonly facts: (topic: string, index: number) => PartitionFacts
}

interface Place {
  readonly topic: TopicImage
  readonly index: number
  readonly before: PartitionImage
  after: PartitionImage
}

export class PartitionWriter {
  readonly #options: PartitionWriterOptions

  constructor(options: PartitionWriterOptions) {
    this.#options = options
  }

  /** Partitions of a topic just made or grown. Returns all its partitions as they stand now. */
  async begin(topic: TopicImage, firstNew: number): Promise<PartitionImage[]> {
    const partitions = [...topic.partitions]
    const places = partitions.slice(firstNew).map((after, at): Place => ({ topic, index: firstNew + at, before: after, after }))
    this.#leaveUnborn(places, await this.#lead(places, 'new'))
    for (const { index, after } of places) partitions[index] = after
    const states = newStates({ ...topic, partitions }, firstNew, this.#options.fence)
    for (const batch of states) await this.#options.store.multi(batch)
    return partitions
  }

  /** All partitions when the broker starts. Returns the topics as they stand now. */
  async start(image: MetadataImage, topics: readonly TopicImage[]): Promise<TopicImage[]> {
    const rules = { brokerId: this.#options.brokerId, live: image.brokers, controllerEpoch: image.controllerEpoch }
    const places = topics.flatMap((topic) =>
      topic.partitions.map((before, index): Place => {
        return { topic, index, before, after: decideStart(rules, before, this.#options.facts(topic.name, index)) }
      }),
    )
    const old = places.filter(({ before }) => wasLed(before))
    const fresh = places.filter(({ before }) => !wasLed(before))
    await this.#setStates(old.filter(({ before, after }) => stateDiffers(before, after)))
    const failures = await this.#lead(old, 'existing')
    this.#leaveUnborn(fresh, await this.#lead(fresh, 'new'))
    await this.#createStates(fresh.filter(({ after }) => after.isr.length > 0))
    await this.#noteFailures(old, failures)
    const after = new Map<TopicImage, PartitionImage[]>(topics.map((topic) => [topic, []]))
    for (const place of places) after.get(place.topic)!.push(place.after)
    return topics.map((topic) => ({ ...topic, partitions: after.get(topic)! }))
  }

  async #lead(places: readonly Place[], log: 'new' | 'existing'): Promise<readonly PartitionFailure[]> {
    const here = places.filter(({ after }) => after.replicas.includes(this.#options.brokerId))
    if (here.length === 0) return []
    const assignments = here.map(({ topic, index, after }): PartitionAssignment => {
      const { leader, leaderEpoch, partitionEpoch, controllerEpoch, replicas, isr } = after
      const { problem, epochInLog } = this.#options.facts(topic.name, index)
      const kind = log === 'new' && epochInLog >= 0 ? 'existing' : log
      const state = { leader, leaderEpoch, partitionEpoch, controllerEpoch, replicas, isr }
      return { topic: topic.name, index, topicId: topic.topicId, ...state, log: kind, problem }
    })
    return this.#options.channel.leaderAndIsr(assignments, new Map(here.map(({ topic }) => [topic.name, topic.configs])))
  }

  async #setStates(places: readonly Place[]): Promise<void> {
    const operations = places.map(({ topic, index, before, after }): StoreOperation => {
      const path = ZNODES.partitionState.path(topic.name, index)
      return { kind: 'set', path, data: ZNODES.partitionState.encode(stateOf(after)), version: before.partitionEpoch }
    })
    let next = 0
    for (const batch of fencedBatches(this.#options.fence, operations)) {
      for (const result of (await this.#options.store.multi(batch)).slice(1)) {
        const place = places[next++]!
        if (result.kind === 'set') place.after = { ...place.after, partitionEpoch: result.stat.version }
      }
    }
  }

  async #createStates(places: readonly Place[]): Promise<void> {
    const { store, fence } = this.#options
    const folders = [...new Set(places.map(({ topic }) => ZNODES.partitions.path(topic.name)))]
    const [folderThere, partitionThere] = await Promise.all([
      Promise.all(folders.map((path) => store.exists(path))),
      Promise.all(places.map(({ topic, index }) => store.exists(ZNODES.partition.path(topic.name, index)))),
    ])
    const operations = [
      ...folders
        .filter((_, at) => folderThere[at] === null)
        .map((path): StoreOperation => ({ kind: 'create', path, data: null })),
      ...places.flatMap(({ topic, index, after }, at): StoreOperation[] => {
        const folder: StoreOperation = { kind: 'create', path: ZNODES.partition.path(topic.name, index), data: null }
        const path = ZNODES.partitionState.path(topic.name, index)
        const state: StoreOperation = { kind: 'create', path, data: ZNODES.partitionState.encode(stateOf(after)) }
        return partitionThere[at] === null ? [folder, state] : [state]
      }),
    ]
    for (const batch of fencedBatches(fence, operations)) await store.multi(batch)
    for (const place of places) place.after = { ...place.after, partitionEpoch: 0 }
  }

  /**
   * A new partition that could not be led has no leader and gets no state: there may be no folder, and no record was ever in it. The next
   * start begins it anew.
   */
  #leaveUnborn(places: readonly Place[], failures: readonly PartitionFailure[]): void {
    for (const place of this.#failed(places, failures)) {
      place.after = { ...place.after, leader: NO_LEADER, isr: [], offlineReplicas: [this.#options.brokerId] }
    }
  }

  /** Those of the places that failed and have a leader yet; says so for each. */
  #failed(places: readonly Place[], failures: readonly PartitionFailure[]): Place[] {
    if (failures.length === 0) return []
    const byName = new Map(places.map((place) => [`${place.topic.name}-${place.index}`, place]))
    return failures.flatMap(({ topic, index, error }) => {
      const place = byName.get(`${topic}-${index}`)
      if (place === undefined) return []
      this.#options.log.error({ topic, partition: index, error }, `${topic}-${index} cannot be led: ${error}`)
      return place.after.leader === NO_LEADER ? [] : [place]
    })
  }

  /** A partition that could not be led has no leader, in the store as well. */
  async #noteFailures(places: readonly Place[], failures: readonly PartitionFailure[]): Promise<void> {
    const failed = this.#failed(places, failures)
    const changed = failed.map((place): Place => {
      const leaderEpoch = place.after.leaderEpoch + 1
      const after = { ...place.after, leader: NO_LEADER, leaderEpoch, offlineReplicas: [this.#options.brokerId] }
      return { ...place, before: place.after, after }
    })
    await this.#setStates(changed)
    for (const [at, place] of failed.entries()) place.after = changed[at]!.after
  }
}
