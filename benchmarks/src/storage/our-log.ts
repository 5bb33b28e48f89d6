/** A log of ours in a new directory, as the measurements want it. */

import { rmSync } from 'node:fs'
import { DEFAULT_TOPIC_CONFIG, type Disk, LogDirectories, nodeEnvironment, type PartitionLog, type TopicConfig } from '@mq/log'

/** Less than all batches that are appended again and again: one must have left the cache before its bytes change. */
const TAIL_BYTES = 2 * 1024 * 1024

export interface OurLogs {
  readonly logs: readonly PartitionLog[]
  /** Takes the directory away, too. */
  close(): Promise<void>
}

export async function openLogs(
  dir: string,
  {
    partitions = 1,
    gathered = false,
    config = {},
    disk = nodeEnvironment.disk,
  }: { partitions?: number; gathered?: boolean; config?: Partial<TopicConfig>; disk?: Disk } = {},
): Promise<OurLogs> {
  const topicConfig = { ...DEFAULT_TOPIC_CONFIG, ...config }
  const directories = await LogDirectories.open({
    ...nodeEnvironment,
    disk,
    dirs: [dir],
    brokerId: 1,
    clusterId: 'bench',
    topicConfig: () => topicConfig,
    tailCacheBytes: TAIL_BYTES,
    ...(gathered ? { turn: { afterThisTurn: (run: () => void) => void setImmediate(run) } } : {}),
  })
  const logs: PartitionLog[] = []
  for (let partition = 0; partition < partitions; partition++)
    logs.push(await directories.create({ topic: 't', partition }, null, topicConfig))
  return {
    logs,
    async close() {
      await directories.abandon()
      rmSync(dir, { recursive: true })
    },
  }
}
