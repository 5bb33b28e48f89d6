/**
 * Offsets of OffsetCommit and OffsetFetch v0: in the metadata tree as consumers before 0.9 kept them, the number as text under
 * `/consumers/<group>/offsets/<topic>/<partition>`.
 */
import { type Body, type ErrorName, errorCode, type OffsetCommitRequest } from '@mq/protocol'
import { isStoreError, type MetadataStore } from '../metadata/store.js'
import type { BrokerServices } from '../services.js'

type Topics = Body<typeof OffsetCommitRequest>['topics']

/** A group's name is one step of a path. Slashes, and the names that mean other places, would lead somewhere else. */
const isOneStep = (groupId: string): boolean => groupId !== '' && groupId !== '.' && groupId !== '..' && !/[/\0]/.test(groupId)

const pathOf = (groupId: string, topic: string, partition: number): string =>
  `/consumers/${groupId}/offsets/${topic}/${partition}`

/** Writes that are under way together share the syncs of the store. */
const AT_ONCE = 100

export async function commitToTree(groupId: string, topics: Topics, broker: BrokerServices) {
  const limit = broker.config['offset.metadata.max.bytes']
  const answers = []
  for (const { name, partitions } of topics) {
    const results: { partitionIndex: number; errorCode: number }[] = []
    for (let at = 0; at < partitions.length; at += AT_ONCE) {
      const some = partitions.slice(at, at + AT_ONCE)
      // Of a partition that stands twice the last one counts, as if they had been written one after the other.
      const last = new Map(some.map((partition) => [partition.partitionIndex, partition]))
      const written = await Promise.all(
        [...last.values()].map(async ({ partitionIndex, committedOffset, committedMetadata }) => {
          const isTooLarge = committedMetadata !== null && committedMetadata.length > limit
          const error = isTooLarge
            ? ('OFFSET_METADATA_TOO_LARGE' as const)
            : await write(broker, groupId, name, partitionIndex, committedOffset)
          return [partitionIndex, error] as const
        }),
      )
      const errors = new Map(written)
      for (const { partitionIndex } of some) {
        results.push({ partitionIndex, errorCode: errorCode(errors.get(partitionIndex)!) })
      }
    }
    answers.push({ name, partitions: results })
  }
  return answers
}

async function write(
  broker: BrokerServices,
  groupId: string,
  topic: string,
  partition: number,
  offset: number,
): Promise<ErrorName> {
  if (!isOneStep(groupId)) return 'INVALID_GROUP_ID'
  try {
    await setOrCreate(broker.store, pathOf(groupId, topic, partition), Buffer.from(String(offset)))
    return 'NONE'
  } catch (error) {
    broker.log.warn({ group: groupId, topic, partition, error }, 'an offset could not be written to the metadata store')
    return 'UNKNOWN_SERVER_ERROR'
  }
}

async function setOrCreate(store: MetadataStore, path: string, data: Buffer): Promise<void> {
  try {
    await store.set(path, data)
  } catch (error) {
    if (!isStoreError(error, 'NO_NODE')) throw error
    const steps = path.split('/').slice(1)
    for (let depth = 1; depth < steps.length; depth++) await createIfMissing(store, `/${steps.slice(0, depth).join('/')}`, null)
    if (!(await createIfMissing(store, path, data))) await store.set(path, data)
  }
}

async function createIfMissing(store: MetadataStore, path: string, data: Buffer | null): Promise<boolean> {
  try {
    await store.create(path, data)
    return true
  } catch (error) {
    if (!isStoreError(error, 'NODE_EXISTS')) throw error
    return false
  }
}

/** -1 with UNKNOWN_TOPIC_OR_PARTITION when nothing was committed, as well as when the partition is not there. */
export async function fetchFromTree(broker: BrokerServices, groupId: string, topic: string, partition: number) {
  const nothing = (error: ErrorName) => ({
    partitionIndex: partition,
    committedOffset: -1,
    metadata: '',
    errorCode: errorCode(error),
  })
  if (!broker.controller.image().partition(topic, partition) || !isOneStep(groupId)) return nothing('UNKNOWN_TOPIC_OR_PARTITION')
  try {
    const node = await broker.store.get(pathOf(groupId, topic, partition))
    const offset = node?.data ? Number(node.data.toString()) : Number.NaN
    if (!Number.isSafeInteger(offset)) return nothing('UNKNOWN_TOPIC_OR_PARTITION')
    return { partitionIndex: partition, committedOffset: offset, metadata: '', errorCode: errorCode('NONE') }
  } catch (error) {
    broker.log.warn({ group: groupId, topic, partition, error }, 'an offset could not be read from the metadata store')
    return nothing('UNKNOWN_SERVER_ERROR')
  }
}
