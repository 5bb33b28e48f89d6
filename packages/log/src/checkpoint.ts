/**
 * The small text files of a log directory: offsets per partition and leader epochs per partition. Each is written whole under
 * another name, made durable, and renamed: a reader finds the old file or the new one, never a part.
 *
 *   0                      version
 *   2                      how many lines follow
 *   topic partition offset     (recovery-point-, replication-, log-start-offset-checkpoint)
 *   epoch start-offset         (leader-epoch-checkpoint)
 */
import { posix } from 'node:path'
import type { EpochEntry } from './leader-epochs.js'
import type { Disk } from './ports.js'
import { writeAllNow } from './write-all.js'

export const RECOVERY_POINTS = 'recovery-point-offset-checkpoint'
export const HIGH_WATERMARKS = 'replication-offset-checkpoint'
export const LOG_START_OFFSETS = 'log-start-offset-checkpoint'
export const LEADER_EPOCHS = 'leader-epoch-checkpoint'

/** By `topic-partition`. */
export type PartitionOffsets = ReadonlyMap<string, number>

export interface Problem {
  readonly problem: string
}

/** Makes a folder and its missing parents; resolves when their names are on the disk. */
export async function makeDirectory(disk: Disk, path: string): Promise<void> {
  const made: string[] = []
  for (let at = posix.normalize(path); disk.statNow(at) === null; at = posix.dirname(at)) made.push(at)
  disk.makeDirectoryNow(path)
  for (const folder of made) await disk.syncDirectory(posix.dirname(folder))
}

/** Replaces a small file at once: temporary file, sync, rename, sync of the folder. */
export async function writeAtomically(disk: Disk, path: string, bytes: Buffer): Promise<void> {
  const temporary = `${path}.tmp`
  disk.removeNow(temporary)
  const file = disk.openNow(temporary, 'create')
  try {
    writeAllNow(file, [bytes], 0)
    await file.dataSync()
  } finally {
    file.closeNow()
  }
  disk.renameNow(temporary, path)
  await disk.syncDirectory(posix.dirname(path))
}

const lines = (rows: readonly string[]): Buffer => Buffer.from(`0\n${rows.length}\n${rows.map((row) => `${row}\n`).join('')}`)

export function offsetsToText(offsets: Iterable<readonly [topic: string, partition: number, offset: number]>): Buffer {
  return lines([...offsets].map(([topic, partition, offset]) => `${topic} ${partition} ${offset}`))
}

export function epochsToText(entries: readonly EpochEntry[]): Buffer {
  return lines(entries.map(({ epoch, startOffset }) => `${epoch} ${startOffset}`))
}

/** The fields of each line, or what is wrong with the file. */
function parse(bytes: Buffer, fieldCount: number): string[][] | Problem {
  // A Java broker makes its checkpoints empty and fills them half a minute later.
  if (bytes.length === 0) return []
  const text = bytes.toString('utf8')
  if (!text.endsWith('\n')) return { problem: 'no end of line at its end' }
  const [version, count, ...rows] = text.slice(0, -1).split('\n')
  if (version !== '0') return { problem: `unknown version ${version}` }
  if (count === undefined || !/^\d+$/.test(count) || Number(count) !== rows.length) {
    return { problem: `says ${count} entries and has ${rows.length}` }
  }
  const fields = rows.map((row) => row.split(' '))
  const wrong = fields.findIndex((row) => row.length !== fieldCount || !row.slice(-2).every((field) => isCount(field)))
  return wrong < 0 ? fields : { problem: `malformed line ${rows[wrong]}` }
}

const isCount = (text: string): boolean => /^\d{1,19}$/.test(text) && Number.isSafeInteger(Number(text))

export function readOffsets(bytes: Buffer): PartitionOffsets | Problem {
  const rows = parse(bytes, 3)
  if ('problem' in rows) return rows
  return new Map(rows.map(([topic, partition, offset]) => [`${topic}-${Number(partition)}`, Number(offset)]))
}

export function readEpochs(bytes: Buffer): EpochEntry[] | Problem {
  const rows = parse(bytes, 2)
  if ('problem' in rows) return rows
  return rows.map(([epoch, startOffset]) => ({ epoch: Number(epoch), startOffset: Number(startOffset) }))
}
