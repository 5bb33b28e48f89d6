/**
 * What the files of a log directory say beyond what a loaded log shows: the highest leader epoch of checkpoints and batch headers, and the
 * highest producer id of batches, snapshots and the transaction log. Reads only.
 */
import { type Disk, type DiskFile, LEADER_EPOCHS, partitionFolder, readEpochs, readProducerSnapshot, segmentFile } from '@mq/log'
import {
  batchAt,
  CompressionError,
  DecodeError,
  decodeVersioned,
  formatTopicPartition,
  RECORD_BATCH,
  RecordBatch,
  RecordsError,
  type TopicPartition,
  TransactionLogValue,
} from '@mq/protocol'

/** Both -1 when there is none. */
export interface Found {
  readonly leaderEpoch: number
  readonly producerId: number
}

const NOTHING: Found = { leaderEpoch: -1, producerId: -1 }

const highest = (a: Found, b: Found): Found => ({
  leaderEpoch: Math.max(a.leaderEpoch, b.leaderEpoch),
  producerId: Math.max(a.producerId, b.producerId),
})

/** Ids above it were made up by a client: blocks of 1000 never get there, and they must not use up the ids that are left. */
const REACHABLE_ID = 2 ** 52

const TRANSACTION_TOPIC = '__transaction_state'
const WINDOW_BYTES = 256 * 1024

/**
 * The latest epoch in each partition's leader-epoch-checkpoint, by `topic-index`: to be read before the logs are loaded, since loading
 * drops epochs that have no record (left), and the controller must not give these again.
 */
export function epochsInCheckpoints(disk: Disk, directories: readonly string[]): Map<string, number> {
  const epochs = new Map<string, number>()
  for (const directory of directories) {
    if (disk.statNow(directory) === null) continue
    for (const { name, kind } of disk.listNow(directory)) {
      const folder = kind === 'directory' ? partitionFolder(name) : null
      const path = `${directory}/${name}/${LEADER_EPOCHS}`
      if (folder?.kind !== 'partition' || disk.statNow(path) === null) continue
      const entries = readEpochs(disk.readFileNow(path))
      if ('problem' in entries) continue // the log says so when it is loaded
      const key = formatTopicPartition(folder.partition)
      epochs.set(key, Math.max(epochs.get(key) ?? -1, ...entries.map(({ epoch }) => epoch)))
    }
  }
  return epochs
}

/** Up to where a partition's batches are known: everything before needs no reading again. */
export interface ScanMark {
  /** The log end offset then, the base offset of the last segment, and its size in bytes. */
  readonly offset: number
  readonly segment: number
  readonly position: number
}

/** What the snapshots say, and the segments behind the mark. */
export async function scanPartition(
  disk: Disk,
  directory: string,
  partition: TopicPartition,
  mark: ScanMark | null,
): Promise<Found> {
  const folder = `${directory}/${formatTopicPartition(partition)}`
  const files = disk.listNow(folder).flatMap(({ name }) => {
    const file = segmentFile(name)
    return file === null || file.suffix !== '' ? [] : [{ ...file, path: `${folder}/${name}` }]
  })
  let found = NOTHING
  for (const { path } of files.filter(({ kind }) => kind === 'snapshot')) found = highest(found, ofSnapshot(disk, path))
  const detail = partition.topic === TRANSACTION_TOPIC ? 'values' : 'headers'
  for (const { path, baseOffset } of files.filter(({ kind }) => kind === 'log')) {
    if (mark !== null && baseOffset < mark.segment) continue
    found = highest(found, await scanSegment(disk, path, baseOffset === mark?.segment ? mark : null, detail))
  }
  return found
}

function ofSnapshot(disk: Disk, path: string): Found {
  const entries = readProducerSnapshot(disk.readFileNow(path))
  if ('problem' in entries) return NOTHING
  return { leaderEpoch: -1, producerId: Math.max(-1, ...entries.map(({ producerId }) => reachable(producerId))) }
}

/** The id, or -1 for one that no block will ever reach. */
export const reachable = (producerId: number): number => (producerId < REACHABLE_ID ? producerId : -1)

/** Walks from header to header; batches themselves are read only where their records name producer ids. */
async function scanSegment(disk: Disk, path: string, mark: ScanMark | null, detail: 'headers' | 'values'): Promise<Found> {
  const file = disk.openNow(path, 'read')
  const window = new Window(file)
  let found = NOTHING
  try {
    let at = mark !== null && (await continuesAt(window, mark)) ? mark.position : 0
    while (at + RECORD_BATCH.size <= window.fileSize) {
      const extent = batchAt(await window.bytesAt(at, RECORD_BATCH.size), 0)
      if (extent === null || at + extent.sizeInBytes > window.fileSize) break
      if (extent.magic === 2) {
        const wanted = detail === 'values' ? extent.sizeInBytes : RECORD_BATCH.size
        found = highest(found, ofBatch(await window.bytesAt(at, wanted), detail))
      }
      at += extent.sizeInBytes
    }
    return found
  } catch (error) {
    if (error instanceof RecordsError || error instanceof CompressionError || error instanceof DecodeError) return found // the log speaks of damage
    throw error
  } finally {
    file.closeNow()
  }
}

/** Whether the mark's place is still the end of a batch: the log may have been cut and written anew since. */
async function continuesAt(window: Window, { position, offset }: ScanMark): Promise<boolean> {
  if (position === window.fileSize) return true
  if (position + RECORD_BATCH.size > window.fileSize) return false
  const next = await window.bytesAt(position, RECORD_BATCH.size)
  return RECORD_BATCH.magic.get(next, 0) === 2 && RECORD_BATCH.baseOffset.get(next, 0) === offset
}

/** A piece of a file, read again further on when more is wanted. */
class Window {
  readonly fileSize: number
  #start = 0
  #bytes: Buffer = Buffer.alloc(0)

  constructor(readonly file: DiskFile) {
    this.fileSize = file.sizeNow()
  }

  /** At least `count` bytes from `position` on; the caller has looked that the file has them. */
  async bytesAt(position: number, count: number): Promise<Buffer> {
    if (position < this.#start || position + count > this.#start + this.#bytes.length) {
      const bytes = Buffer.allocUnsafe(Math.min(this.fileSize - position, Math.max(count, WINDOW_BYTES)))
      this.#bytes = bytes.subarray(0, await this.file.read(bytes, position))
      this.#start = position
    }
    return this.#bytes.subarray(position - this.#start)
  }
}

function ofBatch(bytes: Buffer, detail: 'headers' | 'values'): Found {
  const leaderEpoch = RECORD_BATCH.partitionLeaderEpoch.get(bytes, 0)
  let producerId = reachable(RECORD_BATCH.producerId.get(bytes, 0))
  if (detail === 'headers') return { leaderEpoch, producerId }
  const batch = new RecordBatch(bytes, 0)
  if (!batch.isControl) {
    for (const { value } of batch.records()) if (value !== null) producerId = Math.max(producerId, ...idsOf(value))
  }
  return { leaderEpoch, producerId }
}

function idsOf(value: Buffer): number[] {
  const { body } = decodeVersioned(TransactionLogValue, value)
  return [body.producerId, body.previousProducerId, body.nextProducerId].map(reachable)
}
