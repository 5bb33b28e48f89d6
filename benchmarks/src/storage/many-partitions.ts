/** A log directory of many partitions with three segments each, made by copying one that our log wrote. */

import { copyFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DEFAULT_TOPIC_CONFIG, LogDirectories, nodeEnvironment } from '@mq/log'
import { BatchBuilder } from '@mq/protocol'

export const SEGMENTS = 3
const BATCHES_A_SEGMENT = 4
const VALUE_BYTES = 1000

export async function makePartitions(dir: string, count: number): Promise<void> {
  const directories = await LogDirectories.open({
    ...nodeEnvironment,
    dirs: [dir],
    brokerId: 1,
    clusterId: 'bench',
    topicConfig: () => DEFAULT_TOPIC_CONFIG,
  })
  const log = await directories.create({ topic: 't', partition: 0 }, null, DEFAULT_TOPIC_CONFIG)
  for (let segment = 0; segment < SEGMENTS; segment++) {
    if (segment > 0) await log.roll()
    for (let at = 0; at < BATCHES_A_SEGMENT; at++) await log.append(smallBatch(), { origin: 'client', leaderEpoch: 0 })
  }
  const end = log.logEndOffset
  await directories.close()
  const first = join(dir, 't-0')
  const files = readdirSync(first)
  for (let partition = 1; partition < count; partition++) {
    const folder = join(dir, `t-${partition}`)
    mkdirSync(folder)
    for (const file of files) copyFileSync(join(first, file), join(folder, file))
  }
  const rows = Array.from({ length: count }, (_, partition) => `t ${partition} ${end}`)
  for (const name of ['recovery-point-offset-checkpoint', 'replication-offset-checkpoint'])
    writeFileSync(join(dir, name), `0\n${count}\n${rows.join('\n')}\n`)
}

/** As after a kill: everything from the second segment on is scanned. */
export function makeUnclean(dir: string, count: number): void {
  rmSync(join(dir, '.kafka_cleanshutdown'), { force: true })
  const rows = Array.from({ length: count }, (_, partition) => `t ${partition} ${BATCHES_A_SEGMENT}`)
  writeFileSync(join(dir, 'recovery-point-offset-checkpoint'), `0\n${count}\n${rows.join('\n')}\n`)
}

export function smallBatch(): Buffer {
  const builder = new BatchBuilder({})
  builder.tryAppend({ timestamp: Date.now(), key: null, value: Buffer.alloc(VALUE_BYTES, 'x') })
  return builder.build()
}
