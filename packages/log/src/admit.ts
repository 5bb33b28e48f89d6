/**
 * Decides what becomes of records that are to be appended: checked and given offsets on a leader, checked for sound bytes and
 * rising offsets on a follower, then held against the producers' state.
 */
import { iterateBatches, RECORD_BATCH, type RecordBatch, RecordsError } from '@mq/protocol'
import type { AppendOptions } from './append-queue.js'
import { MOST_DECOMPRESSED_BYTES, validateShort } from './long-records.js'
import { type Refused, refused } from './outcomes.js'
import { producerBatch } from './producer-batch.js'
import type { ProducerBatch } from './producer-entry.js'
import type { Duplicate, ProducerStates } from './producer-state.js'
import type { TopicConfig } from './topic-config.js'
import { type Validated, type ValidateOptions, validate } from './validate.js'

/** Sound records with their offsets, ready to be written. */
export interface Admitted {
  readonly kind: 'admitted'
  readonly bytes: Buffer
  readonly batches: readonly RecordBatch[]
  /** Of the batches that have a producer id. */
  readonly ofProducers: readonly ProducerBatch[]
  readonly firstOffset: number
  readonly lastOffset: number
  readonly maxTimestamp: number
  readonly logAppendTime: number
}

export interface AdmitState {
  readonly config: TopicConfig
  readonly nextOffset: number
  readonly now: number
  readonly producers: ProducerStates
}

/** @param checked what became of records that are long, once they were looked at */
export function admit(
  records: Buffer,
  options: AppendOptions,
  state: AdmitState,
  checked?: Validated | Refused,
): Admitted | Duplicate | Refused | 'long' {
  const admitted = options.origin === 'replication' ? copyOfLeader(records, state) : fromLeader(records, options, state, checked)
  if (admitted === 'long' || admitted.kind === 'refused') return admitted
  if (admitted.bytes.length > state.config['segment.bytes']) {
    const limit = state.config['segment.bytes']
    return refused('RECORD_LIST_TOO_LARGE', `records of ${admitted.bytes.length} bytes, segment.bytes is ${limit}`)
  }
  for (const batch of admitted.ofProducers) {
    const verdict = state.producers.check(batch, options.origin)
    if (verdict !== null) return verdict
  }
  return admitted
}

/** How a leader checks. */
export function validateOptions(
  { origin, leaderEpoch }: AppendOptions,
  state: Omit<AdmitState, 'producers'>,
  maxDecompressedBytes?: number,
): ValidateOptions {
  const { config, now, nextOffset: firstOffset } = state
  return { origin: origin === 'coordinator' ? origin : 'client', leaderEpoch, firstOffset, now, config, maxDecompressedBytes }
}

function fromLeader(
  records: Buffer,
  options: AppendOptions,
  state: AdmitState,
  checked: Validated | Refused | undefined,
): Admitted | Refused | 'long' {
  const { nextOffset: firstOffset } = state
  // A coordinator's records are its own, and short.
  const validated =
    checked ??
    (options.origin === 'coordinator'
      ? validate(records, validateOptions(options, state))
      : validateShort(records, validateOptions(options, state, MOST_DECOMPRESSED_BYTES)))
  if (validated === 'long' || validated.kind === 'refused') return validated
  const { batch, maxTimestamp, logAppendTime } = validated
  const lastOffset = firstOffset + validated.lastOffset - validated.firstOffset
  if (checked !== undefined) RECORD_BATCH.baseOffset.set(batch.bytes, batch.at, lastOffset - batch.lastOffsetDelta)
  const ofProducer = producerBatch(batch)
  return {
    kind: 'admitted',
    bytes: batch.slice(),
    batches: [batch],
    ofProducers: ofProducer === null ? [] : [ofProducer],
    firstOffset,
    lastOffset,
    maxTimestamp,
    logAppendTime,
  }
}

/** Bytes stay as the leader wrote them; what is cut off at the end is left out. */
function copyOfLeader(records: Buffer, { nextOffset }: AdmitState): Admitted | Refused {
  const batches: RecordBatch[] = []
  let sizeInBytes = 0
  let next = nextOffset
  let maxTimestamp = -1
  try {
    for (const batch of iterateBatches(records)) {
      if (!batch.crcIsValid())
        return refused('CORRUPT_MESSAGE', `the CRC of the batch at offset ${batch.baseOffset} does not match`)
      if (batch.baseOffset < next) return refused('INVALID_RECORD', `offset ${batch.baseOffset} where ${next} or more must come`)
      batches.push(batch)
      sizeInBytes += batch.sizeInBytes
      next = batch.nextOffset
      maxTimestamp = Math.max(maxTimestamp, batch.maxTimestamp)
    }
  } catch (error) {
    if (error instanceof RecordsError) return refused(error.error, error.message)
    throw error
  }
  if (batches.length === 0) return refused('INVALID_RECORD', 'there is no whole record batch')
  return {
    kind: 'admitted',
    bytes: records.subarray(0, sizeInBytes),
    batches,
    ofProducers: batches.map(producerBatch).filter((batch) => batch !== null),
    firstOffset: batches[0]!.baseOffset,
    lastOffset: next - 1,
    maxTimestamp,
    logAppendTime: -1,
  }
}
