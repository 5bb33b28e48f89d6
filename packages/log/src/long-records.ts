/**
 * Which records take long to check: they are checked in a thread. What tells is how much there is to decompress, to compress or to
 * convert. Compressed records do not say how much they give: they are tried with a limit, and those that reach it are long.
 */
import { OverLimitError, RECORD_BATCH, RecordsError } from '@mq/protocol'
import { type Refused, refused } from './outcomes.js'
import { storedSizeAt } from './stored-batch.js'
import type { TopicConfig } from './topic-config.js'
import { checked, targetCodec, type Validated, type ValidateOptions } from './validate.js'

/**
 * Measured: what gives 512 KiB is decompressed and walked in 1 to 8 ms (gzip, and records of 100 bytes, take longest); its hand-over
 * costs the loop half a millisecond.
 */
export const MOST_DECOMPRESSED_BYTES = 512 << 10
/** Compressed records of this size are not tried: most would reach the limit. */
const MOST_COMPRESSED_BYTES = 128 << 10
/** To be compressed, or rebuilt from an old format: ten times as slow. */
const MOST_REBUILT_BYTES = 64 << 10

const CODEC_BITS = 7

/** As `validate` with the limit of short records, but for records that are long: nothing is done to them. */
export function validateShort(records: Buffer, options: ValidateOptions): Validated | Refused | 'long' {
  if (areLong(records, options.config)) return 'long'
  try {
    return checked(records, options)
  } catch (error) {
    if (error instanceof OverLimitError) return 'long'
    if (error instanceof RecordsError) return refused(error.error, error.message)
    throw error
  }
}

/** What the header alone tells; false for bytes that are no batch. */
export function areLong(records: Buffer, config: TopicConfig): boolean {
  if (records.length <= MOST_REBUILT_BYTES) return false
  const sizeInBytes = storedSizeAt(records, 0)
  if (sizeInBytes === null || sizeInBytes > records.length) return false
  if (RECORD_BATCH.magic.get(records, 0) !== 2) return true
  const codec = RECORD_BATCH.attributes.get(records, 0) & CODEC_BITS
  const isRebuilt = targetCodec(config, codec) !== codec
  if (codec === 0 && !isRebuilt) return false
  // One that is too large is refused before anything is decompressed.
  return sizeInBytes > (isRebuilt ? MOST_REBUILT_BYTES : MOST_COMPRESSED_BYTES) && sizeInBytes <= config['max.message.bytes']
}
