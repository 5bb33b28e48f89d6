/** zstd by node:zlib where Node has it (from 22.15), else by WebAssembly. */
import * as zlib from 'node:zlib'
import { damaged, overLimit } from './errors.js'
import { chosen, type Ways } from './ways.js'
import { zstdOutputBound } from './zstd-frame.js'
import { zstdCompressWasm, zstdDecompressWasm } from './zstd-wasm.js'

interface ZstdCodec {
  compress(bytes: Buffer, level: number): Buffer
  decompress(bytes: Buffer, bound: number, maxOutputBytes: number): Buffer
}

/** What newer Nodes add to node:zlib; the types of Node 20 do not know it. */
interface ZlibWithZstd {
  zstdCompressSync?(bytes: Buffer, options: { params: { [parameter: number]: number } }): Buffer
  zstdDecompressSync?(bytes: Buffer, options: { maxOutputLength: number }): Buffer
  readonly constants: { readonly ZSTD_c_compressionLevel?: number }
}

function ofNode({ zstdCompressSync, zstdDecompressSync, constants }: ZlibWithZstd): ZstdCodec | undefined {
  const level = constants.ZSTD_c_compressionLevel
  if (zstdCompressSync === undefined || zstdDecompressSync === undefined || level === undefined) return undefined
  return {
    compress: (bytes, value) => zstdCompressSync(bytes, { params: { [level]: value } }),
    decompress(bytes, _bound, maxOutputBytes) {
      let out: Buffer
      try {
        // Node takes no limit of 0.
        out = zstdDecompressSync(bytes, { maxOutputLength: Math.max(maxOutputBytes, 1) })
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw overLimit('zstd', maxOutputBytes)
        throw damaged('zstd', (error as Error).message)
      }
      if (out.length > maxOutputBytes) throw overLimit('zstd', maxOutputBytes)
      return out
    },
  }
}

export const ZSTD: Ways<ZstdCodec> = {
  portable: { compress: zstdCompressWasm, decompress: zstdDecompressWasm },
  native: ofNode(zlib as unknown as ZlibWithZstd),
}

export const zstdCompress = (bytes: Buffer, level: number): Buffer => chosen(ZSTD).compress(bytes, level)

export function zstdDecompress(bytes: Buffer, maxOutputBytes: number): Buffer {
  if (bytes.length === 0) throw damaged('zstd', 'no frame')
  return chosen(ZSTD).decompress(bytes, zstdOutputBound(bytes), maxOutputBytes)
}
