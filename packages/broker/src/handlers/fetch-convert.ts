/**
 * What an old client gets instead of the records as they are stored: message sets of its own format, or a word that it cannot
 * read them. The only place where a fetch copies records.
 */
import { type DownConverted, downConverted, type Offload, type Read } from '@mq/log'
import { iterateAnyBatches, RecordBatch } from '@mq/protocol'
import type { PartitionConfig } from '@mq/replica'
import type { WantedPartition } from './fetch-sessions.js'

export type Converted = DownConverted | { readonly kind: 'refused'; readonly error: 'UNSUPPORTED_VERSION' }

export const AS_STORED: Converted = { kind: 'asStored' }

/** What decides besides the records. */
export interface ConvertedFor {
  readonly version: number
  readonly wanted: WantedPartition
  readonly config: PartitionConfig
  readonly offload: Pick<Offload, 'run'>
}

/** v0 and v1 read magic 0, v2 and v3 magic 1; from v4 on everything is read as it is stored. A promise where there is much to convert. */
export function convertedFor(read: Read, { version, wanted, config, offload }: ConvertedFor): Converted | Promise<Converted> {
  // Before v10 clients may not know zstd (KIP-110): a topic that is stored with it has nothing for them.
  if (version < 10 && config['compression.type'] === 'zstd') return { kind: 'refused', error: 'UNSUPPORTED_COMPRESSION_TYPE' }
  if (version >= 4) return AS_STORED
  if (!config['message.downconversion.enable']) return { kind: 'refused', error: 'UNSUPPORTED_VERSION' }
  if (read.sizeInBytes === 0) return AS_STORED
  const stored = Buffer.concat(read.slices)
  return downConverted({ stored, toMagic: version <= 1 ? 0 : 1, fetchOffset: wanted.fetchOffset }, offload)
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
