/** Small inputs that decompress to a gigabyte, made without ever holding it. */
import { gzipSync } from 'node:zlib'
import { type CodecName, compress } from './index.js'
import { SNAPPY_BLOCK } from './snappy-block.js'
import { xxhash32 } from './xxhash32.js'

const GIB = 1024 * 1024 * 1024
const MIB = 1024 * 1024

function repeat(part: Buffer, count: number): Buffer {
  return Buffer.alloc(part.length * count, part)
}

/** One lz4 block of 4 MiB: a literal, then one match from a byte before. */
function lz4Block(): Buffer {
  const matched = 4 * MIB - 1 - 5 - 4 - 15
  const block = Buffer.concat([
    Buffer.from([0x1f, 0x61, 0x01, 0x00]),
    Buffer.alloc(Math.floor(matched / 255), 255),
    Buffer.from([matched % 255, 0x50]),
    Buffer.from('aaaaa'),
  ])
  const size = Buffer.alloc(4)
  size.writeUInt32LE(block.length)
  return Buffer.concat([size, block])
}

function lz4Bomb(): Buffer {
  const header = Buffer.from([0x04, 0x22, 0x4d, 0x18, 0x60, 0x70, 0])
  header[6] = (xxhash32(header, 4, 6) >>> 8) & 0xff
  return Buffer.concat([header, repeat(lz4Block(), GIB / (4 * MIB)), Buffer.alloc(4)])
}

function snappyBomb(): Buffer {
  const block = Buffer.from(SNAPPY_BLOCK.portable.compress(Buffer.alloc(MIB)))
  const size = Buffer.alloc(4)
  size.writeInt32BE(block.length)
  return Buffer.concat([compress('snappy', Buffer.alloc(0)), repeat(Buffer.concat([size, block]), 96)])
}

/** Blocks of one byte repeated: 4 bytes each, for 128 KiB. */
function zstdRunBomb(): Buffer {
  const block = (last: number): Buffer =>
    Buffer.from([((128 * 1024) << 3) | (1 << 1) | last, (128 * 1024) >> 5, (128 * 1024) >> 13, 0x61])
  return Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58]), repeat(block(0), GIB / (128 * 1024) - 1), block(1)])
}

/** Frames that say their size, and one that lies about it. */
function zstdFrames(): Buffer {
  return repeat(compress('zstd', Buffer.alloc(16 * MIB)), GIB / (16 * MIB))
}

function zstdLie(): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32LE(0xfd2fb528)
  header[4] = 0xe0 // single segment, size in 8 bytes
  header.writeBigUInt64LE(BigInt(GIB) * 64n, 5)
  return Buffer.concat([header, Buffer.from([0x03 | (8 << 3), 0, 0, 0x61])])
}

/** By codec: name and bytes. All are beyond 64 MiB when decompressed, or claim to be. */
export function bombs(codec: CodecName): [name: string, bytes: Buffer][] {
  switch (codec) {
    case 'none':
      return []
    case 'gzip':
      return [['a bomb of gzip members', repeat(gzipSync(Buffer.alloc(16 * MIB)), GIB / (16 * MIB))]]
    case 'snappy':
      return [
        ['a bomb of blocks', snappyBomb()],
        ['a block that declares 4 GiB', Buffer.from('ffffffff0f00', 'hex')],
        ['a block that declares 3 MiB in few bytes', Buffer.from('80808001fa0100', 'hex')],
      ]
    case 'lz4':
      return [['a bomb of 4 MiB blocks', lz4Bomb()]]
    case 'zstd':
      return [
        ['a bomb of runs', zstdRunBomb()],
        ['a bomb of frames', zstdFrames()],
        ['a frame that declares 64 GiB', zstdLie()],
      ]
  }
}
