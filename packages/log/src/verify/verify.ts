/**
 * Verifies a log directory, the folder of a partition, or one segment, without changing anything: every batch, every index entry
 * against the data, every snapshot, checkpoint and id; and says of each fault what a start would do about it.
 */

import { posix } from 'node:path'
import { formatTopicPartition } from '@mq/protocol'
import { absolutePath } from '../absolute-path.js'
import { HIGH_WATERMARKS, LOG_START_OFFSETS, type PartitionOffsets, RECOVERY_POINTS, readOffsets } from '../checkpoint.js'
import { CLEANER_OFFSETS } from '../cleaner-offsets.js'
import { CLEAN_SHUTDOWN, META_PROPERTIES, readMetaProperties } from '../directory-files.js'
import { LOCK, lockHolder } from '../directory-lock.js'
import { partitionFolder, segmentFile } from '../folder-names.js'
import { nodeEnvironment } from '../node-environment.js'
import { type Disk, DiskError, type Processes } from '../ports.js'
import { DEFAULT_TOPIC_CONFIG } from '../topic-config.js'
import { readIfThere } from '../whole-file.js'
import { AT_START, type Finding, type Report, type Verified } from './finding.js'
import { type PartitionResult, verifyPartition } from './partition.js'

export interface VerifyOptions {
  /** Called for each finding, in the order of the files. */
  readonly report?: Report
  /** Called now and then with the bytes of data files that were looked at, and how many there are. */
  readonly progress?: (doneBytes: number, allBytes: number) => void
  /** What the topics have for `index.interval.bytes`; default Kafka's 4096. Only tells which stretches without an entry are too long. */
  readonly indexIntervalBytes?: number
  /** Aborted, it ends with the signal's reason before the next partition. */
  readonly signal?: AbortSignal
  readonly environment?: { readonly disk: Disk; readonly processes: Processes }
}

/** What `path` is, by what lies there. */
export type VerifyTarget =
  | { readonly kind: 'directory'; readonly path: string }
  | { readonly kind: 'partition'; readonly path: string }
  | { readonly kind: 'segment'; readonly path: string; readonly baseOffset: number }

/** Null when it is nothing that can be verified. @throws DiskError when there is nothing */
export function verifyTarget(disk: Disk, path: string): VerifyTarget | null {
  const at = absolutePath(path)
  const stat = disk.statNow(at)
  if (stat === null) throw new DiskError('ENOENT', 'open', path, 'no such file or directory')
  if (stat.kind === 'file') {
    const file = segmentFile(posix.basename(at))
    return file?.kind === 'log' && file.suffix === '' ? { kind: 'segment', path: at, baseOffset: file.baseOffset } : null
  }
  return partitionFolder(posix.basename(at)) === null ? { kind: 'directory', path: at } : { kind: 'partition', path: at }
}

/**
 * @param path a log directory, the folder of a partition (`orders-0`), or the data file of a segment (`00000000000000000000.log`)
 * @throws DiskError when something cannot be read; TypeError when it is none of these
 */
export async function verifyLogs(path: string, options: VerifyOptions = {}): Promise<Verified> {
  const disk = (options.environment ?? nodeEnvironment).disk
  const target = verifyTarget(disk, path)
  if (target === null) throw new TypeError(`${path} is neither a directory nor the data file of a segment`)
  return new Verification(target, options).run()
}

const CHECKPOINTS = [
  [RECOVERY_POINTS, 'problem', 'takes 0 for every partition: after a stop that was not clean all segments are scanned'],
  [HIGH_WATERMARKS, 'problem', 'takes 0 for every partition, until the replicas agree again'],
  [LOG_START_OFFSETS, 'problem', 'begins each log at its first segment: deleted records that are still there come back'],
  [CLEANER_OFFSETS, 'note', 'cleans compacted topics from their start again'],
] as const

/** How often a partition is looked at whose files its owner changes each time. */
const MOST_LOOKS = 20

type CheckpointName = (typeof CHECKPOINTS)[number][0]

class Verification {
  readonly #disk: Disk
  readonly #directory: string
  #problems = 0
  #notes = 0
  #done = 0
  #all = 0

  constructor(
    readonly target: VerifyTarget,
    readonly options: VerifyOptions,
  ) {
    this.#disk = (options.environment ?? nodeEnvironment).disk
    const up = target.kind === 'directory' ? 0 : target.kind === 'partition' ? 1 : 2
    this.#directory = [target.path, posix.dirname(target.path), posix.dirname(posix.dirname(target.path))][up]!
  }

  #report(finding: Finding): void {
    if (finding.level === 'problem') this.#problems++
    else this.#notes++
    this.options.report?.(finding)
  }

  async run(): Promise<Verified> {
    const { target } = this
    const processes = (this.options.environment ?? nodeEnvironment).processes
    const holder = lockHolder(this.#disk, processes, this.#directory)
    const wasClean = this.#disk.statNow(posix.join(this.#directory, CLEAN_SHUTDOWN)) !== null
    if (target.kind === 'directory') this.#aboutDirectory(holder, wasClean)
    // A clean stop writes them; before it a broker may not have come to it yet.
    const mayBeMissing = holder !== null || !wasClean
    const checkpoints = new Map(
      CHECKPOINTS.map(([name, level, atStart]) => [name, this.#checkpoint(name, mayBeMissing ? 'note' : level, atStart)]),
    )
    const folders = target.kind === 'directory' ? this.#partitionFolders() : [this.#folderOf(target)]
    this.#all = folders.reduce((sum, folder) => sum + this.#dataBytes(folder), 0)
    const sum = { partitions: 0, segments: 0, batches: 0, sizeInBytes: 0 }
    const results = new Map<string, PartitionResult>()
    for (const folder of folders) {
      this.options.signal?.throwIfAborted()
      const look = (report: Report) => this.#partition(folder, checkpoints, { wasClean, isInUse: holder !== null, report })
      const result = holder === null ? await look((finding) => this.#report(finding)) : await this.#whileItStands(folder, look)
      results.set(posix.basename(folder), result)
      sum.partitions++
      sum.segments += result.segments
      sum.batches += result.batches
      sum.sizeInBytes += result.sizeInBytes
    }
    if (target.kind === 'directory') this.#across(results, checkpoints, holder !== null)
    return { ...sum, problems: this.#problems, notes: this.#notes }
  }

  #folderOf(target: VerifyTarget): string {
    return target.kind === 'segment' ? posix.dirname(target.path) : target.path
  }

  #dataBytes(folder: string): number {
    const { target } = this
    if (target.kind === 'segment') return this.#disk.statNow(target.path)?.sizeInBytes ?? 0
    return this.#disk
      .listNow(folder)
      .filter(({ name }) => segmentFile(name)?.kind === 'log' && segmentFile(name)?.suffix === '')
      .reduce((sum, { name }) => sum + (this.#disk.statNow(posix.join(folder, name))?.sizeInBytes ?? 0), 0)
  }

  /** What its owner rolls, deletes or cleans meanwhile looks damaged: then the partition is looked at again. */
  async #whileItStands(folder: string, look: (report: Report) => Promise<PartitionResult>): Promise<PartitionResult> {
    for (let looks = 1; ; looks++) {
      const found: Finding[] = []
      const done = this.#done
      const names = this.#namesIn(folder)
      const hasMoved = () => looks < MOST_LOOKS && this.#namesIn(folder) !== names
      try {
        const result = await look((finding) => found.push(finding))
        if (found.every(({ level }) => level === 'note') || !hasMoved()) {
          for (const finding of found) this.#report(finding)
          return result
        }
      } catch (error) {
        if (!(error instanceof DiskError && error.code === 'ENOENT') || !hasMoved()) throw error
      }
      this.#done = done
    }
  }

  #namesIn(folder: string): string {
    return this.#disk
      .listNow(folder)
      .map(({ name }) => name)
      .join('/')
  }

  #partition(
    folder: string,
    checkpoints: ReadonlyMap<CheckpointName, PartitionOffsets>,
    stop: { readonly wasClean: boolean; readonly isInUse: boolean; readonly report: Report },
  ): Promise<PartitionResult> {
    const named = partitionFolder(posix.basename(folder))
    const of = (name: CheckpointName): number =>
      named === null ? 0 : (checkpoints.get(name)?.get(formatTopicPartition(named.partition)) ?? 0)
    return verifyPartition({
      disk: this.#disk,
      folder,
      only: this.target.kind === 'segment' ? this.target.baseOffset : null,
      ...stop,
      recoveryPoint: of(RECOVERY_POINTS),
      logStartOffset: of(LOG_START_OFFSETS),
      indexIntervalBytes: this.options.indexIntervalBytes ?? DEFAULT_TOPIC_CONFIG['index.interval.bytes'],
      progress: (bytes) => {
        this.#done += bytes
        this.options.progress?.(this.#done, this.#all)
      },
    })
  }

  #aboutDirectory(holder: string | null, wasClean: boolean): void {
    if (holder !== null) this.#report({ level: 'note', file: LOCK, problem: `in use by ${holder}`, atStart: 'refuses to start' })
    else if (!wasClean)
      this.#report({
        level: 'note',
        file: CLEAN_SHUTDOWN,
        problem: 'the last stop was not clean',
        atStart: 'scans what is not known to be on the disk, from the recovery points on',
      })
    const bytes = readIfThere(this.#disk, posix.join(this.#directory, META_PROPERTIES))
    const read = bytes === null ? null : readMetaProperties(bytes)
    if (read === null)
      this.#report({ level: 'note', file: META_PROPERTIES, problem: 'the directory belongs to nobody', atStart: 'writes it' })
    else if ('problem' in read)
      this.#report({ level: 'problem', file: META_PROPERTIES, problem: read.problem, atStart: 'refuses to start' })
  }

  /** Empty when it is missing or cannot be read. */
  #checkpoint(name: CheckpointName, level: Finding['level'], atStart: string): PartitionOffsets {
    const bytes = readIfThere(this.#disk, posix.join(this.#directory, name))
    const read = bytes === null ? null : readOffsets(bytes)
    if (read !== null && !('problem' in read)) return read
    if (this.target.kind === 'directory')
      this.#report(
        read === null
          ? { level, file: name, problem: 'there is no such checkpoint', atStart }
          : { level: 'problem', file: name, problem: read.problem, atStart },
      )
    return new Map()
  }

  #partitionFolders(): string[] {
    const folders: string[] = []
    for (const { name, kind } of this.#disk.listNow(this.#directory)) {
      const folder = kind === 'directory' ? partitionFolder(name) : null
      if (folder?.kind === 'partition') folders.push(posix.join(this.#directory, name))
      else if (folder?.kind === 'delete')
        this.#report({ level: 'note', file: name, problem: 'a partition that waits to be removed', atStart: AT_START.removes })
      else if (folder !== null)
        this.#report({ level: 'note', file: name, problem: `a partition set aside (${folder.kind})`, atStart: AT_START.nothing })
      else if (kind === 'directory')
        this.#report({ level: 'note', file: name, problem: 'no folder of a partition by its name', atStart: AT_START.nothing })
    }
    return folders
  }

  /** What checkpoints say of partitions, and partitions of one topic of each other. */
  #across(
    results: ReadonlyMap<string, PartitionResult>,
    checkpoints: ReadonlyMap<CheckpointName, PartitionOffsets>,
    isInUse: boolean,
  ): void {
    for (const [name, rows] of checkpoints) {
      for (const [partition, offset] of rows) {
        const result = results.get(partition)
        if (result === undefined || offset <= result.logEndOffset || isInUse || name === LOG_START_OFFSETS) continue
        this.#report({
          level: 'problem',
          file: name,
          offset,
          problem: `${partition} has ${offset}, its log ends at ${result.logEndOffset}`,
          atStart: "takes the log's end for it",
        })
      }
    }
    const ids = new Map<string, { readonly topicId: string; readonly name: string }>()
    for (const [name, { topicId }] of results) {
      if (topicId === null) continue
      const { topic } = partitionFolder(name)!.partition
      const first = ids.get(topic)
      if (first === undefined) ids.set(topic, { topicId, name })
      else if (first.topicId !== topicId)
        this.#report({
          level: 'problem',
          file: posix.join(name, 'partition.metadata'),
          problem: `topic id ${topicId}, ${first.name} has ${first.topicId}`,
          atStart: 'takes one of the two for a partition of a topic that was deleted',
        })
    }
  }
}
