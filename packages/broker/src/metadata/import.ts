/**
 * Takes the tree of a Kafka cluster into our store, so that an adopted directory gets the configs, quotas, users and access rules that it had.
 * What is on disk and what our controller wrote goes before the file: a topic that is here keeps its assignment and its states.
 */

import { type TopicImage, ZERO_TOPIC_ID } from './image.js'
import { loadMetadata } from './load.js'
import { reserveUpTo } from './producer-ids.js'
import type { MetadataStore } from './store.js'
import { ensurePaths, putNode } from './subtree.js'
import { type FileNode, TreeFileError } from './tree-file.js'
import { PERSISTENT_PATHS, rowOf, type TopicAssignment, ZNODES } from './znodes.js'

export interface ImportResult {
  /** Topics that the store did not know. */
  readonly newTopics: readonly string[]
  /** Adopted topics whose configs are known now: they are deleted and cleaned by them from the next start on. */
  readonly released: readonly string[]
  /** Nodes written, all in all. */
  readonly nodes: number
  /** What was left out and why, one line each. */
  readonly left: readonly string[]
}

/** Nodes that mean something only to the cluster that made them: registrations, notices, orders to the controller, ZooKeeper's own. */
const LEFT_OUT = [
  /^\/$/,
  /^\/(zookeeper|controller|migration|mq)(\/|$)/,
  /^\/(config\/changes|isr_change_notification|log_dir_event_notification|kafka-acl-changes|kafka-acl-extended-changes)\//,
  /^\/delegation_token\/token_changes\//,
]
const ORDERS = /^\/admin\/(delete_topics\/|reassign_partitions$|preferred_replica_election$)/
const TOPIC = /^\/brokers\/topics\/([^/]+)$/
const IN_TOPIC = /^\/brokers\/topics\/([^/]+)\/./
const TOPIC_CONFIG = /^\/config\/topics\/([^/]+)$/

/** Throws TreeFileError before anything is written when the file is of another cluster. */
export async function importTree(store: MetadataStore, nodes: readonly FileNode[], brokerId: number): Promise<ImportResult> {
  await ensurePaths(store, PERSISTENT_PATHS)
  await checkCluster(store, nodes)
  const { image } = await loadMetadata(store)
  const byPath = new Map(nodes.map((node) => [node.path, node]))
  const left: string[] = []
  const foreign = new Set<string>()
  const newTopics: string[] = []
  let written = 0
  const put = async (path: string, data: Buffer | null) => {
    await putNode(store, path, data)
    written++
  }
  for (const { path, data } of nodes) {
    const name = TOPIC.exec(path)?.[1]
    if (name === undefined || data === null) continue
    const given = ZNODES.topic.decode(data, path)
    const known = image.topic(name)
    if (known !== undefined && !isSame(known, given)) {
      foreign.add(name)
      left.push(
        `topic ${name}: the file has the id ${given.topicId}, the topic here ${known.topicId}: another topic of that name`,
      )
      continue
    }
    if (known === undefined) {
      newTopics.push(name)
      // Its configs are not known yet: a folder of it is kept as that of an adopted topic.
      if (!byPath.has(ZNODES.entityConfig.path('topics', name))) await putNode(store, ZNODES.heldTopic.path(name), null)
    }
    const merged = known === undefined ? given : mergedTopic(known, given)
    await put(path, ZNODES.topic.encode(merged))
    await ensurePaths(store, [ZNODES.partitions.path(name)])
    for (const index of given.partitions.keys()) {
      if (known?.partitions[index] !== undefined) continue
      const state = byPath.get(ZNODES.partitionState.path(name, index))
      if (state === undefined) continue
      await put(ZNODES.partition.path(name, index), null)
      await put(state.path, state.data)
    }
  }
  for (const node of nodes) {
    if (node.ephemeral || TOPIC.test(node.path) || IN_TOPIC.test(node.path) || LEFT_OUT.some((each) => each.test(node.path)))
      continue
    if (ORDERS.test(node.path))
      left.push(`${node.path}: an order to the controller of that cluster, give it again if it still holds`)
    else if (!foreign.has(TOPIC_CONFIG.exec(node.path)?.[1] ?? '')) written += await importOther(store, node, brokerId)
  }
  return { newTopics, released: await release(store, byPath, foreign), nodes: written, left }
}

const isSame = (known: TopicImage, given: TopicAssignment): boolean =>
  known.topicId === ZERO_TOPIC_ID || given.topicId === null || known.topicId === given.topicId

/** Our partitions as they are; of the file only those behind them, and the id where we have none. */
function mergedTopic(known: TopicImage, given: TopicAssignment): TopicAssignment {
  const partitions = new Map(known.partitions.map(({ replicas }, index) => [index, replicas]))
  for (const [index, replicas] of given.partitions) if (!partitions.has(index)) partitions.set(index, replicas)
  const topicId = known.topicId === ZERO_TOPIC_ID ? given.topicId : known.topicId
  return { topicId, partitions, addingReplicas: new Map(), removingReplicas: new Map() }
}

async function checkCluster(store: MetadataStore, nodes: readonly FileNode[]): Promise<void> {
  const path = ZNODES.clusterId.path()
  const given = nodes.find((node) => node.path === path)
  const ours = await store.get(path)
  if (given === undefined || ours === null) return
  const [theirs, here] = [ZNODES.clusterId.decode(given.data, path), ZNODES.clusterId.decode(ours.data, path)]
  if (theirs !== here) throw new TreeFileError(`it is of cluster ${theirs}, the data directory is of cluster ${here}`)
}

/** Returns how many nodes were written. */
async function importOther(store: MetadataStore, { path, data }: FileNode, brokerId: number): Promise<number> {
  if (path === ZNODES.producerIdBlock.path()) {
    const block = ZNODES.producerIdBlock.decode(data, path)
    if (block !== null) await reserveUpTo(store, brokerId, block.lastId)
    return block === null ? 0 : 1
  }
  const now = await store.get(path)
  if (path === ZNODES.controllerEpoch.path()) {
    const epoch = ZNODES.controllerEpoch.decode(data, path)
    if (now !== null && ZNODES.controllerEpoch.decode(now.data, path) >= epoch) return 0
  }
  // Committed offsets that moved on here since are newer; a folder that is there is there.
  const isKept = rowOf(path)?.row === (ZNODES.consumerOffset as unknown) || data === null
  if (now !== null && (isKept || path === ZNODES.clusterId.path())) return 0
  await putNode(store, path, data)
  return 1
}

/** Topics that were held until their configs are known, and whose configs the file has. */
async function release(
  store: MetadataStore,
  byPath: ReadonlyMap<string, FileNode>,
  foreign: ReadonlySet<string>,
): Promise<string[]> {
  const released: string[] = []
  for (const name of (await store.children(ZNODES.held.path())) ?? []) {
    if (!byPath.has(ZNODES.entityConfig.path('topics', name)) || foreign.has(name)) continue
    await store.delete(ZNODES.heldTopic.path(name))
    released.push(name)
  }
  return released
}
