/**
 * Pure: what a start makes of the folders that it finds, against what the store knows. What is on disk wins: a Java broker may have had the
 * directory since, or always.
 *
 * Rules. A folder that the store does not know is adopted, with its topic id; nothing of an adopted topic is deleted or cleaned until its
 * configs are known. A user topic has as many partitions as its highest folder says, an internal one likewise; what is missing in between
 * has no leader. A folder of another topic id, or one that is gone, makes an offline partition and a line, never a new empty one. No leader
 * epoch goes below one on disk, no producer id that stands there is handed out again.
 */
import { NO_FACTS, type PartitionFacts } from '../controller/start.js'
import { INTERNAL_TOPICS, NO_LEADER, type PartitionImage, type TopicImage, ZERO_TOPIC_ID } from './image.js'
import { wasLed } from './load.js'

/** One partition's folder. Folders on their way out or in (`-delete`, `-stray`, `-future`) are none. */
export interface FoundFolder {
  readonly topic: string
  readonly index: number
  /** From partition.metadata; null without one. */
  readonly topicId: string | null
  /** -1 without one. */
  readonly latestEpoch: number
}

export interface FoundDirectory {
  readonly path: string
  readonly stoppedCleanly: boolean
  readonly folders: readonly FoundFolder[]
}

export interface AdoptionInput {
  readonly brokerId: number
  /** Whether the store had no files before this start. */
  readonly store: 'new' | 'found'
  readonly directories: readonly FoundDirectory[]
  readonly topic: (name: string) => TopicImage | undefined
  readonly topics: Iterable<TopicImage>
  /** Topics whose deletion is under way: their folders are neither missed nor adopted. */
  readonly deleting: ReadonlySet<string>
}

export interface Line {
  readonly level: 'info' | 'warn' | 'error'
  readonly message: string
}

export interface AdoptionPlan {
  /** Topics to write that the store did not know, without states: they become leaders as any partition at a start. */
  readonly newTopics: readonly TopicImage[]
  /** Topics of the store with more partitions, or with the id that it did not know. */
  readonly grownTopics: readonly TopicImage[]
  /** Names of topics adopted now, whole or in part: to be held. */
  readonly adopted: readonly string[]
  readonly lines: readonly Line[]
  facts(topic: string, index: number): PartitionFacts
}

/** A folder with a higher number is not one of Kafka's (a date, say), and would make millions of partitions without a leader. */
const HIGHEST_INDEX = 50_000

interface Placed {
  readonly folder: FoundFolder
  readonly stoppedCleanly: boolean
}

export function planAdoption(input: AdoptionInput): AdoptionPlan {
  const lines: Line[] = []
  const found = byTopic(input.directories, lines)
  const newTopics: TopicImage[] = []
  const grownTopics: TopicImage[] = []
  const adopted = new Set<string>()
  const facts = new Map<string, Map<number, PartitionFacts>>()
  let adoptedPartitions = 0

  for (const [name, folders] of found) {
    if (input.deleting.has(name)) continue
    const known = input.topic(name)
    const topic = topicFrom(name, known, folders, input.brokerId)
    facts.set(name, factsOf(topic, folders, lines))
    const unknown = [...folders.keys()].filter((index) => index >= (known?.partitions.length ?? 0))
    if (known === undefined) newTopics.push(topic)
    else if (topic !== known) grownTopics.push(topic)
    if (unknown.length === 0) continue
    adopted.add(name)
    adoptedPartitions += unknown.length
    if (known !== undefined) lines.push(warning(`${name}: adopted partitions ${list(unknown)}, which the metadata did not know`))
  }
  for (const topic of [...input.topics, ...newTopics, ...grownTopics]) {
    if (!input.deleting.has(topic.name)) noteMissing(topic, input, found.get(topic.name), facts, lines)
  }
  if (adopted.size > 0) lines.unshift(adoptionLine(input, [...adopted], adoptedPartitions))
  return {
    newTopics,
    grownTopics,
    adopted: [...adopted],
    lines,
    facts: (topic, index) => facts.get(topic)?.get(index) ?? NO_FACTS,
  }
}

const warning = (message: string): Line => ({ level: 'warn', message })
const error = (message: string): Line => ({ level: 'error', message })

function byTopic(directories: readonly FoundDirectory[], lines: Line[]): Map<string, Map<number, Placed>> {
  const found = new Map<string, Map<number, Placed>>()
  for (const { path, folders, stoppedCleanly } of directories) {
    for (const folder of folders) {
      if (folder.index > HIGHEST_INDEX) {
        lines.push(warning(`${path}/${folder.topic}-${folder.index} is left alone: no topic has that many partitions`))
        continue
      }
      const ofTopic = found.get(folder.topic) ?? new Map<number, Placed>()
      found.set(folder.topic, ofTopic.set(folder.index, { folder, stoppedCleanly }))
    }
  }
  return found
}

/** The topic as store and folders together have it; the same object when the folders add nothing. */
function topicFrom(
  name: string,
  known: TopicImage | undefined,
  folders: ReadonlyMap<number, Placed>,
  brokerId: number,
): TopicImage {
  const count = Math.max(known?.partitions.length ?? 0, Math.max(...folders.keys()) + 1)
  const topicId = known !== undefined && known.topicId !== ZERO_TOPIC_ID ? known.topicId : mostFrequentId(folders)
  if (known !== undefined && known.partitions.length === count && known.topicId === topicId) return known
  const firstNew = known?.partitions.length ?? 0
  const added = Array.from({ length: count - firstNew }, (_, at) =>
    folders.has(firstNew + at) ? neverLed(brokerId) : hole(brokerId),
  )
  return {
    name,
    topicId,
    isInternal: INTERNAL_TOPICS.has(name),
    partitions: [...(known?.partitions ?? []), ...added],
    configs: known?.configs ?? {},
  }
}

const neverLed = (brokerId: number): PartitionImage => ({
  leader: NO_LEADER,
  leaderEpoch: -1,
  isr: [],
  replicas: [brokerId],
  offlineReplicas: [],
  addingReplicas: [],
  removingReplicas: [],
  partitionEpoch: -1,
  controllerEpoch: 0,
})

/** A partition in between that has no folder. It gets its state with the topic: without one the next start would take it for new. */
const hole = (brokerId: number): PartitionImage => ({
  ...neverLed(brokerId),
  leaderEpoch: 0,
  isr: [brokerId],
  offlineReplicas: [brokerId],
})

/** Folders of one topic may disagree (deleted and made again while one was away): most of them decide, then the lowest index. */
function mostFrequentId(folders: ReadonlyMap<number, Placed>): string {
  const counts = new Map<string, number>()
  for (const [, { folder }] of [...folders].sort(([a], [b]) => a - b)) {
    if (folder.topicId !== null) counts.set(folder.topicId, (counts.get(folder.topicId) ?? 0) + 1)
  }
  let best = ZERO_TOPIC_ID
  for (const [id, count] of counts) if (count > (counts.get(best) ?? 0)) best = id
  return best
}

function factsOf(topic: TopicImage, folders: ReadonlyMap<number, Placed>, lines: Line[]): Map<number, PartitionFacts> {
  const facts = new Map<number, PartitionFacts>()
  for (const [index, { folder, stoppedCleanly }] of folders) {
    const differs = folder.topicId !== null && folder.topicId !== topic.topicId
    const problem = differs ? `its folder belongs to the topic id ${folder.topicId}, the topic has ${topic.topicId}` : null
    if (problem !== null) lines.push(error(`${topic.name}-${index} is offline: ${problem}. Nothing in it was changed`))
    facts.set(index, { epochInLog: folder.latestEpoch, stoppedCleanly, problem })
  }
  return facts
}

function noteMissing(
  topic: TopicImage,
  input: AdoptionInput,
  folders: ReadonlyMap<number, Placed> | undefined,
  facts: Map<string, Map<number, PartitionFacts>>,
  lines: Line[],
): void {
  const ofTopic = facts.get(topic.name) ?? new Map<number, PartitionFacts>()
  const missing: number[] = []
  for (const [index, partition] of topic.partitions.entries()) {
    const known = input.topic(topic.name)?.partitions[index]
    const never = known !== undefined && !wasLed(known) // made, but its folder was not yet: begins as new
    if (folders?.has(index) || ofTopic.has(index) || never || !partition.replicas.includes(input.brokerId)) continue
    missing.push(index)
    ofTopic.set(index, { ...NO_FACTS, problem: `its folder ${topic.name}-${index} is missing in the log directories` })
  }
  facts.set(topic.name, ofTopic)
  if (missing.length === 0) return
  const one = missing.length === 1
  const [are, folder] = one ? ['is', 'its folder is'] : ['are', 'their folders are']
  lines.push(
    error(`${topic.name}: partition${one ? '' : 's'} ${list(missing)} ${are} offline: ${folder} missing in the log directories`),
  )
}

function adoptionLine(input: AdoptionInput, names: readonly string[], partitions: number): Line {
  const where = input.directories.filter(({ folders }) => folders.length > 0).map(({ path }) => path)
  const what = `${names.length} topic${names.length === 1 ? '' : 's'} (${partitions} partition${partitions === 1 ? '' : 's'})`
  const why = input.store === 'new' ? 'no metadata of ours was there' : 'the metadata did not know them'
  return warning(
    `adopted ${what} from ${where.join(', ')}: ${why}. Nothing of them is deleted or cleaned until their configs are known: ` +
      'run mq metadata import, or alter cleanup.policy or a retention config of the topic',
  )
}

/** 0, 1, 2, 5 → "0-2, 5". */
function list(indexes: readonly number[]): string {
  const sorted = [...indexes].sort((a, b) => a - b)
  const ranges: string[] = []
  for (let at = 0; at < sorted.length; at++) {
    const from = sorted[at]!
    while (at + 1 < sorted.length && sorted[at + 1] === sorted[at]! + 1) at++
    ranges.push(from === sorted[at] ? `${from}` : `${from}-${sorted[at]}`)
  }
  return ranges.join(', ')
}
