/**
 * The producer state at an offset, as a file (`.snapshot`, named after the offset): what a restart begins with.
 *
 *   version int16 = 1 | CRC-32C uint32 of all that follows | count int32 | entries of 46 bytes
 *
 * Valid if and only if the version is 1, the size fits the count and the CRC is right; else it is dropped and the state is built
 * from an earlier snapshot, or from the log's start. Only the last of a producer's batches is kept.
 */
import { crc32c, fixed, layout, NO_SEQUENCE } from '@mq/protocol'
import { exactly, ProducerEntry } from './producer-entry.js'

const VERSION = 1
const HEADER = layout({
  version: fixed.int16, // 0
  crc: fixed.uint32, //    2
  count: fixed.int32, //   6
}) //                     10
const ENTRY = layout({
  producerId: fixed.int64, //             0
  producerEpoch: fixed.int16, //          8
  lastSequence: fixed.int32, //          10
  lastOffset: fixed.int64, //            14
  offsetDelta: fixed.int32, //           22
  timestamp: fixed.int64, //             26
  coordinatorEpoch: fixed.int32, //      34
  transactionFirstOffset: fixed.int64, // 38  -1: none is open
}) //                                    46

export function writeProducerSnapshot(entries: Iterable<ProducerEntry>): Buffer {
  const sorted = [...entries].sort((a, b) => a.producerId - b.producerId)
  const bytes = Buffer.alloc(HEADER.size + sorted.length * ENTRY.size)
  HEADER.version.set(bytes, 0, VERSION)
  HEADER.count.set(bytes, 0, sorted.length)
  for (const [number, entry] of sorted.entries()) {
    const at = HEADER.size + number * ENTRY.size
    const last = entry.lastBatch
    ENTRY.producerId.set(bytes, at, entry.producerId)
    ENTRY.producerEpoch.set(bytes, at, entry.producerEpoch)
    ENTRY.lastSequence.set(bytes, at, last?.lastSequence ?? NO_SEQUENCE)
    ENTRY.lastOffset.set(bytes, at, last?.lastOffset ?? -1)
    ENTRY.offsetDelta.set(bytes, at, last?.offsetDelta ?? 0)
    ENTRY.timestamp.set(bytes, at, entry.lastTimestamp)
    ENTRY.coordinatorEpoch.set(bytes, at, entry.coordinatorEpoch)
    ENTRY.transactionFirstOffset.set(bytes, at, entry.transactionFirstOffset)
  }
  HEADER.crc.set(bytes, 0, crc32c(bytes, HEADER.count.at))
  return bytes
}

/** The entries, or what is wrong with the file. */
export function readProducerSnapshot(bytes: Buffer): ProducerEntry[] | { readonly problem: string } {
  if (bytes.length < HEADER.size) return { problem: `${bytes.length} bytes` }
  if (HEADER.version.get(bytes, 0) !== VERSION) return { problem: `version ${HEADER.version.get(bytes, 0)}` }
  if (HEADER.crc.get(bytes, 0) !== crc32c(bytes, HEADER.count.at)) return { problem: 'CRC does not match' }
  const count = HEADER.count.get(bytes, 0)
  if (bytes.length !== HEADER.size + count * ENTRY.size) return { problem: `${bytes.length} bytes for ${count} entries` }
  const entries: ProducerEntry[] = []
  for (let at = HEADER.size; at < bytes.length; at += ENTRY.size) {
    const entry = new ProducerEntry(ENTRY.producerId.get(bytes, at))
    entry.producerEpoch = ENTRY.producerEpoch.get(bytes, at)
    entry.coordinatorEpoch = ENTRY.coordinatorEpoch.get(bytes, at)
    entry.transactionFirstOffset = Math.max(-1, ENTRY.transactionFirstOffset.get(bytes, at))
    const timestamp = exactly(ENTRY.timestamp.get(bytes, at))
    const lastOffset = ENTRY.lastOffset.get(bytes, at)
    if (lastOffset >= 0) {
      const lastSequence = ENTRY.lastSequence.get(bytes, at)
      entry.remember({ lastSequence, lastOffset, offsetDelta: ENTRY.offsetDelta.get(bytes, at), timestamp })
    }
    entry.lastTimestamp = timestamp
    entries.push(entry)
  }
  return entries
}
