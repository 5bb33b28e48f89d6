/** What the log directories obey, by Kafka's names and with its defaults; times in milliseconds. */
import { type ConfigValues, valuesOf } from '@mq/protocol'
import { LOG_CONFIG } from './config.js'

/** Retention, flushes, checkpoints, loading and expiry of producers; the high watermark's checkpoint is a row of the replica. */
export type DirectoriesConfig = Pick<
  ConfigValues<typeof LOG_CONFIG>,
  | 'log.retention.check.interval.ms'
  | 'log.flush.scheduler.interval.ms'
  | 'log.flush.offset.checkpoint.interval.ms'
  | 'log.flush.start.offset.checkpoint.interval.ms'
  | 'log.initial.task.delay.ms'
  | 'num.recovery.threads.per.data.dir'
  | 'producer.id.expiration.ms'
  | 'producer.id.expiration.check.interval.ms'
> & { readonly 'replica.high.watermark.checkpoint.interval.ms': number }

export const DEFAULT_DIRECTORIES_CONFIG: DirectoriesConfig = {
  ...valuesOf(LOG_CONFIG),
  'replica.high.watermark.checkpoint.interval.ms': 5_000,
}
