/** The requests that several clients make, each with its answer as the asker wants it. */
import { errorByCode } from '@mq/protocol'
import { type Link, LinkLost } from './link.js'
import { type ReadRecord, recordsIn } from './records.js'

/** An answer with an error that may pass: tried again like a lost connection, after a while. */
export class NotNow extends LinkLost {}

export const nameOfError = (code: number): string => (code === 0 ? 'NONE' : errorByCode(code))

export interface Fetched {
  readonly error: string
  readonly records: readonly ReadRecord[]
  readonly highWatermark: number
}

export async function fetchFrom(
  link: Link,
  from: { readonly topic: string; readonly partition: number; readonly offset: number },
  { maxWaitMs, maxBytes = 1 << 20 }: { readonly maxWaitMs: number; readonly maxBytes?: number },
): Promise<Fetched> {
  const partitions = [{ partition: from.partition, fetchOffset: from.offset, partitionMaxBytes: maxBytes }]
  const answer = await link.ask('Fetch', 12, { maxWaitMs, minBytes: 1, maxBytes, topics: [{ topic: from.topic, partitions }] })
  const got = answer.responses[0]?.partitions[0]
  if (got === undefined) return { error: nameOfError(answer.errorCode), records: [], highWatermark: -1 }
  return {
    error: nameOfError(got.errorCode),
    records: recordsIn(got.records, from.offset),
    highWatermark: got.highWatermark,
  }
}

export interface PartitionEnd {
  readonly error: string
  readonly offset: number
  readonly leaderEpoch: number
}

/** The end of the log as a consumer sees it. */
export async function endOf(link: Link, topic: string, partition: number): Promise<PartitionEnd> {
  const partitions = [{ partitionIndex: partition, timestamp: -1 }]
  const answer = await link.ask('ListOffsets', 7, { replicaId: -1, topics: [{ name: topic, partitions }] })
  const { errorCode, offset, leaderEpoch } = answer.topics[0]!.partitions[0]!
  return { error: nameOfError(errorCode), offset, leaderEpoch }
}

/** All of a partition, from its start to its end. */
export async function readWhole(link: Link, topic: string, partition: number, end: number): Promise<ReadRecord[]> {
  const all: ReadRecord[] = []
  let offset = 0
  while (offset < end) {
    const { error, records } = await fetchFrom(link, { topic, partition, offset }, { maxWaitMs: 0 })
    if (error !== 'NONE') throw new Error(`${topic}-${partition} offset ${offset} of ${end} cannot be read: ${error}`)
    if (records.length === 0) break
    all.push(...records)
    offset = records.at(-1)!.offset + 1
  }
  return all
}
