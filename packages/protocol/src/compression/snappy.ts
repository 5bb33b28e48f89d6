/**
 * Snappy as Kafka's Java clients frame it (snappy-java's stream), and raw as librdkafka and others send it; both are read.
 *
 *   0x82 'SNAPPY' 0x00 | version int32 | lowest compatible version int32 | { size int32 | raw snappy block } …
 */
import { damaged, overLimit } from './errors.js'
import { SNAPPY_BLOCK, snappyBlockSize } from './snappy-block.js'
import { chosen } from './ways.js'

const MAGIC = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00])
const VERSION = 1
const HEADER_SIZE = MAGIC.length + 8
/** As snappy-java cuts its input. */
const BLOCK_BYTES = 32 * 1024

export function snappyCompress(bytes: Buffer): Buffer {
  const { compress } = chosen(SNAPPY_BLOCK)
  const header = Buffer.alloc(HEADER_SIZE)
  MAGIC.copy(header)
  header.writeInt32BE(VERSION, MAGIC.length)
  header.writeInt32BE(VERSION, MAGIC.length + 4)
  const parts: Uint8Array[] = [header]
  for (let at = 0; at < bytes.length; at += BLOCK_BYTES) {
    const block = compress(bytes.subarray(at, at + BLOCK_BYTES))
    const size = Buffer.allocUnsafe(4)
    size.writeInt32BE(block.length)
    parts.push(size, block)
  }
  return Buffer.concat(parts)
}

const startsFrame = (bytes: Buffer, at: number): boolean =>
  bytes.length - at >= HEADER_SIZE && MAGIC.compare(bytes, at, at + MAGIC.length) === 0

interface Block {
  readonly bytes: Buffer
  /** Of what comes out, by the block's own word. */
  readonly size: number
}

export function snappyDecompress(bytes: Buffer, maxOutputBytes: number): Buffer {
  const { decompressInto } = chosen(SNAPPY_BLOCK)
  const blocks: Block[] = []
  let total = 0
  for (const block of startsFrame(bytes, 0) ? framedBlocks(bytes) : [bytes]) {
    const size = snappyBlockSize(block)
    total += size
    if (total > maxOutputBytes) throw overLimit('snappy', maxOutputBytes)
    blocks.push({ bytes: block, size })
  }
  const out = Buffer.allocUnsafe(total)
  let written = 0
  for (const block of blocks) {
    decompressInto(block.bytes, out, written, block.size)
    written += block.size
  }
  return out
}

function* framedBlocks(bytes: Buffer): Generator<Buffer, void, undefined> {
  let at = 0
  while (at < bytes.length) {
    if (startsFrame(bytes, at)) {
      // Streams may follow one another. Kafka does not look at the versions.
      at += HEADER_SIZE
      continue
    }
    if (bytes.length - at < 4) return // as snappy-java: too little to be a size is the end
    const size = bytes.readInt32BE(at)
    at += 4
    if (size < 0 || size > bytes.length - at) throw damaged('snappy', `block of ${size} bytes, ${bytes.length - at} are there`)
    yield bytes.subarray(at, at + size)
    at += size
  }
}
