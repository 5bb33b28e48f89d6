/**
 * What an old client gets instead of the records as they are stored: message sets of its own format, or a word that it cannot
 * read them. The only place where a fetch copies records.
 */
import type { Read } from '@mq/log'
import { downConvert, iterateAnyBatches, RecordsError } from '@mq/protocol'
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

/** Batch by batch, until as many bytes are converted as were read (KIP-283), so that a small read never becomes a huge answer. */
function convert(stored: Buffer, toMagic: 0 | 1, fetchOffset: number): Converted {
  const parts: Buffer[] = []
  let bytes = 0
  let whole = 0
  try {
    for (const batch of iterateAnyBatches(stored)) {
      whole++
      const part = downConvert(batch.slice(), toMagic, fetchOffset)
      if (part.length === 0) continue
      if (bytes > 0 && bytes + part.length > stored.length) break
      parts.push(part)
      bytes += part.length
    }
  } catch (error) {
    if (!(error instanceof RecordsError)) throw error
    // What stands before a batch that this client cannot have is still its own.
    if (bytes === 0) {
      const isCodec = error.error === 'UNSUPPORTED_COMPRESSION_TYPE'
      return { kind: 'refused', error: isCodec ? 'UNSUPPORTED_COMPRESSION_TYPE' : 'CORRUPT_MESSAGE' }
    }
  }
  // Nothing whole fits: the cut batch has offset and size where the old formats have them, and the client sees that it is larger.
  return whole === 0 ? AS_STORED : { kind: 'converted', records: Buffer.concat(parts) }
}
