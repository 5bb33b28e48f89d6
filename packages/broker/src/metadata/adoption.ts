/**
 * Carries adoption out at a start, between the loading of the logs and the controller: asks `adopt.ts` what the folders mean, writes topics
 * that the store did not know, holds what must not be cleaned, and keeps used producer ids from being given out again.
 */
import type { Disk, Log, LogDirectories } from '@mq/log'
import { formatTopicPartition } from '@mq/protocol'
import type { PartitionFacts } from '../controller/start.js'
import { assignmentOf, fencedBatches, newStates } from '../controller/writes.js'
import type { Clock, Logger, Timers } from '../ports.js'
import { type FoundDirectory, planAdoption } from './adopt.js'
import { reachable, type ScanMark, scanPartition } from './disk-scan.js'
import type { TopicImage } from './image.js'
import { loadMetadata } from './load.js'
import { IDS_OF_ANOTHER_STORE, reserveUpTo } from './producer-ids.js'
import type { MetadataStore, StoreOperation } from './store.js'
import { ensurePaths, putNode } from './subtree.js'
import { PERSISTENT_PATHS, ZNODES } from './znodes.js'

export interface AdoptionOptions {
  readonly brokerId: number
  readonly store: MetadataStore
  readonly storeOrigin: 'found' | 'new'
  readonly logs: LogDirectories
  readonly disk: Disk
  /** By `topic-index`, as they were before the logs were loaded. */
  readonly epochsBefore: ReadonlyMap<string, number>
  readonly clock: Pick<Clock, 'now'>
  readonly timers: Timers
  readonly log: Logger
}

export interface Adoption {
  /** What the controller asks of each partition. */
  facts(topic: string, index: number): PartitionFacts
  /** To be called when nothing appends any more. */
  close(): Promise<void>
}

export async function adoptDirectories(options: AdoptionOptions): Promise<Adoption> {
  const { store, logs, log, clock, brokerId } = options
  await ensurePaths(store, PERSISTENT_PATHS)
  const marks = await loadMarks(store)
  // Never looked at before: what is in the logs is another broker's, also where its metadata was imported first and nothing is unknown.
  const isFirstLook = marks.size === 0 && !isEmpty(logs.all())
  const noteAdoption = () => putNode(store, ZNODES.adoption.path(), ZNODES.adoption.encode({ time: clock.now() }))
  if (isFirstLook) await noteAdoption()
  const epochs = await scanLogs(options, marks, isFirstLook)
  const { image, deleting } = await loadMetadata(store)
  const directories = foundDirectories(logs, epochs)
  const input = { brokerId, store: options.storeOrigin, directories, deleting }
  const plan = planAdoption({ ...input, topic: (name) => image.topic(name), topics: image.topics() })
  for (const { level, message } of plan.lines) log[level]({}, message)
  if (plan.adopted.length > 0 && !isFirstLook) await noteAdoption()
  await ensurePaths(store, [ZNODES.own.path(), ZNODES.held.path()])
  const held = new Set(await store.children(ZNODES.held.path()))
  for (const topic of plan.newTopics) await store.multi(adoptTopic(topic))
  for (const topic of plan.grownTopics) {
    const hold = plan.adopted.includes(topic.name) && !held.has(topic.name)
    await store.multi([...(hold ? [heldNode(topic.name)] : []), ...growTopic(topic, image.topic(topic.name)!.partitions.length)])
  }
  for (const topic of new Set([...held, ...plan.adopted])) logs.holdRetention(topic)
  const stopNoting = noteNowAndThen(options)
  return {
    facts: plan.facts,
    close() {
      stopNoting()
      return noteProgress(options)
    },
  }
}

const heldNode = (topic: string): StoreOperation => ({ kind: 'create', path: ZNODES.heldTopic.path(topic), data: null })

/** The topic, its hold, and the states of partitions that are missing in between, in one: no crash leaves it without. */
const adoptTopic = (topic: TopicImage): StoreOperation[] => [
  heldNode(topic.name),
  { kind: 'create', path: ZNODES.topic.path(topic.name), data: ZNODES.topic.encode(assignmentOf(topic)) },
  { kind: 'create', path: ZNODES.partitions.path(topic.name), data: null },
  ...newStates(topic, 0, null).flat(),
]

const growTopic = (topic: TopicImage, firstNew: number): StoreOperation[] => [
  { kind: 'set', path: ZNODES.topic.path(topic.name), data: ZNODES.topic.encode(assignmentOf(topic)) },
  ...newStates(topic, firstNew, null).flat(),
]

function foundDirectories(logs: LogDirectories, epochs: ReadonlyMap<string, number>): FoundDirectory[] {
  const all = [...logs.all()]
  return logs.directories.map(({ path }) => ({
    path,
    stoppedCleanly: logs.wasCleanShutdown(path),
    folders: all
      .filter(({ directory }) => directory === path)
      .map(({ topicPartition, topicId, latestLeaderEpoch }) => {
        const latestEpoch = Math.max(latestLeaderEpoch, epochs.get(formatTopicPartition(topicPartition)) ?? -1)
        return { topic: topicPartition.topic, index: topicPartition.partition, topicId, latestEpoch }
      }),
  }))
}

/** Reads what no start has read yet, reserves the producer ids found, and returns the latest epoch of each partition. */
async function scanLogs(
  { store, logs, disk, brokerId, epochsBefore }: AdoptionOptions,
  marks: ReadonlyMap<string, ReadonlyMap<number, ScanMark>>,
  isFirstLook: boolean,
): Promise<Map<string, number>> {
  const epochs = new Map(epochsBefore)
  let used = -1
  for (const log of logs.all()) {
    const { topicPartition, directory } = log
    if (log.isOffline) continue
    const mark = marks.get(topicPartition.topic)?.get(topicPartition.partition) ?? null
    if (mark !== null && isAt(mark, markOf(log))) continue
    const { leaderEpoch, producerId } = await scanPartition(disk, directory, topicPartition, mark)
    const name = formatTopicPartition(topicPartition)
    epochs.set(name, Math.max(epochs.get(name) ?? -1, leaderEpoch))
    used = Math.max(used, producerId)
  }
  // Of a Java broker, whose ZooKeeper goes on counting from its own last block when it gets the directory back.
  if (isFirstLook) used = Math.max(used, IDS_OF_ANOTHER_STORE)
  if (used >= 0) await reserveUpTo(store, brokerId, used)
  await writeMarks(store, logs, marks) // reserved first: a crash in between reads again
  return epochs
}

function isEmpty(items: Iterable<unknown>): boolean {
  return items[Symbol.iterator]().next().done === true
}

async function loadMarks(store: MetadataStore): Promise<Map<string, ReadonlyMap<number, ScanMark>>> {
  const names = (await store.children(ZNODES.scanned.path())) ?? []
  const marks = await Promise.all(
    names.map(async (name) => {
      const path = ZNODES.scannedTopic.path(name)
      const node = await store.get(path)
      return [name, node === null ? new Map<number, ScanMark>() : ZNODES.scannedTopic.decode(node.data, path)] as const
    }),
  )
  return new Map(marks)
}

async function writeMarks(
  store: MetadataStore,
  logs: LogDirectories,
  before: ReadonlyMap<string, ReadonlyMap<number, ScanMark>>,
): Promise<void> {
  const marks = new Map<string, Map<number, ScanMark>>()
  for (const log of logs.all()) {
    const { topic, partition } = log.topicPartition
    const ofTopic = marks.get(topic) ?? new Map<number, ScanMark>()
    const mark = log.isOffline ? before.get(topic)?.get(partition) : markOf(log)
    if (mark !== undefined) marks.set(topic, ofTopic.set(partition, mark))
  }
  const operations = Array.from(marks).flatMap(([topic, ofTopic]): StoreOperation[] => {
    const path = ZNODES.scannedTopic.path(topic)
    const data = ZNODES.scannedTopic.encode(ofTopic)
    const old = before.get(topic)
    if (old === undefined) return [{ kind: 'create', path, data }]
    return ZNODES.scannedTopic.encode(old)?.equals(data!) ? [] : [{ kind: 'set', path, data }]
  })
  if (operations.length === 0) return
  await ensurePaths(store, [ZNODES.own.path(), ZNODES.scanned.path()])
  for (const batch of fencedBatches(null, operations)) await store.multi(batch)
}

const isAt = (mark: ScanMark, now: ScanMark): boolean =>
  mark.offset === now.offset && mark.segment === now.segment && mark.position === now.position

function markOf(log: Log): ScanMark {
  const last = log.segmentViews().at(-1)
  return { offset: log.logEndOffset, segment: last?.baseOffset ?? 0, position: last?.sizeInBytes ?? 0 }
}

/** A start after a kill reads what no note covers: not more than was appended in this time. */
const NOTE_EVERY_MS = 10 * 60_000

function noteNowAndThen(options: AdoptionOptions): () => void {
  let cancel = () => {}
  const arm = () => {
    cancel = options.timers.after(NOTE_EVERY_MS, () => {
      noteProgress(options)
        .catch((error: unknown) => options.log.warn({ err: error }, 'how far the logs are known could not be noted'))
        .finally(() => {
          if (!stopped) arm()
        })
    })
  }
  let stopped = false
  arm()
  return () => {
    stopped = true
    cancel()
  }
}

/**
 * Notes how far the logs are known, so that a start reads only what comes behind. What was appended since the start came from clients of
 * ours; ids that they made up themselves stand in the producer states.
 */
async function noteProgress({ store, logs, brokerId }: AdoptionOptions): Promise<void> {
  let used = -1
  for (const log of logs.all()) {
    if (!log.isOffline) for (const { producerId } of log.producers()) used = Math.max(used, reachable(producerId))
  }
  if (used >= 0) await reserveUpTo(store, brokerId, used)
  await writeMarks(store, logs, await loadMarks(store))
}
