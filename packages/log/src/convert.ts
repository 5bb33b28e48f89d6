/**
 * Records that are stored in another form than they came in: with the compression that the topic asks for, or in the current
 * format instead of an old one (magic 0 and 1). They become one new batch with consecutive offsets.
 */
import {
  BatchBuilder,
  type CodecName,
  codecName,
  iterateAnyBatches,
  LegacyBatch,
  NO_TIMESTAMP,
  type Record,
  RecordBatch,
  type RecordView,
} from '@mq/protocol'
import { type Refused, refused } from './outcomes.js'
import type { TopicConfig } from './topic-config.js'
import { limitsOf, recordRules, sizeProblem, targetCodec, type Validated, type ValidateOptions } from './validate.js'

/** The same records with another codec, or with offsets in order; producer and transaction stay what they were. */
export function recompress(batch: RecordBatch, options: ValidateOptions): Validated | Refused {
  const producer = {
    producerId: batch.producerId,
    producerEpoch: batch.producerEpoch,
    baseSequence: batch.baseSequence,
    transactional: batch.isTransactional,
  }
  return rebuild(
    batch.records(limitsOf(options)) as Iterable<RecordView>,
    targetCodec(options.config, batch.codec),
    producer,
    options,
  )
}

/** A message set of an old client (magic 0 or 1): all its records become one batch of the current format. */
export function convertMessageSet(bytes: Buffer, options: ValidateOptions): Validated | Refused {
  const messages: LegacyBatch[] = []
  let source = 0
  for (const message of iterateAnyBatches(bytes)) {
    if (!(message instanceof LegacyBatch) || (messages.length > 0 && message.magic !== messages[0]!.magic)) {
      return refused('INVALID_RECORD', 'messages of more than one format')
    }
    const tooLarge = sizeProblem(message, options.config)
    if (tooLarge !== null) return tooLarge
    if (!message.crcIsValid()) return refused('CORRUPT_MESSAGE', 'the CRC does not match')
    if (message.codec !== 0) source = message.codec
    messages.push(message)
  }
  if (source !== 0 && messages.length > 1) return refused('INVALID_RECORD', 'more than one compressed message')
  let verdict: Refused | null = null
  // One by one into the new batch: a compressed message may hold millions.
  function* checked(): Generator<RecordView> {
    for (const message of messages) {
      const rules = recordRules(options, message.timestampType === 'LogAppendTime')
      let index = 0
      for (const record of message.records(limitsOf(options))) {
        rules.check(index++, record.key !== null, record.timestamp)
        yield record
      }
      verdict ??= rules.verdict()
    }
  }
  const rebuilt = rebuild(checked(), targetCodec(options.config, source), {}, options)
  return verdict ?? rebuilt
}

interface Producer {
  readonly producerId?: number
  readonly producerEpoch?: number
  readonly baseSequence?: number
  readonly transactional?: boolean
}

export function rebuild(
  records: Iterable<Record | RecordView>,
  codec: number,
  producer: Producer,
  options: ValidateOptions,
): Validated | Refused {
  const { config, firstOffset, leaderEpoch } = options
  const logAppendTime = config['message.timestamp.type'] === 'LogAppendTime' ? options.now : NO_TIMESTAMP
  const name = codecName(codec)!
  const level = levelOf(config, name)
  const builder = new BatchBuilder({
    ...producer,
    codec: name,
    ...(level === undefined ? {} : { level }),
    baseOffset: firstOffset,
    leaderEpoch,
    ...(logAppendTime === NO_TIMESTAMP ? {} : { timestampType: 'LogAppendTime' as const, logAppendTime }),
  })
  for (const record of records) {
    const timestamp = 'exactTimestamp' in record ? record.exactTimestamp : record.timestamp
    builder.tryAppend({ timestamp, key: record.key, value: record.value, headers: record.headers })
  }
  if (builder.recordCount === 0) return refused('INVALID_RECORD', 'there are no records')
  const batch = new RecordBatch(builder.build())
  const tooLarge = sizeProblem(batch, config)
  if (tooLarge !== null) return tooLarge
  return { kind: 'validated', batch, firstOffset, lastOffset: batch.lastOffset, maxTimestamp: batch.maxTimestamp, logAppendTime }
}

function levelOf(config: TopicConfig, codec: CodecName): number | undefined {
  switch (codec) {
    case 'gzip':
      return config['compression.gzip.level']
    case 'lz4':
      return config['compression.lz4.level']
    case 'zstd':
      return config['compression.zstd.level']
    default:
      return undefined
  }
}
