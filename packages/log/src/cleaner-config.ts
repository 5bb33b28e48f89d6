/** What the cleaner obeys, by Kafka's names and with its defaults; times in milliseconds, sizes in bytes. */
import { type ConfigValues, valuesOf } from '@mq/protocol'
import { LOG_CONFIG } from './config.js'
import { COMPACTION_CONFIG } from './config-compaction.js'

const ROWS = { ...LOG_CONFIG, ...COMPACTION_CONFIG } as const

export type CleanerConfig = Pick<
  ConfigValues<typeof ROWS>,
  | 'log.cleaner.enable'
  | 'log.cleaner.threads'
  | 'log.cleaner.backoff.ms'
  | 'log.cleaner.dedupe.buffer.size'
  | 'log.cleaner.io.buffer.load.factor'
  | 'log.cleaner.io.buffer.size'
  | 'log.cleaner.io.max.bytes.per.second'
  | 'message.max.bytes'
>

export const DEFAULT_CLEANER_CONFIG: CleanerConfig = valuesOf(ROWS)
