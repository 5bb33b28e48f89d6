/** Opening log directories, and looking into them: for the tests of directories and of faults. */
import assert from 'node:assert/strict'
import { iterateBatches } from '@mq/protocol'
import { ALONE, type Harness } from './log.test.support.js'
import { type BrokerLogDirectories, LogDirectories, type LogDirectoriesOptions } from './log-directories.js'
import { LogDirectoryError } from './log-directory.js'
import type { Disk } from './ports.js'
import { type ManualTime, seededRandom } from './testing.js'
import { DEFAULT_TOPIC_CONFIG } from './topic-config.js'

export const SEGMENT = '00000000000000000000'

export function open(disk: Disk, time: ManualTime, options: Partial<LogDirectoriesOptions> = {}): Promise<BrokerLogDirectories> {
  return LogDirectories.open({
    dirs: ['/data'],
    disk,
    clock: time,
    timers: time,
    random: seededRandom(5),
    processes: ALONE,
    brokerId: 1,
    clusterId: 'cluster',
    topicConfig: () => DEFAULT_TOPIC_CONFIG,
    ...options,
  })
}

export function put(disk: Disk, path: string, text: string | Buffer): void {
  const file = disk.openNow(path, 'create')
  file.truncateNow(0)
  file.writevNow([Buffer.from(text)], 0)
  file.closeNow()
}

export const names = (disk: Disk, folder: string) => disk.listNow(folder).map(({ name }) => name)

export async function valuesOf(made: Harness): Promise<string[]> {
  const values: string[] = []
  for (let offset = made.log.logStartOffset; offset < made.log.logEndOffset; ) {
    const read = await made.log.read(offset, { maxBytes: 1 << 20, minOneMessage: true, upTo: 'logEnd' })
    assert.equal(read.kind, 'read', JSON.stringify(read))
    if (read.kind !== 'read') break
    for (const one of iterateBatches(Buffer.concat(read.slices))) {
      for (const record of one.records()) values.push(String(record.value))
      offset = one.nextOffset
    }
  }
  return values
}

export const reasonOf = async (opening: Promise<unknown>): Promise<string> => {
  try {
    await opening
    return 'opened'
  } catch (error) {
    assert.ok(error instanceof LogDirectoryError, String(error))
    return error.reason
  }
}
