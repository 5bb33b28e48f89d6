/** What the cleaner obeys, by Kafka's names and with its defaults; times in milliseconds, sizes in bytes. */
import { type ConfigValues, valuesOf } from '@mq/protocol'
import { COMPACTION_CONFIG } from './config-compaction.js'

export type CleanerConfig = Pick<
  ConfigValues<typeof COMPACTION_CONFIG>,
  | 'log.cleaner.enable'
  | 'log.cleaner.threads'
  | 'log.cleaner.backoff.ms'
  | 'log.cleaner.dedupe.buffer.size'
  | 'log.cleaner.io.buffer.load.factor'
  | 'log.cleaner.io.buffer.size'
  | 'log.cleaner.io.max.bytes.per.second'
>

export const DEFAULT_CLEANER_CONFIG: CleanerConfig = valuesOf(COMPACTION_CONFIG)
