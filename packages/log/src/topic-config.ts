/**
 * The configs of one topic that its log obeys, by their documented names, with Kafka's defaults.
 */
import { type TopicConfigValues, topicValuesOf, valuesOf } from '@mq/protocol'
import { LOG_CONFIG } from './config.js'
import { COMPACTION_CONFIG } from './config-compaction.js'

const ROWS = { ...LOG_CONFIG, ...COMPACTION_CONFIG } as const

type Values = TopicConfigValues<typeof ROWS>

/** Times in milliseconds, sizes in bytes. Values of 2^53 and more mean: never, or without limit. */
export interface TopicConfig extends Omit<Values, 'cleanup.policy' | 'compression.type' | 'message.timestamp.type'> {
  readonly 'cleanup.policy': readonly ('compact' | 'delete')[]
  readonly 'compression.type': 'producer' | 'uncompressed' | 'gzip' | 'snappy' | 'lz4' | 'zstd'
  readonly 'message.timestamp.type': 'CreateTime' | 'LogAppendTime'
}

/** Kafka 3.9's defaults. The rows of the table allow no other words than the type has. */
export const DEFAULT_TOPIC_CONFIG = topicValuesOf(ROWS, valuesOf(ROWS)) as Values as TopicConfig
