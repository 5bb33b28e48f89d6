/**
 * lz4 frames as Kafka writes and reads them: independent blocks, block and content checksums optional.
 *
 *   magic 0x184D2204 (little endian) | FLG | BD | content size uint64, if said | header checksum
 *   { size uint32 LE, top bit: stored as it is | block | checksum of the block, if said } … | 0 | content checksum, if said
 *
 * The header checksum is the second byte of xxhash32 of the descriptor (from FLG). Kafka's first clients hashed the magic as well;
 * message sets of magic 0 keep that wrong checksum: it is written so, and not looked at when read, as Kafka does.
 */
import { damaged, overLimit } from './errors.js'
import { LZ4_BLOCK, measureLz4Block } from './lz4-block.js'
import { chosen } from './ways.js'
import { xxhash32 } from './xxhash32.js'

const MAGIC = 0x184d2204
const MAGIC_SIZE = 4
const VERSION = 1
const INDEPENDENT_BLOCKS = 0x20
const BLOCK_CHECKSUM = 0x10
const CONTENT_SIZE = 0x08
const RESERVED_FLAG = 0x02
/** Kafka knows no dictionaries: it reads the bit as reserved. */
const DICTIONARY = 0x01
const STORED = 0x8000_0000
/** BD: 4 is 64 KiB, each step is four times as much, up to 4 MiB. */
const SMALLEST_BLOCK_CODE = 4
const LARGEST_BLOCK_CODE = 7
const BLOCK_BYTES = 64 * 1024

/** `kafka-0.8`: with the wrong header checksum, for message sets of magic 0. */
export type Lz4Framing = 'standard' | 'kafka-0.8'

export function lz4Compress(bytes: Buffer, framing: Lz4Framing): Buffer {
  const { compress } = chosen(LZ4_BLOCK)
  const header = Buffer.alloc(MAGIC_SIZE + 3)
  header.writeUInt32LE(MAGIC)
  header[MAGIC_SIZE] = (VERSION << 6) | INDEPENDENT_BLOCKS
  header[MAGIC_SIZE + 1] = SMALLEST_BLOCK_CODE << 4
  header[MAGIC_SIZE + 2] = xxhash32(header, framing === 'standard' ? MAGIC_SIZE : 0, MAGIC_SIZE + 2) >>> 8
  const parts: Buffer[] = [header]
  for (let at = 0; at < bytes.length; at += BLOCK_BYTES) {
    const plain = bytes.subarray(at, at + BLOCK_BYTES)
    const block = compress(plain)
    const size = Buffer.allocUnsafe(4)
    if (block.length < plain.length) {
      size.writeUInt32LE(block.length)
      parts.push(size, block)
    } else {
      size.writeUInt32LE((plain.length | STORED) >>> 0)
      parts.push(size, plain)
    }
  }
  parts.push(Buffer.alloc(4))
  return Buffer.concat(parts)
}

interface Frame {
  readonly flags: number
  readonly largestBlock: number
  readonly blocksAt: number
}

function readHeader(bytes: Buffer, framing: Lz4Framing): Frame {
  if (bytes.length < MAGIC_SIZE + 3) throw damaged('lz4', 'frame without a whole header')
  if (bytes.readUInt32LE(0) !== MAGIC) throw damaged('lz4', 'no frame: wrong magic')
  const flags = bytes[MAGIC_SIZE]!
  const descriptor = bytes[MAGIC_SIZE + 1]!
  if (flags >>> 6 !== VERSION) throw damaged('lz4', `frame version ${flags >>> 6}`)
  if (flags & (RESERVED_FLAG | DICTIONARY)) throw damaged('lz4', 'reserved bits set')
  if (!(flags & INDEPENDENT_BLOCKS)) throw damaged('lz4', 'blocks that depend on one another are not supported')
  const code = descriptor >>> 4
  if (descriptor & 0x8f || code < SMALLEST_BLOCK_CODE || code > LARGEST_BLOCK_CODE)
    throw damaged('lz4', `block descriptor ${descriptor}`)
  const checksumAt = MAGIC_SIZE + 2 + (flags & CONTENT_SIZE ? 8 : 0)
  if (checksumAt >= bytes.length) throw damaged('lz4', 'frame without a whole header')
  if (framing === 'standard' && bytes[checksumAt] !== ((xxhash32(bytes, MAGIC_SIZE, checksumAt) >>> 8) & 0xff)) {
    throw damaged('lz4', 'wrong header checksum')
  }
  return { flags, largestBlock: 1 << (8 + 2 * code), blocksAt: checksumAt + 1 }
}

interface Block {
  readonly at: number
  readonly end: number
  /** Of what comes out. */
  readonly size: number
  readonly stored: boolean
}

/** The blocks of the frame, measured, before anything is allocated for them. */
function readBlocks(
  bytes: Buffer,
  { flags, largestBlock, blocksAt }: Frame,
  maxOutputBytes: number,
): { blocks: Block[]; total: number } {
  const blocks: Block[] = []
  let total = 0
  let at = blocksAt
  for (;;) {
    if (bytes.length - at < 4) throw damaged('lz4', 'frame without its end')
    const word = bytes.readUInt32LE(at)
    at += 4
    const stored = word >= STORED
    const length = stored ? word - STORED : word
    // A content checksum may follow; Kafka does not look at it, nor at what comes after the frame, nor at the top bit here.
    if (length === 0) return { blocks, total }
    if (length > largestBlock) throw damaged('lz4', `block of ${length} bytes`)
    const end = at + length
    const next = end + (flags & BLOCK_CHECKSUM ? 4 : 0)
    if (next > bytes.length) throw damaged('lz4', `block of ${length} bytes, ${bytes.length - at} are there`)
    if (flags & BLOCK_CHECKSUM && bytes.readUInt32LE(end) !== xxhash32(bytes, at, end))
      throw damaged('lz4', 'wrong block checksum')
    const size = stored ? length : measureLz4Block(bytes, at, end)
    if (size > largestBlock) throw damaged('lz4', `block that gives ${size} bytes`)
    total += size
    if (total > maxOutputBytes) throw overLimit('lz4', maxOutputBytes)
    blocks.push({ at, end, size, stored })
    at = next
  }
}

export function lz4Decompress(bytes: Buffer, maxOutputBytes: number, framing: Lz4Framing): Buffer {
  const { decompressInto } = chosen(LZ4_BLOCK)
  const { blocks, total } = readBlocks(bytes, readHeader(bytes, framing), maxOutputBytes)
  const out = Buffer.allocUnsafe(total)
  let written = 0
  for (const { at, end, size, stored } of blocks) {
    if (stored) bytes.copy(out, written, at, end)
    else decompressInto(bytes, at, end, out, written, size)
    written += size
  }
  return out
}
