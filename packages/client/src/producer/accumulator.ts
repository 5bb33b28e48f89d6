/**
 * Pure: what waits to be sent. Records are encoded at send() into their partition's open batch; whoever has the connections asks for what is ready.
 *
 *   send() ─▶ queue of a partition: │ in flight │ waiting batch │ open batch ◀─ next records │
 *
 * One batch of a partition is on the wire at a time, so order holds over retries, with idempotence or without; while it is there, later
 * sends gather in the next batch. Invariant: a batch once sent keeps its bytes, so a retry repeats its sequence numbers exactly. One that
 * the broker finds too large is split, and its parts carry the numbers on.
 */

import { addToSequence, BatchBuilder, RECORD_BATCH, RecordBatch } from '@mq/protocol'
import { type Codec, compressBatch, replacedCodec } from '../codecs.js'
import type { RecordInput } from './messages.js'
import { type Stamp, stampBatch } from './sequences.js'

/** Batches with the same choices may share a request. */
export interface Delivery {
  /** -1: all in-sync replicas, 1: the leader, 0: nobody answers. */
  readonly acks: number
  readonly timeoutMs: number
  readonly codec: number
}

/** Where a batch ended up. Offsets are -1 when nobody answered. */
export interface Placed {
  readonly baseOffset: number
  readonly logAppendTimeMs: number
  readonly logStartOffset: number
}

/** By the number that a batch's attributes hold. */
const CODEC_NAMES = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const

interface Waiter {
  /** Index in the batch of this waiter's first record there. */
  readonly at: number
  settle(placed: Placed | Error, at: number): void
  /** One batch more has records of this waiter. */
  alsoIn(): void
}

export interface Batch {
  readonly topic: string
  readonly partition: number
  readonly delivery: Delivery
  readonly recordCount: number
  readonly sizeInBytes: number
  /** How often it was tried. */
  attempts: number
  /** Set once it has taken sequence numbers. */
  readonly stamp: Stamp | undefined
}

class OpenBatch implements Batch {
  readonly builder: BatchBuilder
  /** A codec that the program put in the place of ours. */
  readonly codec: Codec | undefined
  /** In the order of their records. */
  readonly waiters: Waiter[] = []
  attempts = 0
  bytes: Buffer | undefined
  stamp: Stamp | undefined
  /** For the program's own codec: the batch as the codec gets it, and what the codec made of it, before it is stamped. */
  plain: Buffer | undefined
  squeezed: Buffer | undefined
  constructor(
    readonly topic: string,
    readonly partition: number,
    readonly delivery: Delivery,
    maxBytes: number,
    expectedBytes: number,
  ) {
    this.codec = replacedCodec(delivery.codec)
    this.builder = new BatchBuilder({
      maxBytes,
      expectedBytes,
      codec: this.codec === undefined ? CODEC_NAMES[delivery.codec]! : 'none',
    })
  }
  get recordCount(): number {
    return this.builder.recordCount
  }
  get sizeInBytes(): number {
    return this.builder.sizeInBytes
  }
}

interface PartitionQueue {
  readonly topic: string
  readonly partition: number
  readonly batches: OpenBatch[]
  /** A batch of it is on the wire. */
  busy: boolean
  /** Not before this monotonic time, in ms (back-off). */
  notBefore: number
  /** Most bytes of a batch before compression: the accumulator's limit until the broker refuses a batch as too large. */
  batchBytes: number
}

export interface AccumulatorLimits {
  /** Most bytes of a batch before compression: below the broker's default limit of 1 MiB and its overhead. */
  readonly batchBytes: number
  /** Most bytes of one request. */
  readonly requestBytes: number
}

export const DEFAULT_LIMITS: AccumulatorLimits = { batchBytes: 1_000_000, requestBytes: 8_000_000 }

export class Accumulator {
  readonly #queues = new Map<string, PartitionQueue>()
  readonly #limits: AccumulatorLimits
  #sizeInBytes = 0

  constructor(limits: AccumulatorLimits = DEFAULT_LIMITS) {
    this.#limits = limits
  }

  /** Bytes that wait or are on the wire. */
  get sizeInBytes(): number {
    return this.#sizeInBytes
  }

  get isEmpty(): boolean {
    for (const queue of this.#queues.values()) if (queue.batches.length > 0) return false
    return true
  }

  /** Encodes the records, in order. Resolves with where the first of them is, once all of them are acknowledged. */
  append(topic: string, partition: number, delivery: Delivery, records: readonly RecordInput[]): Promise<Placed> {
    return new Promise((resolve, reject) => {
      const queue = this.#queueOf(topic, partition)
      let parts = 0
      let first: Placed | undefined
      let failure: Error | undefined
      const settle = (placed: Placed | Error, at: number): void => {
        parts--
        if (placed instanceof Error) failure ??= placed
        else first ??= placed.baseOffset < 0 ? placed : { ...placed, baseOffset: placed.baseOffset + at }
        if (parts > 0) return
        if (failure !== undefined) reject(failure)
        else resolve(first!)
      }
      let current: OpenBatch | undefined
      const expectedBytes = expectedSize(records)
      for (const record of records) {
        let batch = this.#openBatch(queue, delivery, expectedBytes)
        let before = batch.sizeInBytes
        if (!batch.builder.tryAppend(record)) {
          batch = this.#newBatch(queue, delivery, expectedBytes)
          before = batch.sizeInBytes
          batch.builder.tryAppend(record)
        }
        this.#sizeInBytes += batch.sizeInBytes - before
        if (batch !== current) {
          current = batch
          parts++
          batch.waiters.push({ at: batch.recordCount - 1, settle, alsoIn: () => parts++ })
        }
      }
      if (records.length === 0) resolve({ baseOffset: -1, logAppendTimeMs: -1, logStartOffset: -1 })
    })
  }

  #queueOf(topic: string, partition: number): PartitionQueue {
    const key = `${topic}\u0000${partition}`
    let queue = this.#queues.get(key)
    if (queue === undefined) {
      queue = { topic, partition, batches: [], busy: false, notBefore: 0, batchBytes: this.#limits.batchBytes }
      this.#queues.set(key, queue)
    }
    return queue
  }

  #openBatch(queue: PartitionQueue, delivery: Delivery, expectedBytes: number): OpenBatch {
    const last = queue.batches.at(-1)
    const open =
      last !== undefined &&
      last.bytes === undefined &&
      last.attempts === 0 &&
      last.delivery.acks === delivery.acks &&
      last.delivery.codec === delivery.codec &&
      last.delivery.timeoutMs === delivery.timeoutMs
    return open ? last : this.#newBatch(queue, delivery, expectedBytes)
  }

  #newBatch(queue: PartitionQueue, delivery: Delivery, expectedBytes: number): OpenBatch {
    const batch = new OpenBatch(queue.topic, queue.partition, delivery, queue.batchBytes, expectedBytes)
    queue.batches.push(batch)
    return batch
  }

  /**
   * Takes the first batch of every partition that may be sent now, gathered into requests per leader and delivery.
   * `leaderless` lists those that nobody can be sent to: they were tried as well.
   */
  ready(
    leaderOf: (topic: string, partition: number) => number | undefined,
    now: number,
  ): {
    requests: { leader: number; delivery: Delivery; batches: Batch[] }[]
    leaderless: Batch[]
    nextAt: number | undefined
  } {
    const requests: { leader: number; delivery: Delivery; batches: Batch[]; bytes: number }[] = []
    const leaderless: Batch[] = []
    let nextAt: number | undefined
    for (const queue of this.#queues.values()) {
      const batch = queue.batches[0]
      if (batch === undefined || queue.busy) continue
      if (queue.notBefore > now) {
        nextAt = Math.min(nextAt ?? queue.notBefore, queue.notBefore)
        continue
      }
      queue.busy = true
      batch.attempts++
      const leader = leaderOf(queue.topic, queue.partition)
      if (leader === undefined) {
        leaderless.push(batch)
        continue
      }
      const fitting = requests.find(
        (request) =>
          request.leader === leader &&
          request.delivery.acks === batch.delivery.acks &&
          request.delivery.timeoutMs === batch.delivery.timeoutMs &&
          request.bytes + batch.sizeInBytes <= this.#limits.requestBytes,
      )
      if (fitting === undefined) requests.push({ leader, delivery: batch.delivery, batches: [batch], bytes: batch.sizeInBytes })
      else {
        fitting.batches.push(batch)
        fitting.bytes += batch.sizeInBytes
      }
    }
    return { requests, leaderless, nextAt }
  }

  /** Compresses the batch with the program's own codec, if there is one; codecs of ours work in `bytesOf`. */
  async compressed(batch: Batch): Promise<void> {
    const open = batch as OpenBatch
    if (open.codec === undefined || open.squeezed !== undefined) return
    open.plain ??= open.builder.build()
    open.squeezed = await compressBatch(open.plain, open.delivery.codec, open.codec)
  }

  /** The batch's bytes, made on the first call, with the stamp (producer id, sequence) that `takeStamp` gives. */
  bytesOf(batch: Batch, takeStamp?: () => Stamp): Buffer {
    const open = batch as OpenBatch
    if (open.bytes === undefined) {
      open.stamp ??= takeStamp?.()
      open.bytes = open.squeezed ?? open.builder.build()
      if (open.stamp !== undefined) stampBatch(open.bytes, open.stamp)
    }
    return open.bytes
  }

  /**
   * The broker takes no batch as large as this one, which it has not stored: its records go on in smaller batches, each with the sequence
   * numbers that they have. Answers false for a single record, which cannot be split.
   */
  split(batch: Batch): boolean {
    const open = batch as OpenBatch
    const queue = this.#queueOf(batch.topic, batch.partition)
    if (open.recordCount < 2 || open.bytes === undefined || queue.batches[0] !== open) return false
    queue.busy = false
    queue.batchBytes = Math.ceil(open.sizeInBytes / 2)
    const parts = partsOf(open, queue.batchBytes)
    queue.batches.splice(0, 1, ...parts)
    this.#sizeInBytes -= open.sizeInBytes
    for (const { sizeInBytes } of parts) this.#sizeInBytes += sizeInBytes
    return true
  }

  /** The batch was acknowledged, or is given up: those who wait for it learn where it is, or why not. */
  settle(batch: Batch, placed: Placed | Error): void {
    const queue = this.#queueOf(batch.topic, batch.partition)
    queue.busy = false
    queue.notBefore = 0
    const open = batch as OpenBatch
    if (queue.batches[0] !== open) return
    queue.batches.shift()
    this.#sizeInBytes -= open.sizeInBytes
    for (const waiter of open.waiters) waiter.settle(placed, waiter.at)
  }

  /** The batch stays first in its queue and is tried again at `notBefore`. */
  postpone(batch: Batch, notBefore: number): void {
    const queue = this.#queueOf(batch.topic, batch.partition)
    queue.busy = false
    queue.notBefore = notBefore
  }

  /** Gives up what waits in leaderless partitions or everywhere (disconnect). */
  failAll(reason: Error, only?: (topic: string, partition: number) => boolean): void {
    for (const queue of this.#queues.values()) {
      if (only !== undefined && !only(queue.topic, queue.partition)) continue
      for (const batch of [...queue.batches]) this.settle(batch, reason)
    }
  }
}

/** The records of a batch in batches of at most `maxBytes`, each with the waiters of its records. */
function partsOf(whole: OpenBatch, maxBytes: number): OpenBatch[] {
  const { topic, partition, delivery, stamp } = whole
  const parts: OpenBatch[] = []
  let firstAt = 0
  const begin = (): OpenBatch => {
    const part = new OpenBatch(topic, partition, delivery, maxBytes, 0)
    part.attempts = whole.attempts
    if (stamp !== undefined) part.stamp = { ...stamp, baseSequence: addToSequence(stamp.baseSequence, firstAt) }
    parts.push(part)
    return part
  }
  let part = begin()
  for (const { exactTimestamp, key, value, headers } of new RecordBatch(whole.plain ?? whole.bytes!).records()) {
    const record = { timestamp: exactTimestamp, key, value, headers }
    if (part.builder.tryAppend(record)) continue
    firstAt += part.recordCount
    part = begin()
    part.builder.tryAppend(record)
  }
  shareWaiters(whole.waiters, parts)
  return parts
}

/** Each waiter waits for every part that has records of it. */
function shareWaiters(waiters: readonly Waiter[], parts: readonly OpenBatch[]): void {
  waiters.forEach((waiter, index) => {
    const end = waiters[index + 1]?.at ?? Number.POSITIVE_INFINITY
    let partAt = 0
    let isFirst = true
    for (const part of parts) {
      const partEnd = partAt + part.recordCount
      if (waiter.at < partEnd && end > partAt) {
        part.waiters.push({ ...waiter, at: Math.max(0, waiter.at - partAt) })
        if (!isFirst) waiter.alsoIn()
        isFirst = false
      }
      partAt = partEnd
    }
  })
}

/** Bytes of a record besides key and value, mostly. */
const RECORD_OVERHEAD = 16

/** About how many bytes the records of one call take: for many, memory is taken once instead of in growing steps. */
function expectedSize(records: readonly RecordInput[]): number {
  if (records.length < 8) return 0
  let size = RECORD_BATCH.size
  for (const { key, value } of records)
    size += RECORD_OVERHEAD + (key === null ? 0 : key.length) + (value === null ? 0 : value.length)
  return size
}
