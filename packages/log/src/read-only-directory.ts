/** A whole log directory, looked into without touching it: see read-only-log.ts. */

import { posix } from 'node:path'
import { formatTopicPartition } from '@mq/protocol'
import { absolutePath } from './absolute-path.js'
import { CLEAN_SHUTDOWN, type MetaProperties } from './directory-files.js'
import { lockHolder } from './directory-lock.js'
import { partitionFolder } from './folder-names.js'
import type { LogPartition } from './log-api.js'
import { readDirectoryOwner } from './log-directory.js'
import { type DirectoryStats, directoryStatsOf } from './log-stats.js'
import { ReadOnlyLog, type ReadOnlyOptions, type ReadOnlyShare, shareOf } from './read-only-log.js'

/**
 * Opens every partition of a log directory read-only.
 * @throws LogDirectoryError when its meta.properties cannot be read; DiskError
 */
export async function openDirectoryReadOnly(directory: string, options: ReadOnlyOptions = {}): Promise<ReadOnlyDirectory> {
  const path = absolutePath(directory)
  const share = shareOf(options)
  const owner = readDirectoryOwner(share.disk, path)
  const logs = new Map<string, ReadOnlyLog>()
  try {
    for (const { name, kind } of share.disk.listNow(path)) {
      if (kind !== 'directory' || partitionFolder(name)?.kind !== 'partition') continue
      logs.set(name, await ReadOnlyLog.open(posix.join(path, name), share))
    }
  } catch (error) {
    for (const log of logs.values()) await log.close()
    throw error
  }
  return new ReadOnlyDirectory(path, owner, logs, share)
}

export class ReadOnlyDirectory {
  readonly #logs: ReadonlyMap<string, ReadOnlyLog>
  readonly #share: ReadOnlyShare

  constructor(
    readonly path: string,
    /** From its meta.properties; null without one. */
    readonly owner: MetaProperties | null,
    logs: ReadonlyMap<string, ReadOnlyLog>,
    share: ReadOnlyShare,
  ) {
    this.#logs = logs
    this.#share = share
  }

  /** The partitions that were there when it was opened, by name. */
  get logs(): ReadOnlyLog[] {
    return [...this.#logs.values()]
  }

  get(partition: LogPartition): ReadOnlyLog | undefined {
    return this.#logs.get(formatTopicPartition(partition))
  }

  /** Who uses the directory; null for nobody. */
  get inUseBy(): string | null {
    const { environment } = this.#share
    return lockHolder(environment.disk, environment.processes, this.path)
  }

  /** Whether it was stopped in order. False also while somebody uses it. */
  get wasCleanShutdown(): boolean {
    return this.#share.disk.statNow(posix.join(this.path, CLEAN_SHUTDOWN)) !== null
  }

  /** What its logs hold and cost together. */
  stats(): DirectoryStats {
    return directoryStatsOf(
      this.path,
      this.logs.map((log) => log.stats()),
    )
  }

  async close(): Promise<void> {
    for (const log of this.#logs.values()) await log.close()
  }
}
