/**
 * The configs of one topic that its log obeys, by their documented names, with Kafka's defaults.
 */

/** Times in milliseconds, sizes in bytes. Values of 2^53 and more mean: never, or without limit. */
export interface TopicConfig {
  readonly 'cleanup.policy': readonly ('compact' | 'delete')[]
  readonly 'compression.type': 'producer' | 'uncompressed' | 'gzip' | 'snappy' | 'lz4' | 'zstd'
  readonly 'compression.gzip.level': number
  readonly 'compression.lz4.level': number
  readonly 'compression.zstd.level': number
  readonly 'delete.retention.ms': number
  readonly 'file.delete.delay.ms': number
  readonly 'flush.messages': number
  readonly 'flush.ms': number
  readonly 'index.interval.bytes': number
  readonly 'max.compaction.lag.ms': number
  readonly 'max.message.bytes': number
  readonly 'message.timestamp.after.max.ms': number
  readonly 'message.timestamp.before.max.ms': number
  readonly 'message.timestamp.type': 'CreateTime' | 'LogAppendTime'
  readonly 'min.cleanable.dirty.ratio': number
  readonly 'min.compaction.lag.ms': number
  readonly preallocate: boolean
  readonly 'retention.bytes': number
  readonly 'retention.ms': number
  readonly 'segment.bytes': number
  readonly 'segment.index.bytes': number
  readonly 'segment.jitter.ms': number
  readonly 'segment.ms': number
}

const NEVER = 2 ** 63

/** Kafka 3.9's defaults. */
export const DEFAULT_TOPIC_CONFIG: TopicConfig = {
  'cleanup.policy': ['delete'],
  'compression.type': 'producer',
  'compression.gzip.level': -1,
  'compression.lz4.level': 9,
  'compression.zstd.level': 3,
  'delete.retention.ms': 86_400_000,
  'file.delete.delay.ms': 60_000,
  'flush.messages': NEVER,
  'flush.ms': NEVER,
  'index.interval.bytes': 4096,
  'max.compaction.lag.ms': NEVER,
  'max.message.bytes': 1_048_588,
  'message.timestamp.after.max.ms': NEVER,
  'message.timestamp.before.max.ms': NEVER,
  'message.timestamp.type': 'CreateTime',
  'min.cleanable.dirty.ratio': 0.5,
  'min.compaction.lag.ms': 0,
  preallocate: false,
  'retention.bytes': -1,
  'retention.ms': 604_800_000,
  'segment.bytes': 1_073_741_824,
  'segment.index.bytes': 10_485_760,
  'segment.jitter.ms': 0,
  'segment.ms': 604_800_000,
}
