/**
 * What an old client gets instead of the records as they are stored: message sets of its own format, or a word that it cannot
 * read them. The only place where a fetch copies records.
 */
import type { Read } from '@mq/log'
import { downConvert, iterateAnyBatches, RecordBatch, RecordsError } from '@mq/protocol'
import type { PartitionConfig } from '@mq/replica'
import type { WantedPartition } from './fetch-sessions.js'

export type Converted =
  | { readonly kind: 'asStored' }
  | { readonly kind: 'converted'; readonly records: Buffer }
  | { readonly kind: 'refused'; readonly error: 'UNSUPPORTED_COMPRESSION_TYPE' | 'UNSUPPORTED_VERSION' | 'CORRUPT_MESSAGE' }

const AS_STORED: Converted = { kind: 'asStored' }

/** v0 and v1 read magic 0, v2 and v3 magic 1; from v4 on everything is read as it is stored. */
export function convertedFor(version: number, read: Read, wanted: WantedPartition, config: PartitionConfig): Converted {
  // Before v10 clients may not know zstd (KIP-110): a topic that is stored with it has nothing for them.
  if (version < 10 && config['compression.type'] === 'zstd') return { kind: 'refused', error: 'UNSUPPORTED_COMPRESSION_TYPE' }
  if (version >= 4) return AS_STORED
  if (!config['message.downconversion.enable']) return { kind: 'refused', error: 'UNSUPPORTED_VERSION' }
  if (read.sizeInBytes === 0) return AS_STORED
  return convert(Buffer.concat(read.slices), version <= 1 ? 0 : 1, wanted.fetchOffset)
}

/**
 * Batch by batch, until as many bytes are converted as were read (KIP-283), so that a small read never becomes a huge answer.
 * The first batch is converted whole; of the last one as many messages are taken as fit.
 */
function convert(stored: Buffer, toMagic: 0 | 1, fetchOffset: number): Converted {
  const parts: Buffer[] = []
  let left = stored.length
  let whole = 0
  try {
    for (const batch of iterateAnyBatches(stored)) {
      whole++
      const part = downConvert(batch.slice(), toMagic, fetchOffset)
      // A compressed batch comes whole. If compaction took its end away, it may hold nothing that the client has not had.
      if (!hasOffset(part, fetchOffset)) continue
      const taken = parts.length === 0 ? part.length : wholeMessages(part, left)
      if (taken > 0) parts.push(part.subarray(0, taken))
      left -= taken
      if (taken < part.length) break
    }
  } catch (error) {
    if (!(error instanceof RecordsError)) throw error
    // What stands before a batch that this client cannot have is still its own.
    if (parts.length === 0) {
      const isCodec = error.error === 'UNSUPPORTED_COMPRESSION_TYPE'
      return { kind: 'refused', error: isCodec ? 'UNSUPPORTED_COMPRESSION_TYPE' : 'CORRUPT_MESSAGE' }
    }
  }
  // Nothing whole fits: the cut batch has offset and size where the old formats have them, and the client sees that it is larger.
  return whole === 0 ? AS_STORED : { kind: 'converted', records: Buffer.concat(parts) }
}

/** How many bytes of the messages fit, in whole messages. */
function wholeMessages(messages: Buffer, limit: number): number {
  if (messages.length <= limit) return messages.length
  let fits = 0
  for (const message of iterateAnyBatches(messages)) {
    const end = fits + message.slice().length
    if (end > limit) break
    fits = end
  }
  return fits
}

function hasOffset(messages: Buffer, atLeast: number): boolean {
  for (const message of iterateAnyBatches(messages)) if (message.nextOffset > atLeast) return true
  return false
}

/**
 * Old clients see no control batches, and by them alone they would never get on: the offset behind the bytes if there is
 * nothing else in them, else null.
 */
export function offsetBehindControl(slices: readonly Buffer[]): number | null {
  let behind: number | null = null
  for (const batch of iterateAnyBatches(slices.length === 1 ? slices[0]! : Buffer.concat(slices))) {
    if (!(batch instanceof RecordBatch) || !batch.isControl) return null
    behind = batch.nextOffset
  }
  return behind
}
