/**
 * The embedded store's files: append a group of transactions so that it is durable, replace a long journal by a snapshot, and read all of
 * it back at a start. The order of writes, syncs and renames here is what the crash tests hold.
 */
import { type Disk, type DiskFile, makeDirectory } from '@mq/log'
import {
  decodeHeader,
  decodeNodes,
  decodeTransactions,
  encodeFrame,
  encodeHeader,
  encodeNodes,
  encodeTransactions,
  FILE_HEADER,
  FRAME,
  frameAt,
  hasFrameFrom,
  JOURNAL_MAGIC,
  MetadataDamageError,
  SNAPSHOT_MAGIC,
} from './journal-format.js'
import { isStoreError } from './store.js'
import { type Transaction, Tree, type TreeNode } from './tree.js'

/** All our names in a log directory begin so; Java leaves unknown files there alone, but would not start on an unknown folder. */
export const METADATA_FILE_PREFIX = 'mq-metadata.'
export const JOURNAL_FILE = `${METADATA_FILE_PREFIX}journal`
export const SNAPSHOT_FILE = `${METADATA_FILE_PREFIX}snapshot`
const UNFINISHED = '.tmp'

const SNAPSHOT_FRAME_NODES = 2048

/** What a start found. */
export interface OpenedJournal {
  readonly journal: Journal
  readonly tree: Tree
  /** `new`: there were no metadata files. Whether that means an empty cluster is for the caller to find out (adoption). */
  readonly origin: 'found' | 'new'
  /** Bytes of an unfinished write that were cut from the end. */
  readonly cutBytes: number
}

export class Journal {
  readonly #disk: Disk
  readonly #directory: string
  #file: DiskFile
  #position: number
  #snapshotBytes = 0

  private constructor(disk: Disk, directory: string, file: DiskFile, position: number) {
    this.#disk = disk
    this.#directory = directory
    this.#file = file
    this.#position = position
  }

  /** Bytes of transactions since the last snapshot. */
  get sizeInBytes(): number {
    return this.#position - FILE_HEADER.size
  }

  /** Size of the last snapshot, 0 when there is none. */
  get snapshotSizeInBytes(): number {
    return this.#snapshotBytes
  }

  /** Throws MetadataDamageError when the files cannot be trusted. Only one process may have the directory open (the caller holds its lock). */
  static async open(disk: Disk, directory: string): Promise<OpenedJournal> {
    await makeDirectory(disk, directory)
    const path = (name: string) => `${directory}/${name}`
    for (const name of [JOURNAL_FILE, SNAPSHOT_FILE]) disk.removeNow(path(name + UNFINISHED))
    const hasJournal = disk.statNow(path(JOURNAL_FILE)) !== null
    const hasSnapshot = disk.statNow(path(SNAPSHOT_FILE)) !== null
    if (!hasJournal && hasSnapshot) {
      throw new MetadataDamageError(path(JOURNAL_FILE), `it is missing, though ${SNAPSHOT_FILE} beside it is there`)
    }
    if (!hasJournal) {
      const file = await begin(disk, directory, 0)
      return { journal: new Journal(disk, directory, file, FILE_HEADER.size), tree: new Tree(), origin: 'new', cutBytes: 0 }
    }
    const tree = new Tree()
    const snapshotBytes = hasSnapshot ? readSnapshot(disk, path(SNAPSHOT_FILE), tree) : 0
    const { whole, size, last } = readJournal(disk, path(JOURNAL_FILE), tree)
    const continued =
      tree.zxid > last // the machine stopped between a snapshot and the new journal behind it: begin that now
        ? { file: await begin(disk, directory, tree.zxid), position: FILE_HEADER.size }
        : { file: await settle(disk, directory, whole, size), position: whole }
    const journal = new Journal(disk, directory, continued.file, continued.position)
    journal.#snapshotBytes = snapshotBytes
    return { journal, tree, origin: 'found', cutBytes: size - whole }
  }

  /** Resolves when all of them are durable, all or none. After a failure the journal is of no more use. */
  async append(transactions: readonly Transaction[]): Promise<void> {
    this.#position = await writeAll(this.#file, encodeFrame(encodeTransactions(transactions)), this.#position)
    await this.#file.dataSync()
  }

  /** Writes the whole tree and begins a new journal behind it. Resolves when both are durable. */
  async snapshot(tree: Tree): Promise<void> {
    const zxid = tree.zxid
    const slices = encodeTree(tree)
    const path = `${this.#directory}/${SNAPSHOT_FILE}`
    const file = this.#disk.openNow(path + UNFINISHED, 'create')
    try {
      file.truncateNow(0)
      let position = 0
      for (const slice of slices) position = await writeAll(file, slice, position)
      await file.dataSync()
      this.#snapshotBytes = position
    } finally {
      file.closeNow()
    }
    this.#disk.renameNow(path + UNFINISHED, path)
    // The old journal may only go once the name of the snapshot is durable: until then it is all there is.
    await this.#disk.syncDirectory(this.#directory)
    this.#file.closeNow()
    this.#file = await begin(this.#disk, this.#directory, zxid)
    this.#position = FILE_HEADER.size
  }

  close(): void {
    this.#file.closeNow()
  }
}

/** A new journal that continues after `zxid`, in place of the old one. */
async function begin(disk: Disk, directory: string, zxid: number): Promise<DiskFile> {
  const path = `${directory}/${JOURNAL_FILE}`
  const file = disk.openNow(path + UNFINISHED, 'create')
  try {
    file.truncateNow(0)
    await writeAll(file, [encodeHeader(JOURNAL_MAGIC, zxid)], 0)
    await file.dataSync()
  } finally {
    file.closeNow()
  }
  disk.renameNow(path + UNFINISHED, path)
  await disk.syncDirectory(directory)
  return disk.openNow(path, 'readWrite')
}

/** The journal as it is, without an unfinished write at its end. */
async function settle(disk: Disk, directory: string, whole: number, size: number): Promise<DiskFile> {
  const file = disk.openNow(`${directory}/${JOURNAL_FILE}`, 'readWrite')
  if (whole < size) file.truncateNow(whole)
  // What a killed process wrote may still be in the page cache alone, and the next frame must not become durable before it.
  await file.dataSync()
  await disk.syncDirectory(directory)
  return file
}

/** Returns the position behind the last byte. Writes may be short. */
async function writeAll(file: DiskFile, slices: readonly Buffer[], position: number): Promise<number> {
  let left = slices.filter((slice) => slice.length > 0)
  let at = position
  while (left.length > 0) {
    let taken = await file.writev(left, at)
    at += taken
    while (left.length > 0 && taken >= left[0]!.length) {
      taken -= left[0]!.length
      left = left.slice(1)
    }
    if (taken > 0) left = [left[0]!.subarray(taken), ...left.slice(1)]
  }
  return at
}

/** One list of slices per frame. */
function encodeTree(tree: Tree): Buffer[][] {
  const frames: Buffer[][] = [[encodeHeader(SNAPSHOT_MAGIC, tree.zxid)]]
  let nodes: [string, Readonly<TreeNode>][] = []
  for (const entry of tree.nodes()) {
    nodes.push(entry)
    if (nodes.length === SNAPSHOT_FRAME_NODES) {
      frames.push(encodeFrame(encodeNodes(nodes)))
      nodes = []
    }
  }
  if (nodes.length > 0) frames.push(encodeFrame(encodeNodes(nodes)))
  frames.push(encodeFrame(Buffer.alloc(0)))
  return frames
}

/** Returns its size in bytes. */
function readSnapshot(disk: Disk, path: string, tree: Tree): number {
  const bytes = disk.readFileNow(path)
  const zxid = decodeHeader(bytes, SNAPSHOT_MAGIC, path)
  let at = FILE_HEADER.size
  for (;;) {
    const payload = frameAt(bytes, at)
    if (payload === null) throw new MetadataDamageError(path, `it is damaged at byte ${at} of ${bytes.length}`)
    at += FRAME.size + payload.length
    if (payload.length === 0) break
    for (const { path: nodePath, node } of decodeNodes(payload, path)) tree.restore(nodePath, node, zxid)
  }
  if (at !== bytes.length) throw new MetadataDamageError(path, `it goes on behind its end (byte ${at} of ${bytes.length})`)
  return bytes.length
}

/** Applies what the snapshot does not have yet. `whole` is where the last whole frame ends, `last` its last transaction. */
function readJournal(disk: Disk, path: string, tree: Tree): { whole: number; size: number; last: number } {
  const bytes = disk.readFileNow(path)
  const base = decodeHeader(bytes, JOURNAL_MAGIC, path)
  if (base > tree.zxid) {
    throw new MetadataDamageError(path, `it continues after transaction ${base}, but the snapshot ends at ${tree.zxid}`)
  }
  let at = FILE_HEADER.size
  let before = base
  for (let payload = frameAt(bytes, at); payload !== null; payload = frameAt(bytes, at)) {
    for (const transaction of decodeTransactions(payload, path)) {
      if (transaction.zxid !== before + 1) {
        throw new MetadataDamageError(path, `transaction ${transaction.zxid} follows ${before} (byte ${at} of ${bytes.length})`)
      }
      before = transaction.zxid
      if (transaction.zxid > tree.zxid) replay(tree, transaction, path)
    }
    at += FRAME.size + payload.length
  }
  if (at < bytes.length && hasFrameFrom(bytes, at + 1)) {
    throw new MetadataDamageError(path, `it is damaged at byte ${at} of ${bytes.length}, and whole entries follow`)
  }
  return { whole: at, size: bytes.length, last: before }
}

function replay(tree: Tree, transaction: Transaction, path: string): void {
  try {
    tree.apply(transaction)
  } catch (error) {
    if (!isStoreError(error)) throw error
    throw new MetadataDamageError(path, `transaction ${transaction.zxid} does not fit the tree before it: ${error.message}`)
  }
}
