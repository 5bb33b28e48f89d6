/**
 * Stored records in the format of an old client (KIP-283): a little at once, more of it in a thread, for every record is taken apart
 * and put together again.
 */
import { downConvert, iterateAnyBatches, OverLimitError, type ReadLimits, RecordsError } from '@mq/protocol'
import type { Offload } from './ports.js'

export type DownConverted =
  /** Nothing whole was there: the cut batch has offset and size where the old formats have them, and the client sees that it is larger. */
  | { readonly kind: 'asStored' }
  | { readonly kind: 'converted'; readonly records: Uint8Array }
  | { readonly kind: 'refused'; readonly error: 'UNSUPPORTED_COMPRESSION_TYPE' | 'CORRUPT_MESSAGE' }

export interface DownConvertInput {
  /** Batches one after the other; the last one may be cut. */
  readonly stored: Uint8Array
  readonly toMagic: 0 | 1
  readonly fetchOffset: number
}

/** More is converted in a thread; what is compressed may give eight times as much. Measured: 2 to 6 ms. */
const MOST_BYTES_HERE = 64 << 10
const MOST_DECOMPRESSED_BYTES = 8 * MOST_BYTES_HERE

/**
 * Batch by batch, until as many bytes are converted as were read, so that a small read never becomes a huge answer. The first batch
 * is converted whole; of the last one as many messages are taken as fit.
 */
export function downConverted(input: DownConvertInput, offload: Pick<Offload, 'run'>): DownConverted | Promise<DownConverted> {
  if (input.stored.length <= MOST_BYTES_HERE) {
    try {
      return convert(input, { maxOutputBytes: MOST_DECOMPRESSED_BYTES })
    } catch (error) {
      if (!(error instanceof OverLimitError)) throw error
    }
  }
  return offload.run('downConvert', input)
}

/** @throws OverLimitError when a limit is given and reached */
export function convert({ stored, toMagic, fetchOffset }: DownConvertInput, limits?: ReadLimits): DownConverted {
  const bytes = Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength)
  const parts: Buffer[] = []
  let left = bytes.length
  let whole = 0
  try {
    for (const batch of iterateAnyBatches(bytes)) {
      whole++
      const part = downConvert(batch.slice(), toMagic, fetchOffset, limits)
      // A compressed batch comes whole. If compaction took its end away, it may hold nothing that the client has not had.
      if (!hasOffset(part, fetchOffset)) continue
      const taken = parts.length === 0 ? part.length : wholeMessages(part, left)
      if (taken > 0) parts.push(part.subarray(0, taken))
      left -= taken
      if (taken < part.length) break
    }
  } catch (error) {
    if (!(error instanceof RecordsError) || (limits !== undefined && error instanceof OverLimitError)) throw error
    // What stands before a batch that this client cannot have is still its own.
    if (parts.length === 0) {
      const isCodec = error.error === 'UNSUPPORTED_COMPRESSION_TYPE'
      return { kind: 'refused', error: isCodec ? 'UNSUPPORTED_COMPRESSION_TYPE' : 'CORRUPT_MESSAGE' }
    }
  }
  return whole === 0 ? { kind: 'asStored' } : { kind: 'converted', records: Buffer.concat(parts) }
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
