/** What the log directories obey, by Kafka's names and with its defaults; times in milliseconds, sizes in bytes. */
export interface DirectoriesConfig {
  readonly 'log.retention.check.interval.ms': number
  readonly 'log.flush.scheduler.interval.ms': number
  readonly 'log.flush.offset.checkpoint.interval.ms': number
  readonly 'log.flush.start.offset.checkpoint.interval.ms': number
  readonly 'replica.high.watermark.checkpoint.interval.ms': number
  /** Before the first of these. */
  readonly 'log.initial.task.delay.ms': number
  /** Logs of one directory that are loaded at a time; at most two are. */
  readonly 'num.recovery.threads.per.data.dir': number
  readonly 'producer.id.expiration.ms': number
  readonly 'producer.id.expiration.check.interval.ms': number
}

export const DEFAULT_DIRECTORIES_CONFIG: DirectoriesConfig = {
  'log.retention.check.interval.ms': 300_000,
  'log.flush.scheduler.interval.ms': 2 ** 63,
  'log.flush.offset.checkpoint.interval.ms': 60_000,
  'log.flush.start.offset.checkpoint.interval.ms': 60_000,
  'replica.high.watermark.checkpoint.interval.ms': 5_000,
  'log.initial.task.delay.ms': 30_000,
  'num.recovery.threads.per.data.dir': 1,
  'producer.id.expiration.ms': 86_400_000,
  'producer.id.expiration.check.interval.ms': 600_000,
}
