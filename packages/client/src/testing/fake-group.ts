/**
 * Test-only: a scripted coordinator and a topic in memory behind a FakeBroker: enough of a group for one member to live in.
 * Every answer can be replaced by the test, which is the point of it.
 */

import { BatchBuilder } from '@mq/protocol'
import { AssignerProtocol } from '../consumer/assigner-protocol.js'
import { type Answers, FakeBroker, topicMetadata } from './fake-broker.js'

const OFFSET_OUT_OF_RANGE = 1

export class FakeGroup {
  readonly broker = new FakeBroker()
  readonly topic: string
  /** By partition: records by offset; a hole is undefined. */
  readonly logs: (string | undefined)[][]
  readonly logStart: number[]
  readonly committed = new Map<number, number>()
  /** Each OffsetCommit that was accepted: partition and offset. */
  readonly commits: [partition: number, offset: number][] = []
  generation = 0
  memberId = ''
  #waiting: (() => void)[] = []

  constructor({ topic = 't', partitions = 1 }: { topic?: string; partitions?: number } = {}) {
    this.topic = topic
    this.logs = Array.from({ length: partitions }, () => [])
    this.logStart = this.logs.map(() => 0)
  }

  async listen(): Promise<this> {
    await this.broker.listen()
    this.broker.answers = this.standard()
    return this
  }

  append(partition: number, ...values: (string | undefined)[]): void {
    this.logs[partition]!.push(...values)
    for (const wake of this.#waiting.splice(0)) wake()
  }

  async close(): Promise<void> {
    for (const wake of this.#waiting.splice(0)) wake()
    await this.broker.close()
  }

  /** One batch from the offset on; holes as compaction leaves them. */
  batchFrom(partition: number, offset: number): Buffer {
    const log = this.logs[partition]!
    let at = offset
    while (at < log.length && log[at] === undefined) at++
    if (at >= log.length) return Buffer.alloc(0)
    const builder = new BatchBuilder({ baseOffset: at })
    for (; at < log.length && log[at] !== undefined; at++)
      builder.tryAppend({ timestamp: 1_700_000_000_000 + at, key: null, value: log[at]!, headers: [] })
    return builder.build()
  }

  standard(): Answers {
    const { broker, topic } = this
    const self = { nodeId: broker.nodeId, host: '127.0.0.1', port: broker.port }
    return {
      Metadata: ({ topics }) => ({
        brokers: [self],
        controllerId: broker.nodeId,
        clusterId: 'fake',
        topics: (topics ?? [{ name: topic }]).map(({ name }) => topicMetadata(name!, this.logs.length, broker.nodeId)),
      }),
      JoinGroup: ({ memberId, protocols }) => {
        if (memberId === '') return { errorCode: 79, memberId: 'member-1' }
        this.memberId = memberId
        this.generation++
        const { name, metadata } = protocols[0]!
        const member = { memberId, metadata }
        return {
          generationId: this.generation,
          protocolName: name,
          protocolType: 'consumer',
          leader: memberId,
          memberId,
          members: [member],
        }
      },
      SyncGroup: () => ({
        protocolType: 'consumer',
        protocolName: 'RoundRobinAssigner',
        assignment: AssignerProtocol.MemberAssignment.encode({
          version: 0,
          assignment: { [topic]: this.logs.map((_, at) => at) },
        }),
      }),
      Heartbeat: () => ({}),
      LeaveGroup: () => ({}),
      OffsetFetch: ({ topics }) => ({
        topics: (topics ?? []).map(({ name, partitionIndexes }) => ({
          name,
          partitions: partitionIndexes.map((partitionIndex) => ({
            partitionIndex,
            committedOffset: this.committed.get(partitionIndex) ?? -1,
          })),
        })),
      }),
      OffsetCommit: ({ topics }) => ({
        topics: topics.map(({ name, partitions }) => ({
          name,
          partitions: partitions.map(({ partitionIndex, committedOffset }) => {
            this.committed.set(partitionIndex, committedOffset)
            this.commits.push([partitionIndex, committedOffset])
            return { partitionIndex }
          }),
        })),
      }),
      ListOffsets: ({ topics }) => ({
        topics: topics.map(({ name, partitions }) => ({
          name,
          partitions: partitions.map(({ partitionIndex, timestamp }) => ({
            partitionIndex,
            timestamp: -1,
            offset: timestamp === -2 ? this.logStart[partitionIndex]! : this.logs[partitionIndex]!.length,
          })),
        })),
      }),
      Fetch: async (request) => {
        const hasNews = () =>
          request.topics.some(({ partitions }) =>
            partitions.some(({ partition, fetchOffset }) => this.logs[partition]!.length !== fetchOffset),
          )
        if (!hasNews())
          await new Promise<void>((resolve) => {
            const timer = setTimeout(resolve, request.maxWaitMs)
            this.#waiting.push(() => {
              clearTimeout(timer)
              resolve()
            })
          })
        return {
          responses: request.topics.map(({ topic: name, partitions }) => ({
            topic: name,
            partitions: partitions.map(({ partition, fetchOffset }) => {
              const end = this.logs[partition]!.length
              const isOutside = fetchOffset > end || fetchOffset < this.logStart[partition]!
              return {
                partitionIndex: partition,
                errorCode: isOutside ? OFFSET_OUT_OF_RANGE : 0,
                highWatermark: end,
                lastStableOffset: end,
                records: isOutside ? null : this.batchFrom(partition, fetchOffset),
              }
            }),
          })),
        }
      },
    }
  }
}

/** Resolves when `condition` holds; looked at after every turn of the event loop. */
export async function until(condition: () => boolean, what: string): Promise<void> {
  const end = performance.now() + 10_000
  while (!condition()) {
    if (performance.now() > end) throw new Error(`waited too long until ${what}`)
    await new Promise((resolve) => setImmediate(resolve))
  }
}
