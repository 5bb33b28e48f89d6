/**
 * The bytes of the embedded store's two files, and nothing about when they are written.
 *
 *   mq-metadata.journal    FILE_HEADER, then one frame per group of transactions that became durable together
 *   mq-metadata.snapshot   FILE_HEADER, then frames of nodes (parents first), then an empty frame: the end
 *
 * A frame is FRAME and its payload. The next frame is written only after the one before is durable; so a bad frame with a good one
 * anywhere behind it is damage, while a bad frame with none behind it is a write that the machine did not finish: nobody was told that it
 * had happened, and it is cut. The files are ours alone and never grow another version of Kafka's: `format` says how to read them.
 */
import { crc32c, fixed, layout } from '@mq/protocol'
import type { Change, Transaction, TreeNode } from './tree.js'

export const FILE_HEADER = layout({
  magic: fixed.uint32, //  0  JOURNAL_MAGIC or SNAPSHOT_MAGIC
  format: fixed.int32, //  4  FORMAT
  zxid: fixed.int64, //    8  journal: the last transaction before its first; snapshot: the last one in it
  crc: fixed.uint32, //   16  CRC-32C of what is before
}) //                     20 bytes

export const FRAME = layout({
  marker: fixed.uint32, // 0  FRAME_MARKER
  length: fixed.int32, //  4  bytes of payload
  crc: fixed.uint32, //    8  CRC-32C of the payload
}) //                     12 bytes, then the payload

export const JOURNAL_MAGIC = 0x4d_51_4d_4a // MQMJ
export const SNAPSHOT_MAGIC = 0x4d_51_4d_53 // MQMS
export const FRAME_MARKER = 0x4d_51_4d_46 // MQMF
export const FORMAT = 1

/** Metadata files that cannot be read, or not trusted: the start must stop, since going on would forget what the cluster is. */
export class MetadataDamageError extends Error {
  override readonly name = 'MetadataDamageError'
  constructor(
    readonly path: string,
    readonly detail: string,
  ) {
    super(`${path} cannot be used: ${detail}`)
  }
}

export function encodeHeader(magic: number, zxid: number): Buffer {
  const bytes = Buffer.alloc(FILE_HEADER.size)
  FILE_HEADER.magic.set(bytes, 0, magic)
  FILE_HEADER.format.set(bytes, 0, FORMAT)
  FILE_HEADER.zxid.set(bytes, 0, zxid)
  FILE_HEADER.crc.set(bytes, 0, crc32c(bytes, 0, FILE_HEADER.crc.at))
  return bytes
}

/** The header's zxid. */
export function decodeHeader(bytes: Buffer, magic: number, path: string): number {
  if (bytes.length < FILE_HEADER.size) throw new MetadataDamageError(path, `it has ${bytes.length} bytes, less than its header`)
  if (FILE_HEADER.magic.get(bytes, 0) !== magic)
    throw new MetadataDamageError(path, 'it does not begin as a metadata file of mq does')
  const format = FILE_HEADER.format.get(bytes, 0)
  if (FILE_HEADER.crc.get(bytes, 0) !== crc32c(bytes, 0, FILE_HEADER.crc.at)) {
    throw new MetadataDamageError(path, 'its header is damaged (checksum)')
  }
  if (format !== FORMAT) throw new MetadataDamageError(path, `it has format ${format}, this version reads format ${FORMAT}`)
  return FILE_HEADER.zxid.get(bytes, 0)
}

export function encodeFrame(payload: Buffer): Buffer[] {
  const head = Buffer.alloc(FRAME.size)
  FRAME.marker.set(head, 0, FRAME_MARKER)
  FRAME.length.set(head, 0, payload.length)
  FRAME.crc.set(head, 0, crc32c(payload))
  return [head, payload]
}

/** The payload of the whole and undamaged frame at `at`, else null. */
export function frameAt(bytes: Buffer, at: number): Buffer | null {
  if (at + FRAME.size > bytes.length || FRAME.marker.get(bytes, at) !== FRAME_MARKER) return null
  const length = FRAME.length.get(bytes, at)
  const from = at + FRAME.size
  if (length < 0 || from + length > bytes.length) return null
  return crc32c(bytes, from, from + length) === FRAME.crc.get(bytes, at) ? bytes.subarray(from, from + length) : null
}

/** Whether a whole frame begins anywhere from `at` on. */
export function hasFrameFrom(bytes: Buffer, at: number): boolean {
  const marker = Buffer.alloc(4)
  marker.writeUInt32BE(FRAME_MARKER, 0)
  for (let next = bytes.indexOf(marker, at); next >= 0; next = bytes.indexOf(marker, next + 1)) {
    if (frameAt(bytes, next) !== null) return true
  }
  return false
}

const CHANGE_KINDS = ['create', 'set', 'delete'] as const

export function encodeTransactions(transactions: readonly Transaction[]): Buffer {
  const writer = new Growing()
  for (const { zxid, time, changes } of transactions) {
    writer.long(zxid)
    writer.long(time)
    writer.int(changes.length)
    for (const change of changes) {
      writer.int(CHANGE_KINDS.indexOf(change.kind))
      writer.text(change.path)
      if (change.kind !== 'delete') writer.bytes(change.data)
      if (change.kind === 'create') writer.text(change.owner)
    }
  }
  return writer.take()
}

export function decodeTransactions(payload: Buffer, path: string): Transaction[] {
  const reader = new Bounded(payload, path)
  const transactions: Transaction[] = []
  while (!reader.atEnd) {
    const zxid = reader.long()
    const time = reader.long()
    const count = reader.int()
    const changes: Change[] = []
    for (let i = 0; i < count; i++) changes.push(decodeChange(reader))
    transactions.push({ zxid, time, changes })
  }
  return transactions
}

function decodeChange(reader: Bounded): Change {
  const kind = CHANGE_KINDS[reader.int()] ?? reader.fail('an unknown kind of change')
  const path = reader.text() ?? reader.fail('a change without a path')
  if (kind === 'delete') return { kind, path }
  const data = reader.bytes()
  return kind === 'set' ? { kind, path, data } : { kind, path, data, owner: reader.text() }
}

export interface SnapshotNode {
  readonly path: string
  readonly node: Omit<TreeNode, 'children'>
}

export function encodeNodes(nodes: readonly (readonly [string, Readonly<TreeNode>])[]): Buffer {
  const writer = new Growing()
  for (const [path, node] of nodes) {
    writer.text(path)
    writer.bytes(node.data)
    for (const value of [node.czxid, node.mzxid, node.pzxid, node.ctime, node.mtime]) writer.long(value)
    writer.int(node.version)
    writer.int(node.childrenCreated)
    writer.text(node.owner)
  }
  return writer.take()
}

export function decodeNodes(payload: Buffer, path: string): SnapshotNode[] {
  const reader = new Bounded(payload, path)
  const nodes: SnapshotNode[] = []
  while (!reader.atEnd) {
    const at = reader.text() ?? reader.fail('a node without a path')
    const data = reader.bytes()
    const [czxid, mzxid, pzxid, ctime, mtime] = [reader.long(), reader.long(), reader.long(), reader.long(), reader.long()]
    const node = {
      data,
      czxid,
      mzxid,
      pzxid,
      ctime,
      mtime,
      version: reader.int(),
      childrenCreated: reader.int(),
      owner: reader.text(),
    }
    nodes.push({ path: at, node })
  }
  return nodes
}

/** int32 and int64 big endian; bytes and text with an int32 length before them, -1 for null. */
class Growing {
  readonly #parts: Buffer[] = []
  int(value: number): void {
    const part = Buffer.alloc(4)
    part.writeInt32BE(value, 0)
    this.#parts.push(part)
  }
  long(value: number): void {
    const part = Buffer.alloc(8)
    part.writeBigInt64BE(BigInt(value), 0)
    this.#parts.push(part)
  }
  bytes(value: Buffer | null): void {
    this.int(value === null ? -1 : value.length)
    if (value !== null) this.#parts.push(value)
  }
  text(value: string | null): void {
    this.bytes(value === null ? null : Buffer.from(value, 'utf8'))
  }
  take(): Buffer {
    return Buffer.concat(this.#parts)
  }
}

/** Reads what the checksum has already vouched for; what does not fit all the same is damage, or a format that is not ours. */
class Bounded {
  #at = 0
  constructor(
    readonly payload: Buffer,
    readonly path: string,
  ) {}
  get atEnd(): boolean {
    return this.#at === this.payload.length
  }
  int(): number {
    return this.payload.readInt32BE(this.#step(4))
  }
  long(): number {
    return Number(this.payload.readBigInt64BE(this.#step(8)))
  }
  bytes(): Buffer | null {
    const length = this.int()
    if (length === -1) return null
    const from = this.#step(length)
    return Buffer.from(this.payload.subarray(from, from + length)) // a copy: the file's buffer must not live as long as one node
  }
  text(): string | null {
    return this.bytes()?.toString('utf8') ?? null
  }
  fail(what: string): never {
    throw new MetadataDamageError(
      this.path,
      `an entry with a right checksum holds ${what} (at byte ${this.#at} of ${this.payload.length})`,
    )
  }
  #step(count: number): number {
    const from = this.#at
    if (count < 0 || from + count > this.payload.length) this.fail('less than it says')
    this.#at += count
    return from
  }
}
