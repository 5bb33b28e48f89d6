/**
 * What a leader does with records before they are appended: checks them as Kafka does, gives them offsets, the leader epoch and,
 * where the topic says so, the time of the append. Pure: it changes the given bytes in place, or builds a new batch when the
 * format or the compression of the topic asks for another one.
 */
import * as protocol from '@mq/protocol'
import { type ReadLimits, type RecordBatch, type RecordCursor, RecordsError } from '@mq/protocol'
import { convertMessageSet, recompress } from './convert.js'
import { type AppendOrigin, type RecordError, type Refused, refused } from './outcomes.js'
import type { TopicConfig } from './topic-config.js'

export interface ValidateOptions {
  /** Followers do not come here: they copy what the leader checked. */
  readonly origin: Exclude<AppendOrigin, 'replication'>
  readonly leaderEpoch: number
  /** What the first record gets. */
  readonly firstOffset: number
  /** Wall clock, milliseconds. */
  readonly now: number
  readonly config: TopicConfig
  /** Most bytes that compressed records may give; default 64 MiB. */
  readonly maxDecompressedBytes?: number | undefined
}

export interface Validated {
  readonly kind: 'validated'
  readonly batch: RecordBatch
  readonly firstOffset: number
  readonly lastOffset: number
  readonly maxTimestamp: number
  /** Milliseconds; -1 when the records keep their own times. */
  readonly logAppendTime: number
}

/** Bound once: each use through the package's door is a look-up in a large table, and together these took a tenth of an append. */
const { batchAt, NO_TIMESTAMP, RECORD_BATCH, RecordBatch: Batch } = protocol

const LOG_APPEND_TIME_BIT = 0x08
/** The attribute bits that have a meaning: a header that is written anew has no others. */
const KNOWN_ATTRIBUTES = 0x7f
const HIGHEST_CODEC = 4
/** Values from here on mean: no limit. */
const NO_LIMIT = 2 ** 53
/** More wrong records than this are not listed one by one. */
const MOST_RECORD_ERRORS = 1000

export function validate(records: Buffer, options: ValidateOptions): Validated | Refused {
  try {
    return checked(records, options)
  } catch (error) {
    if (error instanceof RecordsError) return refused(error.error, error.message)
    throw error
  }
}

/**
 * The same, for who asks why bytes are not sound.
 * @throws RecordsError before anything was changed
 */
export function checked(records: Buffer, options: ValidateOptions): Validated | Refused {
  const extent = batchAt(records, 0)
  if (extent === null || extent.sizeInBytes > records.length) return refused('INVALID_RECORD', 'there is no whole record batch')
  return extent.magic === 2 ? validateBatch(records, extent.sizeInBytes, options) : convertMessageSet(records, options)
}

/** What may be decompressed. */
export const limitsOf = ({ maxDecompressedBytes }: ValidateOptions): ReadLimits =>
  maxDecompressedBytes === undefined ? {} : { maxOutputBytes: maxDecompressedBytes }

function validateBatch(records: Buffer, sizeInBytes: number, options: ValidateOptions): Validated | Refused {
  const { origin, config } = options
  if (sizeInBytes < records.length) {
    const next = batchAt(records, sizeInBytes)
    if (next !== null && next.sizeInBytes <= records.length - sizeInBytes) {
      return refused('INVALID_RECORD', 'more than one record batch')
    }
  }
  const batch = new Batch(records)
  if (origin === 'client' && batch.baseOffset !== 0) return refused('INVALID_RECORD', `base offset ${batch.baseOffset}, not 0`)
  const tooLarge = sizeProblem(batch, config)
  if (tooLarge !== null) return tooLarge
  if (!batch.crcIsValid()) return refused('CORRUPT_MESSAGE', 'the CRC does not match')
  if (batch.codec > HIGHEST_CODEC) return refused('UNSUPPORTED_COMPRESSION_TYPE', `compression codec ${batch.codec}`)
  if (origin === 'client') {
    const problem = clientProblem(batch)
    if (problem !== null) return refused('INVALID_RECORD', problem)
  }
  const walked = walk(batch, options)
  if ('kind' in walked) return walked
  const keepsItsForm = targetCodec(config, batch.codec) === batch.codec && (batch.codec === 0 || walked.offsetsInOrder)
  return keepsItsForm || (batch.codec === 0 && batch.isControl)
    ? assignInPlace(batch, walked, options)
    : recompress(batch, options)
}

export function sizeProblem(batch: { readonly sizeInBytes: number }, config: TopicConfig): Refused | null {
  if (batch.sizeInBytes <= config['max.message.bytes']) return null
  return refused('MESSAGE_TOO_LARGE', `batch of ${batch.sizeInBytes} bytes, max.message.bytes is ${config['max.message.bytes']}`)
}

/** What a client may not do, though the bytes are sound. */
function clientProblem(batch: RecordBatch): string | null {
  const { recordCount, lastOffsetDelta } = batch
  if (lastOffsetDelta < 0) return `last offset delta ${lastOffsetDelta}`
  if (recordCount <= 0) return `record count ${recordCount}`
  if (lastOffsetDelta + 1 !== recordCount) return `${recordCount} records over ${lastOffsetDelta + 1} offsets`
  if (batch.isControl) return 'clients may not write control records'
  // Ids come from blocks that begin at 0: one that a number cannot hold is nobody's, and could not be told from its neighbours.
  if (!Number.isSafeInteger(batch.producerId)) return `producer id ${batch.producerId}`
  if (batch.hasProducerId && batch.baseSequence < 0) return `sequence ${batch.baseSequence} with producer id ${batch.producerId}`
  return null
}

/** The codec that batches of this topic are stored with. */
export function targetCodec(config: TopicConfig, source: number): number {
  const wanted = config['compression.type']
  return wanted === 'producer' ? source : ['uncompressed', 'gzip', 'snappy', 'lz4', 'zstd'].indexOf(wanted)
}

interface Walked {
  readonly recordCount: number
  readonly maxTimestamp: number | bigint
  /** Whether record n has offset n: what a compressed batch must have to be kept. */
  readonly offsetsInOrder: boolean
}

/** Looks at every record once, without making objects. */
function walk(batch: RecordBatch, options: ValidateOptions): Walked | Refused {
  const fromLogAppendTime = batch.timestampType === 'LogAppendTime'
  const rules = mayBreakRules(options.config, fromLogAppendTime) ? recordRules(options, fromLogAppendTime) : null
  return (rules === null ? walkTogether(batch) : null) ?? walkOneByOne(batch, options, rules)
}

/** Null where the records have to be looked at one by one. */
function walkTogether(batch: RecordBatch): Walked | null {
  const survey = batch.survey()
  if (survey === null) return null
  const { recordCount, largestTimestampDelta, offsetsInOrder } = survey
  const timestamp = batch.baseTimestamp + largestTimestampDelta
  if (!Number.isSafeInteger(timestamp)) return null
  return { recordCount, maxTimestamp: Math.max(NO_TIMESTAMP, timestamp), offsetsInOrder }
}

function walkOneByOne(
  batch: RecordBatch,
  options: ValidateOptions,
  rules: ReturnType<typeof recordRules> | null,
): Walked | Refused {
  const fromLogAppendTime = batch.timestampType === 'LogAppendTime'
  const cursor = batch.cursor(limitsOf(options))
  const appendTime = fromLogAppendTime ? batch.maxTimestamp : null
  const base = batch.baseTimestamp
  let maxTimestamp: number | bigint = NO_TIMESTAMP
  let offsetsInOrder = true
  let index = 0
  while (cursor.next()) {
    const timestamp = appendTime ?? base + cursor.timestampDelta
    if (timestamp > maxTimestamp) maxTimestamp = Number.isSafeInteger(timestamp) ? timestamp : exactTimestamp(batch, cursor)
    if (cursor.offsetDelta !== index) offsetsInOrder = false
    if (rules !== null) rules.check(index, cursor.keyLength >= 0, timestamp)
    index++
  }
  return rules?.verdict() ?? { recordCount: index, maxTimestamp, offsetsInOrder }
}

/** Java adds timestamps as int64, which wrap around. */
function exactTimestamp(batch: RecordBatch, cursor: RecordCursor): bigint {
  if (batch.timestampType === 'LogAppendTime') return BigInt(RECORD_BATCH.maxTimestamp.exact(batch.bytes, batch.at))
  const base = BigInt(RECORD_BATCH.baseTimestamp.exact(batch.bytes, batch.at))
  return BigInt.asIntN(64, base + BigInt(cursor.exactTimestampDelta()))
}

/** False when no record can break a rule: most topics have none, and their records are not asked. */
function mayBreakRules(config: TopicConfig, fromLogAppendTime: boolean): boolean {
  if (fromLogAppendTime || config['cleanup.policy'].includes('compact')) return true
  if (config['message.timestamp.type'] !== 'CreateTime') return false
  return config['message.timestamp.before.max.ms'] < NO_LIMIT || config['message.timestamp.after.max.ms'] < NO_LIMIT
}

/** The rules that may refuse single records (KIP-467): keys on compacted topics, times too far off. */
export function recordRules(options: ValidateOptions, fromLogAppendTime: boolean) {
  const { config, now } = options
  const needsKey = config['cleanup.policy'].includes('compact')
  const before = config['message.timestamp.before.max.ms']
  const after = config['message.timestamp.after.max.ms']
  const createTime = config['message.timestamp.type'] === 'CreateTime'
  const limited = createTime && (before < NO_LIMIT || after < NO_LIMIT)
  const errors: RecordError[] = []
  let wrong = 0
  let wrongTimes = 0
  const add = (batchIndex: number, message: string): void => {
    wrong++
    if (errors.length < MOST_RECORD_ERRORS) errors.push({ batchIndex, message })
  }
  return {
    check(index: number, hasKey: boolean, timestamp: number): void {
      if (needsKey && !hasKey) {
        add(index, 'a compacted topic takes no record without a key')
      } else if (createTime && timestamp !== NO_TIMESTAMP) {
        const age = now - timestamp
        if (!limited || ((before >= NO_LIMIT || age <= before) && (after >= NO_LIMIT || -age <= after))) return
        wrongTimes++
        add(index, `timestamp ${timestamp} is not within ${now - before} and ${now + after}`)
      } else if (fromLogAppendTime) {
        wrongTimes++
        add(index, 'a producer may not set the timestamp type to LogAppendTime')
      }
    },
    verdict(): Refused | null {
      if (wrong === 0) return null
      if (wrongTimes > 0) return refused('INVALID_TIMESTAMP', 'one or more records have an invalid timestamp', errors)
      const first = errors.slice(0, 3).map(({ batchIndex, message }) => `record ${batchIndex}: ${message}`)
      return refused('INVALID_RECORD', `${wrong} records were refused, the first: ${first.join('; ')}`, errors)
    },
  }
}

/** Base offset and leader epoch lie outside the CRC; a largest timestamp that the records contradict is put right with a new one. */
function assignInPlace(batch: RecordBatch, walked: Walked, options: ValidateOptions): Validated {
  const { bytes, at } = batch
  const logAppendTime = options.config['message.timestamp.type'] === 'LogAppendTime' ? options.now : NO_TIMESTAMP
  const lastOffset = options.firstOffset + walked.recordCount - 1
  RECORD_BATCH.baseOffset.set(bytes, at, lastOffset - batch.lastOffsetDelta)
  RECORD_BATCH.partitionLeaderEpoch.set(bytes, at, options.leaderEpoch)
  const maxTimestamp = logAppendTime === NO_TIMESTAMP ? walked.maxTimestamp : logAppendTime
  const timeBit = logAppendTime === NO_TIMESTAMP ? 0 : LOG_APPEND_TIME_BIT
  const sameTime = isSame(RECORD_BATCH.maxTimestamp.exact(bytes, at), maxTimestamp)
  if (!sameTime || (batch.attributes & LOG_APPEND_TIME_BIT) !== timeBit) {
    RECORD_BATCH.attributes.set(bytes, at, (batch.attributes & KNOWN_ATTRIBUTES & ~LOG_APPEND_TIME_BIT) | timeBit)
    RECORD_BATCH.maxTimestamp.set(bytes, at, maxTimestamp)
    RECORD_BATCH.crc.set(bytes, at, batch.computeCrc())
  }
  return {
    kind: 'validated',
    batch,
    firstOffset: options.firstOffset,
    lastOffset,
    maxTimestamp: Number(maxTimestamp),
    logAppendTime,
  }
}

const isSame = (a: number | bigint, b: number | bigint): boolean => (typeof a === typeof b ? a === b : BigInt(a) === BigInt(b))
