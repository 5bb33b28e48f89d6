/** Whether the version of a fetch can read the records as they are stored. */
import type { Read } from '@mq/log'
import type { PartitionConfig } from '@mq/replica'
import type { WantedPartition } from './fetch-sessions.js'

export type Converted =
  | { readonly kind: 'asStored' }
  | { readonly kind: 'converted'; readonly records: Buffer }
  | { readonly kind: 'refused'; readonly error: 'UNSUPPORTED_COMPRESSION_TYPE' | 'UNSUPPORTED_VERSION' }

const AS_STORED: Converted = { kind: 'asStored' }

export function convertedFor(version: number, _read: Read, _wanted: WantedPartition, config: PartitionConfig): Converted {
  // Before v10 clients may not know zstd (KIP-110): a topic that is stored with it has nothing for them.
  if (version < 10 && config['compression.type'] === 'zstd') return { kind: 'refused', error: 'UNSUPPORTED_COMPRESSION_TYPE' }
  return AS_STORED
}
