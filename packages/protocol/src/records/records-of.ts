/** The decompressed records of a batch, within a limit. */
import { RecordsError } from './errors.js'

/** What the records of one batch may grow to when decompressed, unless the caller says otherwise. */
export const MAX_DECOMPRESSED_BYTES = 64 * 1024 * 1024

export function recordsOf(codec: number, _compressed: Buffer, _limits: { maxOutputBytes?: number }): Buffer {
  throw new RecordsError('UNSUPPORTED_COMPRESSION_TYPE', `compression codec ${codec}`)
}
