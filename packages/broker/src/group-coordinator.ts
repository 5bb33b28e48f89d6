/**
 * Joins the group coordinator to the broker: shards are loaded and unloaded with the leadership of `__consumer_offsets`, and offsets
 * go with their topics.
 */
import { type CoordinatorConfig, Groups, type PartitionPort, type PartitionRefused } from '@mq/coordinator'
import { batchAt, RECORD_BATCH, RecordBatch } from '@mq/protocol'
import type { Partition, Partitions } from '@mq/replica'
import type { Controller } from './controller/api.js'
import type { MetadataStore } from './metadata/store.js'
import { ZNODES } from './metadata/znodes.js'
import type { Clock, Logger, Random, Timers } from './ports.js'

export const OFFSETS_TOPIC = '__consumer_offsets'

export interface GroupCoordinatorOptions {
  readonly config: CoordinatorConfig
  readonly clock: Clock
  readonly timers: Timers
  readonly random: Random
  readonly log: Logger
  readonly controller: Controller
  readonly partitions: Partitions
  /** Says when a foreign data directory was adopted: until then nobody could have used the offsets in it. */
  readonly store: Pick<MetadataStore, 'get'>
}

export interface GroupCoordinator {
  readonly groups: Groups
  close(): void
}

export function startGroupCoordinator(options: GroupCoordinatorOptions): GroupCoordinator {
  const { config, controller, partitions, clock } = options
  // Until it is known, and if it cannot be, nothing is too old.
  let adoptedAt = clock.now()
  const adoptionIsKnown = timeOfAdoption(options.store).then(
    (time) => {
      adoptedAt = time
    },
    (error: unknown) => options.log.error({ err: error }, 'the time of the adoption could not be read'),
  )
  const groups = new Groups({
    ...options,
    logger: options.log,
    offsetsExpireNotBefore: () => adoptedAt,
    partitionCount: () => controller.image().topic(OFFSETS_TOPIC)?.partitions.length ?? config['offsets.topic.num.partitions'],
  })
  const ports = new WeakMap<Partition, PartitionPort>()
  /** Topics that lost a partition here: perhaps they are deleted. Name → id of the topic that was. */
  const doubtful = new Map<string, string | null>()

  const load = (partition: Partition) => {
    let port = ports.get(partition)
    if (!port) {
      port = new LedPartition(partition, config['offsets.load.buffer.size'], options.log)
      ports.set(partition, port)
    }
    const known = port
    void adoptionIsKnown.then(() => (partition.isLeader ? groups.load(known) : undefined))
  }
  const settle = () => {
    for (const [topic, topicId] of doubtful) {
      const now = controller.image().topic(topic)
      if (now !== undefined && (topicId === null || now.topicId === topicId)) continue
      doubtful.delete(topic)
      void groups.partitionsDeleted(topic, null)
    }
  }
  const endListening = partitions.onLeadership((partition, change) => {
    const { topic, partition: index } = partition.topicPartition
    if (topic === OFFSETS_TOPIC) {
      if (change === 'gained') load(partition)
      else groups.unload(index)
      return
    }
    if (change === 'gained') doubtful.delete(topic)
    else doubtful.set(topic, partition.topicId)
    settle()
  })
  const endWatching = controller.onImage(() => {
    if (doubtful.size > 0) settle()
  })
  for (const partition of partitions.ofTopic(OFFSETS_TOPIC)) if (partition.isLeader) load(partition)
  // After those that load: each of them forgets these topics before it answers anybody.
  void adoptionIsKnown.then(() => {
    for (const topic of controller.deletedAtStart) void groups.partitionsDeleted(topic, null)
  })

  const close = () => {
    endListening()
    endWatching()
    groups.close()
  }
  return { groups, close }
}

/** Wall clock, 0 when there was none. */
async function timeOfAdoption(store: Pick<MetadataStore, 'get'>): Promise<number> {
  const path = ZNODES.adoption.path()
  const node = await store.get(path)
  return node === null ? 0 : ZNODES.adoption.decode(node.data, path).time
}

/** Behind a damage, so many offsets are tried one by one; after that in growing steps. */
const CLOSE_BY = 64

/** A partition that this broker leads, as the coordinator asks for it. */
export class LedPartition implements PartitionPort {
  readonly topic: string
  readonly partition: number
  readonly #partition: Partition
  readonly #readBytes: number
  readonly #log: Logger

  /** @param readBytes how much is read at a time; a larger batch is read whole all the same */
  constructor(partition: Partition, readBytes: number, log: Logger) {
    this.topic = partition.topicPartition.topic
    this.partition = partition.topicPartition.partition
    this.#partition = partition
    this.#readBytes = readBytes
    this.#log = log
  }

  get highWatermark(): number {
    return this.#partition.log?.highWatermark ?? 0
  }

  append(records: Buffer): ReturnType<PartitionPort['append']> {
    const { isr, config } = this.#partition
    const needed = config['min.insync.replicas']
    // Asked for here, since the append itself must not wait for the followers: the next command sees what it wrote.
    if (this.#partition.isLeader && isr.length < needed && !this.#isWholeWith(isr.length)) {
      return refused('NOT_ENOUGH_REPLICAS', `${isr.length} of ${needed} replicas are in sync`)
    }
    return this.#partition.append(records, { acks: 1, origin: 'coordinator', timeoutMs: 0 })
  }

  async *read(): AsyncGenerator<Buffer> {
    const log = this.#ledLog()
    let offset = log.logStartOffset
    let maxBytes = this.#readBytes
    while (offset < log.logEndOffset) {
      const read = await log.read(offset, { maxBytes, minOneMessage: true, upTo: 'logEnd' })
      if (read.kind === 'read') {
        const bytes = read.slices.length === 1 ? read.slices[0]! : Buffer.concat(read.slices)
        const whole = wholeBatches(bytes)
        if (whole.sizeInBytes === 0) return
        yield bytes.subarray(0, whole.sizeInBytes)
        offset = whole.nextOffset
        continue
      }
      if (read.error !== 'CORRUPT_MESSAGE') throw new Error(`offset ${offset} cannot be read: ${read.error} ${read.message}`)
      if (maxBytes > 1) {
        // One batch at a time, up to the damaged one.
        maxBytes = 1
        continue
      }
      const after = await this.#afterDamage(offset)
      this.#log.error(
        { topic: this.topic, partition: this.partition, from: offset, to: after, reason: read.message },
        'a damaged part of the offsets topic was left out: groups may miss commits',
      )
      offset = after
      maxBytes = this.#readBytes
    }
  }

  /** The first offset behind the damage that the log can find again, by an index entry; its end if there is none. */
  async #afterDamage(damaged: number): Promise<number> {
    const log = this.#ledLog()
    for (let step = 1; damaged + step < log.logEndOffset; step += step < CLOSE_BY ? 1 : step) {
      const read = await log.read(damaged + step, { maxBytes: 1, minOneMessage: true, upTo: 'logEnd' })
      if (read.kind === 'read') return damaged + step
    }
    return log.logEndOffset
  }

  #ledLog(): NonNullable<Partition['log']> {
    const { log } = this.#partition
    if (!log) throw new Error(`this broker does not lead ${this.topic}-${this.partition}`)
    return log
  }

  whenCommitted(offset: number): ReturnType<PartitionPort['whenCommitted']> {
    if (this.highWatermark > offset) return { kind: 'committed' }
    return this.#partition
      .whenCommitted(offset)
      .then((outcome) =>
        outcome === 'committed' ? { kind: 'committed' } : refused('NOT_LEADER_OR_FOLLOWER', 'leadership was lost'),
      )
  }

  /** A topic with fewer replicas than min.insync.replicas asks for only needs those that it has. */
  #isWholeWith(inSync: number): boolean {
    const leader = this.#partition.logFor(-1)
    return leader.kind === 'log' && inSync >= leader.leader.replicas.length
  }
}

const refused = (error: string, message: string): PartitionRefused => ({ kind: 'refused', error, message })

/** How far the bytes hold whole batches, and the offset after them. */
function wholeBatches(bytes: Buffer): { readonly sizeInBytes: number; readonly nextOffset: number } {
  let sizeInBytes = 0
  let nextOffset = -1
  for (;;) {
    const extent = batchAt(bytes, sizeInBytes)
    if (extent === null || extent.sizeInBytes > bytes.length - sizeInBytes) return { sizeInBytes, nextOffset }
    // In the old formats the offset field is that of the last message.
    nextOffset =
      extent.magic === 2 ? new RecordBatch(bytes, sizeInBytes).nextOffset : RECORD_BATCH.baseOffset.get(bytes, sizeInBytes) + 1
    sizeInBytes += extent.sizeInBytes
  }
}
